/* SPDX-License-Identifier: Apache-2.0 */
/* toe.h - the offloads of a running toed, by its control socket. */
#ifndef TOE_CLI_TUNE_TOE_H
#define TOE_CLI_TUNE_TOE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TUNE_TOE_WORDS 16

/* What is requested of toed, by the words of `toehold offload`. */
struct tune_toe {
    char socket[108];
    size_t count; /* 0: no toed, or none whose offloads are switched */
    struct {
        char word[16];
        bool fixed, requested;
    } offloads[TUNE_TOE_WORDS];
};

/* Reads the offloads of the toed at `socket`. Returns false with the reason. */
bool tune_toe_read(const char *socket, struct tune_toe *t, char *why, size_t why_size);

/* Requests what differs. Returns false with the reason. */
bool tune_toe_write(const struct tune_toe *t, char *why, size_t why_size);

/* Returns whether the same offloads are requested in both. */
bool tune_toe_same(const struct tune_toe *a, const struct tune_toe *b);

#endif
