/* SPDX-License-Identifier: Apache-2.0 */
/* reg.h - `toehold reg`. */
#ifndef TOE_CLI_REG_H
#define TOE_CLI_REG_H

/* Runs the verb. Returns an exit code. */
int cli_reg(int argc, char **argv);

#endif
