/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt.h - system calls that sleep, which a signal that came before them ends (interrupt.c).
 */
#ifndef LIBTOE_INTERRUPT_H
#define LIBTOE_INTERRUPT_H

#include "libtoe.h"

/* A call that may sleep begins: handlers of signals that run from here on end it. Lock held, so
 * that signals deferred until the lock is released are among them. */
TOE_HIDDEN void tsig_begin(void);
/* Not zero once one has run; restarts: once one has that ends a call which Linux restarts, too. */
TOE_HIDDEN const volatile sig_atomic_t *tsig_note(bool restarts);
/* In the handler that is called before the program's. */
TOE_HIDDEN void tsig_ran(bool restarts, void *context);
/* The system call, unless there is a note (may be NULL): then -1 and EINTR. */
TOE_HIDDEN long tsig_sleep(const volatile sig_atomic_t *note, long number, long a, long b, long c,
                           long d, long e);

#endif
