/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.c - which signals end a call that blocks (SA_RESTART; signal(7)).
 *
 * Linux restarts recv, send and accept when the handler of the signal has SA_RESTART, and ends them
 * with EINTR when it has not. A thread that sleeps in ppoll() learns only that some signal came.
 * Where all handlers agree that suffices. Where they differ, the sleep blocks the signals that
 * restart and waits for them by a signalfd, so the way in which the sleep ends shows the kind.
 */
#include <string.h>
#include <sys/signalfd.h>

#include "internal.h"
#include "lock.h"
#include "signals.h"
#include "wait.h"

static atomic_bool watched; /* the preload library reports every change of a handler */
static atomic_bool stale = true;
static sigset_t restarting;
static bool some_end; /* handlers without SA_RESTART */

static __thread int own_fd = -1; /* this thread's signalfd, and its signals */
static __thread sigset_t own_set;

void tsig_watch(void)
{
    atomic_store(&watched, true);
}

void tsig_changed(void)
{
    atomic_store(&stale, true);
}

static void look(void)
{
    struct sigaction sa;
    int saved = errno; /* the C library reserves some numbers: EINVAL */

    sigemptyset(&restarting);
    some_end = false;
    for (int sig = 1; sig < NSIG; sig++) {
        if (sigaction(sig, NULL, &sa) < 0 || sa.sa_handler == SIG_DFL || sa.sa_handler == SIG_IGN)
            continue;
        if (sa.sa_flags & SA_RESTART)
            sigaddset(&restarting, sig);
        else
            some_end = true;
    }
    errno = saved;
}

void tsig_end(void)
{
    tfd_internal_close(own_fd);
    own_fd = -1;
}

static int signalfd_of(const sigset_t *set)
{
    if (own_fd >= 0 && memcmp(set, &own_set, sizeof own_set) == 0)
        return own_fd;
    if (own_fd >= 0 && sys_call(SYS_signalfd4, own_fd, set, (size_t)8, 0) < 0)
        tsig_end();
    if (own_fd < 0)
        own_fd = tfd_internal((int)sys_call(SYS_signalfd4, -1, set, (size_t)8, SFD_CLOEXEC));
    own_set = *set;
    return own_fd;
}

int tsig_sort(sigset_t *mask)
{
    sigset_t wanted, late;

    if (!atomic_load(&watched))
        return -1;
    if (atomic_exchange(&stale, false))
        look();
    if (!some_end || sigisemptyset(&restarting) || pthread_sigmask(SIG_SETMASK, NULL, mask) != 0)
        return -1;
    sigemptyset(&wanted);
    tlock_waiting(&late); /* blocked until the lock is released, not by the program */
    for (int sig = 1; sig < NSIG; sig++)
        if (sigismember(&late, sig))
            sigdelset(mask, sig);
    for (int sig = 1; sig < NSIG; sig++)
        if (sigismember(&restarting, sig) && !sigismember(mask, sig))
            sigaddset(&wanted, sig);
    if (sigisemptyset(&wanted))
        return -1;
    sigorset(mask, mask, &wanted);
    return signalfd_of(&wanted);
}

/* Returns after EINTR whether all handlers had SA_RESTART before the sleep. If changes of handlers
 * are not watched, checks the current ones, which no longer include one-shot handlers that ran
 * (SA_RESETHAND). */
static bool all_restart(void)
{
    if (!atomic_load(&watched))
        look();
    return !some_end;
}

int twait_call(struct twaiter *w, struct pollfd *kfds, nfds_t n, uint64_t deadline)
{
    bool may = deadline == TWAIT_FOREVER; /* never with a time limit */
    bool sorted = false;

    if (twait_sleep_sorted(w, kfds, n, deadline, may ? &sorted : NULL) >= 0)
        return 0;
    return errno == EINTR && may && !sorted && all_restart() ? 0 : -1;
}
