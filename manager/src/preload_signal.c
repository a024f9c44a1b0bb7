/* SPDX-License-Identifier: Apache-2.0 */
/* preload_signal.c - libc's names that set a signal's handler: noted, for signals.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>

#include "preload.h"
#include "wait.h"

typedef void (*handler)(int);

/* NOLINTBEGIN(bugprone-macro-parentheses): names and lists of parameters cannot stand in them */
#define CHANGES_HANDLERS(type, name, failed, changes, parameters, arguments)                       \
    EXPORT(type, name, parameters)                                                                 \
    {                                                                                              \
        static void *found;                                                                        \
        type(*next) parameters;                                                                    \
        type r;                                                                                    \
                                                                                                   \
        if (!found)                                                                                \
            found = dlsym(RTLD_NEXT, #name);                                                       \
        if (!found)                                                                                \
            return terr(ENOSYS), failed;                                                           \
        __builtin_memcpy(&next, &found, sizeof found);                                             \
        r = next arguments;                                                                        \
        if (changes)                                                                               \
            tsig_changed();                                                                        \
        return r;                                                                                  \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

CHANGES_HANDLERS(int, sigaction, -1, new != NULL,
                 (int sig, const struct sigaction *new, struct sigaction *old), (sig, new, old))
CHANGES_HANDLERS(int, __sigaction, -1, new != NULL,
                 (int sig, const struct sigaction *new, struct sigaction *old), (sig, new, old))
CHANGES_HANDLERS(handler, signal, SIG_ERR, true, (int sig, handler h), (sig, h))
CHANGES_HANDLERS(handler, bsd_signal, SIG_ERR, true, (int sig, handler h), (sig, h))
CHANGES_HANDLERS(handler, ssignal, SIG_ERR, true, (int sig, handler h), (sig, h))
CHANGES_HANDLERS(handler, sysv_signal, SIG_ERR, true, (int sig, handler h), (sig, h))
CHANGES_HANDLERS(handler, __sysv_signal, SIG_ERR, true, (int sig, handler h), (sig, h))
CHANGES_HANDLERS(handler, sigset, SIG_ERR, true, (int sig, handler h), (sig, h))
CHANGES_HANDLERS(int, sigignore, -1, true, (int sig), (sig))
CHANGES_HANDLERS(int, siginterrupt, -1, true, (int sig, int flag), (sig, flag))
