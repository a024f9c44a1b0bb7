/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - the one lock of a process's TOE context, and the handlers of signals that wait for it.
 *
 * A handler may do as it likes: use sockets, fork, execute a program, leave by siglongjmp(). So
 * none runs while its thread is inside: the signal is sent to the thread again, blocked, and comes
 * when the thread is outside (preload_signal.c).
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/single_threaded.h>

#include "ctx.h"
#include "urgent.h"

static pthread_mutex_t mutex = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
/* Whether the holder took the mutex: a thread may end, and the process be single-threaded again,
 * between lock and unlock. Written by the holder only. */
static bool taken;

/* Static, because a handler must not allocate, as the first use of what is dynamic may. */
#ifdef TOE_TLS_DYNAMIC
#define OF_THREAD static __thread
#else
#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))
#endif
OF_THREAD volatile sig_atomic_t inside, some_wait;
OF_THREAD sigset_t waiting; /* signals */

bool tlock_defer(int sig, siginfo_t *info, sigset_t *mask)
{
    if (!inside)
        return false;
    if (!some_wait)
        sigemptyset(&waiting);
    sigaddset(&waiting, sig);
    sigaddset(mask, sig);
    some_wait = 1;
    (void)syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), sig, info);
    return true;
}

void tlock_enter(void)
{
    inside++;
}

/* Outside again: here handlers run that had to wait. */
void tlock_leave(void)
{
    sigset_t now;

    if (--inside || likely(!some_wait))
        return;
    now = waiting;
    some_wait = 0;
    pthread_sigmask(SIG_UNBLOCK, &now, NULL);
}

void tctx_lock(void)
{
    tlock_enter();
    if (likely(__libc_single_threaded))
        return;
    pthread_mutex_lock(&mutex);
    taken = true;
}

void tctx_lock_before_thread(void)
{
    if (taken)
        return;
    pthread_mutex_lock(&mutex);
    taken = true;
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
    give_back();
    tlock_leave();
    tpause();
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
    turgent_signal(&due);
}
