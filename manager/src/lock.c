/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - the one lock of a process's TOE context.
 */
#include <pthread.h>
#include <sys/single_threaded.h>

#include "ctx.h"
#include "urgent.h"

static pthread_mutex_t mutex = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
/* Whether the holder took the mutex: a thread may end, and the process be single-threaded again,
 * between lock and unlock. Written by the holder only. */
static bool taken;

void tctx_lock(void)
{
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
        return;
    }
    due = tctx.sigurg;
    tctx.sigurg.n = 0;
    give_back();
    turgent_signal(&due);
}
