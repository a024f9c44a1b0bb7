/* SPDX-License-Identifier: Apache-2.0 */
/* top.h - `toehold top`. */
#ifndef TOE_CLI_TOP_H
#define TOE_CLI_TOP_H

/* argv[0] is "top". Returns an exit code (exit.h). */
int cli_top(int argc, char **argv);

#endif
