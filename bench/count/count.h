/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count.h - programs that do one thing many times, for bench/instructions.py to count:
 *
 *   count_core CASE EVENTS        count_engine CASE EVENTS
 *
 * Exit code 2: usage. Everything is deterministic: virtual time, secrets that are given.
 */
#ifndef COUNT_H
#define COUNT_H

/* The set-up is over: callgrind forgets what it has counted (--zero-before). */
void count_begin(void);

struct count_case {
    const char *name;
    void (*run)(unsigned events);
};

/* main() of such a program. */
int count_main(int argc, char **argv, const struct count_case *cases, unsigned n);

#endif
