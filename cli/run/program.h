/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - the file of a command: how it starts, and whether it bypasses the TOE. */
#ifndef TOE_CLI_PROGRAM_H
#define TOE_CLI_PROGRAM_H

/* Finds the file that a shell would execute for a command name. Returns 0, CLI_NOT_FOUND or
 * CLI_CANNOT_RUN; path has PATH_MAX bytes. */
int cli_find_command(const char *name, char *path);

/* Opens the file of a program for reading; of a script, the interpreter's. Returns -1 when it
 * cannot be read. */
int cli_open_program(const char *path);

/* Returns NULL when the dynamic linker would load the preload library into this file and its socket
 * calls would go through that library. Else returns a clause with the reason ("is statically
 * linked"). */
const char *cli_why_bypasses(const char *path);

#endif
