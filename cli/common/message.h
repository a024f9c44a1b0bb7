/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - messages for the user on standard error. */
#ifndef TOE_CLI_MESSAGE_H
#define TOE_CLI_MESSAGE_H

/* Prints one line: "toehold: ...\n". */
void cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
