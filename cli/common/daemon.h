/* SPDX-License-Identifier: Apache-2.0 */
/* daemon.h - the connection to a running toed (toe/attach.h). */
#ifndef TOE_CLI_DAEMON_H
#define TOE_CLI_DAEMON_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the path of toed's socket: the option, else $TOEHOLD_SOCKET, else that of the files of
 * settings, else the default. Ends the program with CLI_CONFIG when a file is wrong. */
const char *cli_socket_path(const char *option);

/* Connects to toed. Returns a descriptor, or -1 with the reason in `why`. */
int cli_connect(const char *path, char *why, size_t why_size);

/* Sends a hello of this kind (enum toedev_hello_kind) and name, and receives the answer. Returns
 * the answer as text that the caller frees, or NULL after a message. */
char *cli_ask(int fd, unsigned kind, const char *name, size_t *size);
/* Does the same, with the reason in `why` instead of a message. */
char *cli_ask_quietly(int fd, unsigned kind, const char *name, size_t *size, char *why,
                      size_t why_size);

/* Returns whether the process is stopped, by SIGSTOP or a debugger. */
bool cli_is_stopped(int pid);

#endif
