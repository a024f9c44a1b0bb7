/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count.h - programs that repeat one operation; bench/instructions.py counts their instructions:
 *
 *   count_core CASE EVENTS        count_engine CASE EVENTS
 *
 * Exit code 2: usage. Everything is deterministic: virtual time, fixed secrets.
 */
#ifndef COUNT_H
#define COUNT_H

/* Marks the end of the set-up: callgrind resets its counters (--zero-before). */
void count_begin(void);

struct count_case {
    const char *name;
    void (*run)(unsigned events);
};

/* The main() of these programs. */
int count_main(int argc, char **argv, const struct count_case *cases, unsigned n);

#endif
