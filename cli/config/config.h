/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - `toehold config`. */
#ifndef TOE_CLI_CONFIG_CONFIG_H
#define TOE_CLI_CONFIG_CONFIG_H

/* Executes `toehold config ...`. Returns an exit code. */
int cli_config(int argc, char **argv);

#endif
