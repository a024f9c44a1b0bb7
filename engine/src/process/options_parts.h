/* SPDX-License-Identifier: Apache-2.0 */
/* options_parts.h - the steps of parsing a command line, for options.c and options_layers.c. */
#ifndef ENGINE_OPTIONS_PARTS_H
#define ENGINE_OPTIONS_PARTS_H

#include <toe/config.h>

#include "options.h"

/* Where an option is valid. */
enum option_place { IN_TOED, IN_PROGRAM };

/* Options that are no settings. */
enum option_plain {
    OPTION_SETTING,
    OPTION_TAKE_OVER,
    OPTION_CONFIG,
    OPTION_NO_CONFIG,
    OPTION_HELP,
    OPTION_VERSION
};

/* An option of the command line. */
struct option_found {
    const struct config_setting *setting; /* NULL: plain */
    enum option_plain plain;
    const char *name;
    int has_value, negated; /* --no-NAME */
    const char *value;
};

/* Each returns -1 to continue, or an exit code. */

/* Finds the option at words[*at], with its value. */
int options_find(const struct options *o, int count, char **words, int *at, enum option_place place,
                 struct option_found *f);
/* Executes an option that is no setting. */
int options_take_plain(struct options *o, const struct option_found *f);
/* Returns whether a setting belongs to this place. */
int options_is_of(const struct config_setting *s, enum option_place place);
/* Sets all defaults. */
int options_defaults(struct options *o, enum option_place place);
/* Parses the words, and checks the options against each other. */
int options_finish(struct options *o, int count, char **words, enum option_place place);

#endif
