/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - see progress.h. A thread, because a step may be in a system call that waits: a
 * signal would interrupt it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "../common/message.h"
#include "progress.h"

#define PERIOD_S 2

static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool runs, end;
    const char *what;
    unsigned at, all;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *report(void *arg)
{
    struct timespec until;

    (void)arg;
    pthread_mutex_lock(&progress.lock);
    clock_gettime(CLOCK_MONOTONIC, &until);
    while (!progress.end) {
        until.tv_sec += PERIOD_S;
        while (!progress.end &&
               pthread_cond_timedwait(&progress.ended, &progress.lock, &until) == 0)
            ;
        if (!progress.end && progress.what)
            cli_message("doctor: at check %u of %u: %s", progress.at, progress.all, progress.what);
    }
    pthread_mutex_unlock(&progress.lock);
    return NULL;
}

void progress_start(void)
{
    pthread_condattr_t clock;
    sigset_t all, before;

    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&progress.ended, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    progress.end = false;
    progress.runs = pthread_create(&progress.thread, NULL, report, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_end(void)
{
    if (!progress.runs)
        return; /* without a thread there are no reports */
    pthread_mutex_lock(&progress.lock);
    progress.end = true;
    pthread_cond_signal(&progress.ended);
    pthread_mutex_unlock(&progress.lock);
    pthread_join(progress.thread, NULL);
    progress.runs = false;
}

void progress_step(const char *what, unsigned at, unsigned all)
{
    pthread_mutex_lock(&progress.lock);
    progress.what = what;
    progress.at = at;
    progress.all = all;
    pthread_mutex_unlock(&progress.lock);
}
