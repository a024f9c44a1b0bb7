/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of `toehold rtt`. */
#ifndef TOE_CLI_OPTIONS_H
#define TOE_CLI_OPTIONS_H

#include <stdbool.h>

#include "measure.h"

/* Parses the command line. Returns false with an exit code in *code after a message. */
bool rtt_options(int argc, char **argv, struct rtt_options *o, int *code);

#endif
