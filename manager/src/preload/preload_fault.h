/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_fault.h - the handler of SIGSEGV and SIGBUS that precedes the program's, so that a bad
 * pointer in a call on a TOE socket is EFAULT (user_memory.h). Other faults are the program's: its
 * handler or the default action gets them with the same registers.
 */
#ifndef LIBTOE_PRELOAD_FAULT_H
#define LIBTOE_PRELOAD_FAULT_H

#include <signal.h>
#include <stdbool.h>

#include "libtoe.h"

typedef int (*sets_action)(int, const struct sigaction *, struct sigaction *);

/* Puts the handler before those that the process has. */
TOE_HIDDEN void preload_fault_start(void);
static inline bool preload_is_fault(int sig)
{
    return sig == SIGSEGV || sig == SIGBUS;
}
TOE_HIDDEN bool preload_is_fault_handler(void (*h)(int));
/* sigaction() of these signals as the program sees it; next: libc's. */
TOE_HIDDEN int preload_fault_action(sets_action next, int sig, const struct sigaction *new,
                                    struct sigaction *old);
/* Puts the handler before the program's again, which libc has set by another call. */
TOE_HIDDEN void preload_fault_again(int sig);

#endif
