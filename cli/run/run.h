/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - `toehold run`. */
#ifndef TOE_CLI_RUN_H
#define TOE_CLI_RUN_H

/* Executes the command in place of this program. Returns an exit code when it cannot. */
int cli_run(int argc, char **argv);

#endif
