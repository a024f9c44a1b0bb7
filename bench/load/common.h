/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.h - what all files of toehold-bench use: messages, exit codes, the clock, the end by a
 * signal. Threads share nothing else while they measure.
 */
#ifndef LOAD_COMMON_H
#define LOAD_COMMON_H

#include <stdatomic.h>
#include <stdint.h>

#define LOAD_NS_PER_S  1000000000ull
#define LOAD_NS_PER_MS 1000000ull

/* Exit codes (cli/README.md). */
enum load_exit {
    LOAD_OK = 0,
    LOAD_FAILURE = 1, /* nothing was measured; a message gives the reason */
    LOAD_USAGE = 2,
    LOAD_ERRORS = 6 /* measured, but requests or connections failed; the result counts them */
};

/* Prints one line on standard error: "toehold bench: ...\n". Thread-safe. */
void load_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns CLOCK_MONOTONIC in nanoseconds (toe/tsc.h). */
uint64_t load_clock(void);

/* Set by SIGINT and SIGTERM: every thread ends its measurement. */
extern atomic_int load_interrupted;

/* Returns the resident memory of the process, in bytes. */
uint64_t load_resident(void);

#endif
