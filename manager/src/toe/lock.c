/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - the one lock of a process's TOE context, and deferred signal handlers.
 *
 * A handler may do anything: use sockets, fork, execute a program, leave by siglongjmp(). So none
 * runs while its thread is inside libtoe. The signal is deferred, and sent to the thread again when
 * the thread has left (preload_signal.c).
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/single_threaded.h>

#include "ctx.h"
#include "inline.h"
#include "lock.h"
#include "sigurg.h"

static pthread_mutex_t mutex = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
/* Whether the holder took the mutex: a thread may end, and the process be single-threaded again,
 * between lock and unlock. Written by the holder only. */
static bool taken;

/* The first few deferred signals are queued here, in order; further ones stay blocked in the
 * kernel. Blocking alone does not suffice: under valgrind, a handler's change of its context's mask
 * has no effect. */
#define HELD_MAX   4u
#define STACK_SIZE (256u << 10) /* of libtoe's thread */
OF_THREAD volatile sig_atomic_t inside, some_wait;
OF_THREAD siginfo_t held[HELD_MAX];
OF_THREAD volatile unsigned held_from, held_to; /* free-running; the handler writes the second */
OF_THREAD sigset_t waiting;                     /* blocked in the kernel */

static void raise_again(int sig, siginfo_t *info)
{
    (void)sys_call(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)sys_call(SYS_gettid), sig, info);
}

/* Returns whether a standard signal is queued already: only one is, as in the kernel. */
static bool stands_there(int sig)
{
    if (sig >= SIGRTMIN)
        return false;
    for (unsigned i = held_from; i != held_to; i++)
        if (held[i % HELD_MAX].si_signo == sig)
            return true;
    return false;
}

bool tlock_defer(int sig, siginfo_t *info, sigset_t *mask)
{
    if (!inside)
        return false;
    if (stands_there(sig))
        return true;
    if (held_to - held_from < HELD_MAX) {
        held[held_to % HELD_MAX] = *info;
        held_to++;
    } else {
        if (!sigismember(&waiting, sig))
            sigaddset(&waiting, sig);
        sigaddset(mask, sig);
        raise_again(sig, info);
    }
    some_wait = 1;
    return true;
}

void tlock_waiting(sigset_t *set)
{
    *set = waiting;
}

void tlock_forget(void)
{
    held_from = held_to;
}

static void run_waiting(void)
{
    sigset_t now;

    some_wait = 0;
    while (held_from != held_to) {
        siginfo_t info;

        inside++; /* a nested handler may do all this too */
        info = held[held_from % HELD_MAX];
        held_from++;
        inside--;
        raise_again(info.si_signo, &info);
    }
    if (sigisemptyset(&waiting))
        return;
    now = waiting;
    sigemptyset(&waiting);
    pthread_sigmask(SIG_UNBLOCK, &now, NULL);
}

bool tlock_inside(void)
{
    return inside > 0;
}

void tlock_enter(void)
{
    inside++;
}

/* Leaves libtoe, and runs the handlers that were deferred. */
void tlock_leave(void)
{
    if (--inside || likely(!some_wait))
        return;
    run_waiting();
}

void tctx_lock(void)
{
    tlock_enter();
    if (likely(__libc_single_threaded))
        return;
    pthread_mutex_lock(&mutex);
    taken = true;
}

/* Takes the mutex of the lock that is held, before the process gets its second thread. */
static void before_thread(void)
{
    if (taken)
        return;
    pthread_mutex_lock(&mutex);
    taken = true;
}

bool tctx_thread(void *(*run)(void *arg))
{
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;
    int e;

    before_thread();
    sigfillset(&all); /* the program's own threads handle signals */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    e = pthread_create(&thread, &attr, run, NULL);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return e == 0;
}

static void give_back(void)
{
    if (likely(!taken))
        return;
    taken = false;
    pthread_mutex_unlock(&mutex);
}

void tctx_relax(void)
{
    uint32_t rest = tctx.qps_n ? tinline_rest(tctx.qps[0]) : 0;
    uint64_t until = unlikely(rest) ? tclock_ns() + rest : 0;

    give_back();
    tlock_leave();
    do {
        tpause();
    } while (until && tclock_ns() < until);
    tctx_lock();
}

void tctx_unlock(void)
{
    struct tsigurg due;

    if (unlikely(tctx.sleepers))
        tinline_hurry();
    if (likely(!tctx.sigurg.n)) {
        give_back();
        tlock_leave();
        return;
    }
    due = tctx.sigurg;
    tctx.sigurg.n = 0;
    give_back();
    tlock_leave();
    tsigurg_send(&due);
}
