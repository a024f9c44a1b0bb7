/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.h - the command line. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "net.h"

struct output {
    const char *json, *csv; /* file names, "-" for standard output; NULL: none */
};

/* Parses the command line; exits with code 2 after a message when it is wrong. */
void scenario_read(struct net *n, struct output *o, int argc, char **argv);

#endif
