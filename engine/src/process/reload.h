/* SPDX-License-Identifier: Apache-2.0 */
/* reload.h - SIGHUP: reads the settings again and applies what no connection notices. */
#ifndef ENGINE_RELOAD_H
#define ENGINE_RELOAD_H

#include "control.h"

struct config;

/* What toed runs with. */
struct reload {
    int argc;
    char **argv;
    struct config *config;   /* the layers of *options */
    struct options *options; /* those of the control */
};

/* Sets level and format of the log as the options have them. */
void reload_log(const struct options *o);
/* Reads files, environment and command line again. Settings that can change while toed runs apply;
 * the log names them and those that cannot. After an error everything stays as it was. */
void reload_settings(struct control *c, const struct reload *r);

#endif
