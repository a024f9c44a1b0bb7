/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt.h - system calls that sleep, and that a signal ends even if it came just before them
 * (interrupt.c). */
#ifndef LIBTOE_INTERRUPT_H
#define LIBTOE_INTERRUPT_H

#include "libtoe.h"

/* Begins a call that may sleep: signal handlers that run from here on end it. Lock held, so that
 * signals deferred until the lock is released are among them. */
TOE_HIDDEN void tsig_begin(void);
/* Returns a flag that is nonzero once a handler has run. restarts: only a handler that also ends
 * calls which Linux restarts. */
TOE_HIDDEN const volatile sig_atomic_t *tsig_note(bool restarts);
/* Called in our handler, before the program's. */
TOE_HIDDEN void tsig_ran(bool restarts, void *context);
/* Makes the system call, unless *note is set (note may be NULL): then returns -1 with EINTR. */
TOE_HIDDEN long tsig_sleep(const volatile sig_atomic_t *note, long number, long a, long b, long c,
                           long d, long e);

#endif
