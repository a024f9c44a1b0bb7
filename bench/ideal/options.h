/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of toe-ideal. */
#ifndef IDEAL_OPTIONS_H
#define IDEAL_OPTIONS_H

#include "ideal.h"

/* Exit codes, as toehold bench has them (cli/README.md). */
enum ideal_exit {
    IDEAL_OK = 0,
    IDEAL_FAILURE = 1,
    IDEAL_USAGE = 2,
    IDEAL_CONFIG = 3, /* cannot open the socket */
    IDEAL_ERRORS = 6
};

struct ideal_options {
    struct ideal ideal;
    const char *socket;
    char *request; /* ideal.request points to it; the caller frees it */
};

/* Returns -1 on success, or an exit code. */
int ideal_parse(struct ideal_options *o, int argc, char **argv);

#endif
