/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_signal.c - libc's names that set a signal's handler. The handler is recorded, for
 * signals.c, and called from one of ours, which defers it while the thread is inside libtoe
 * (lock.c).
 *
 * Exceptions are handlers of signals that an instruction raises (SIGSEGV), which cannot be
 * deferred (preload_fault.c has two of them), and handlers that are called once (SA_RESETHAND).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "fdtab.h"
#include "internal.h"
#include "interrupt.h"
#include "lock.h"
#include "preload.h"
#include "preload_fault.h"
#include "signals.h"

typedef void (*handler)(int);
typedef void (*action)(int, siginfo_t *, void *);

/* The program's handlers that ours has replaced. */
static _Atomic(action) handlers[NSIG];
static atomic_bool wants_info[NSIG]; /* SA_SIGINFO */
static atomic_bool restarts[NSIG];   /* SA_RESTART */

static void stand_in(int sig, siginfo_t *info, void *context)
{
    action its = atomic_load(&handlers[sig]);
    int saved = errno;

    if (tlock_defer(sig, info, &((ucontext_t *)context)->uc_sigmask)) {
        errno = saved;
        return;
    }
    tsig_ran(atomic_load(&restarts[sig]), context);
    if (its)
        its(sig, info, context);
}

static bool can_wait(int sig)
{
    switch (sig) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
    case SIGABRT:
        return false;
    default:
        return sig > 0 && sig < NSIG;
    }
}

static bool is_ours(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == stand_in;
}

static bool is_to_wait(int sig, const struct sigaction *a)
{
    return can_wait(sig) && a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN && !is_ours(a) &&
           !(a->sa_flags & SA_RESETHAND);
}

static int set_action(sets_action next, int sig, const struct sigaction *new, struct sigaction *old)
{
    struct sigaction mine, before;
    action had = can_wait(sig) ? atomic_load(&handlers[sig]) : NULL;
    bool had_info = can_wait(sig) && atomic_load(&wants_info[sig]);
    bool restarted = can_wait(sig) && atomic_load(&restarts[sig]);
    bool waits = new && !tproc_borrowed() && is_to_wait(sig, new);
    int r;

    if (preload_is_fault(sig) && !tproc_borrowed())
        return preload_fault_action(next, sig, new, old);
    if (waits) {
        mine = *new;
        mine.sa_sigaction = stand_in;
        mine.sa_flags |= SA_SIGINFO;
        atomic_store(&handlers[sig], new->sa_sigaction);
        atomic_store(&wants_info[sig], (new->sa_flags &SA_SIGINFO) != 0);
        atomic_store(&restarts[sig], (new->sa_flags &SA_RESTART) != 0);
    }
    r = next(sig, waits ? &mine : new, &before);
    if (r < 0 && waits) {
        atomic_store(&handlers[sig], had);
        atomic_store(&wants_info[sig], had_info);
        atomic_store(&restarts[sig], restarted);
    }
    if (r == 0 && old) {
        *old = before;
        if (is_ours(&before)) {
            old->sa_sigaction = had;
            old->sa_flags = had_info ? old->sa_flags : old->sa_flags & ~SA_SIGINFO;
        }
    }
    if (new)
        tsig_changed();
    return r;
}

static void *find(const char *name, void **found)
{
    if (!*found)
        *found = dlsym(RTLD_NEXT, name);
    return *found;
}

#define SETS_ACTION(name)                                                                          \
    EXPORT(int, name, (int sig, const struct sigaction *new, struct sigaction *old))               \
    {                                                                                              \
        static void *found;                                                                        \
        sets_action next;                                                                          \
                                                                                                   \
        if (!find(#name, &found))                                                                  \
            return terr(ENOSYS);                                                                   \
        __builtin_memcpy(&next, &found, sizeof found);                                             \
        return set_action(next, sig, new, old);                                                    \
    }

SETS_ACTION(sigaction)
SETS_ACTION(__sigaction)

/* Puts our handler before one that libc has set by another call. */
static void take_place(int sig)
{
    struct sigaction now;

    if (preload_is_fault(sig))
        preload_fault_again(sig);
    else if (can_wait(sig) && preload_sigaction(sig, NULL, &now) == 0 && is_to_wait(sig, &now))
        (void)preload_sigaction(sig, &now, NULL);
    tsig_changed();
}

/* Re-reads the flags after libc has changed them by another call. */
static void flags_changed(int sig)
{
    struct sigaction now;

    if (can_wait(sig) && preload_sigaction(sig, NULL, &now) == 0)
        atomic_store(&restarts[sig], (now.sa_flags & SA_RESTART) != 0);
    tsig_changed();
}

static handler note_change(handler h, handler before)
{
    action ours = stand_in;
    handler as_handler;

    memcpy(&as_handler, &ours, sizeof ours);
    return h == as_handler || preload_is_fault_handler(h) ? before : h;
}

static handler now_set(int sig)
{
    struct sigaction a;

    return preload_sigaction(sig, NULL, &a) == 0 ? a.sa_handler : SIG_ERR;
}

#define SETS_HANDLER(name)                                                                         \
    EXPORT(handler, name, (int sig, handler h))                                                    \
    {                                                                                              \
        static void *found;                                                                        \
        handler before = now_set(sig), r;                                                          \
        handler (*next)(int, handler);                                                             \
                                                                                                   \
        if (!find(#name, &found))                                                                  \
            return terr(ENOSYS), SIG_ERR;                                                          \
        __builtin_memcpy(&next, &found, sizeof found);                                             \
        r = note_change(next(sig, h), before);                                                     \
        take_place(sig);                                                                           \
        return r;                                                                                  \
    }

SETS_HANDLER(signal)
SETS_HANDLER(bsd_signal)
SETS_HANDLER(ssignal)
SETS_HANDLER(sysv_signal)
SETS_HANDLER(__sysv_signal)
SETS_HANDLER(sigset)

/* NOLINTBEGIN(bugprone-macro-parentheses): parameter lists cannot be parenthesised */
#define CHANGES(name, parameters, arguments)                                                       \
    EXPORT(int, name, parameters)                                                                  \
    {                                                                                              \
        static void *found;                                                                        \
        int(*next) parameters;                                                                     \
        int r;                                                                                     \
                                                                                                   \
        if (!find(#name, &found))                                                                  \
            return terr(ENOSYS);                                                                   \
        __builtin_memcpy(&next, &found, sizeof found);                                             \
        r = next arguments;                                                                        \
        flags_changed(sig);                                                                        \
        return r;                                                                                  \
    }

CHANGES(sigignore, (int sig), (sig))
CHANGES(siginterrupt, (int sig, int flag), (sig, flag))
/* NOLINTEND(bugprone-macro-parentheses) */
