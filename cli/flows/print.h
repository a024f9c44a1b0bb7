/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - listeners and flows as text, in the columns of `ss -tinop`. */
#ifndef TOE_CLI_FLOWS_PRINT_H
#define TOE_CLI_FLOWS_PRINT_H

#include <jansson.h>

/* Prints the header line. */
void print_flows_head(void);
/* Prints one entry: a line, and a second one with TCP's values for a flow. */
void print_flow(const json_t *entry);

#endif
