/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of `toehold tune`. */
#ifndef TOE_CLI_TUNE_OPTIONS_H
#define TOE_CLI_TUNE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "decide.h"

struct tune_options {
    const char *interface, *url, *connections, *socket, *state, *settings;
    char *const *command; /* NULL: none */
    uint64_t budget;      /* seconds */
    uint64_t rounds;      /* the most of a stage */
    uint32_t words;       /* of --try; all if it is not given */
    uint32_t named;       /* of --try, one by one: what is impossible is an error */
    enum tune_goal goal;
    bool watch, apply, revert, dry, json, force, quiet;
};

/* Parses the words of the verb. Returns an exit code, CLI_USAGE after a message; *done: --help. */
int tune_parse(int argc, char **argv, struct tune_options *o, bool *done);

#endif
