/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - `toehold stats`. */
#ifndef TOE_CLI_STATS_H
#define TOE_CLI_STATS_H

/* Runs the verb. Returns an exit code. */
int cli_stats(int argc, char **argv);

#endif
