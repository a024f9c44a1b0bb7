/* SPDX-License-Identifier: Apache-2.0 */
/* rtt.h - `toehold rtt`. What the user asks for is measured, or the reason why not is reported: no
 * source of times stands in for another. */
#ifndef TOE_CLI_RTT_H
#define TOE_CLI_RTT_H

/* Runs the verb. Returns an exit code. */
int cli_rtt(int argc, char **argv);

#endif
