/* SPDX-License-Identifier: Apache-2.0 */
/* rtt.h - `toehold rtt`. Measures by the given source or reports why it cannot: no source of times
 * replaces another. */
#ifndef TOE_CLI_RTT_H
#define TOE_CLI_RTT_H

/* Runs the verb. Returns an exit code. */
int cli_rtt(int argc, char **argv);

#endif
