/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h - the usage text of the whole program. */
#ifndef TOE_CLI_USAGE_H
#define TOE_CLI_USAGE_H

#include <stdbool.h>

/* Prints the usage text to standard error when the usage was wrong, else to standard output. */
void cli_usage(bool wrong);

#endif
