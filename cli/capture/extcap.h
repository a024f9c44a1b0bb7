/* SPDX-License-Identifier: Apache-2.0 */
/* extcap.h - the questions that Wireshark asks a program of its extcap folder (extcap(4)). */
#ifndef TOE_CLI_CAPTURE_EXTCAP_H
#define TOE_CLI_CAPTURE_EXTCAP_H

#include <stdbool.h>
#include <stddef.h>

/* The options of extcap, as given. */
struct extcap {
    bool interfaces, dlts, config, capture;
    const char *interface, *fifo, *filter, *version;
};

/* Returns whether one of its options was given. */
bool extcap_asked(const struct extcap *x);
/* Answers a question on standard output. Returns an exit code. Not for a capture. */
int extcap_answer(const struct extcap *x);
/* Finds the socket of an interface that extcap_answer() lists. Returns false after a message. */
bool extcap_socket(const char *interface, char *path, size_t size);

#endif
