/* SPDX-License-Identifier: Apache-2.0 */
/* door.c - see door.h. On Linux each thread has credentials of its own (credentials(7)). */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>

#include "door.h"

static void *run(void *arg)
{
    struct door *d = arg;

    pthread_mutex_lock(&d->lock);
    while (!d->has_action)
        pthread_cond_wait(&d->asked, &d->lock);
    pthread_mutex_unlock(&d->lock);
    if (d->action)
        d->action(d->arg);
    return NULL;
}

int door_start(struct door *d)
{
    sigset_t all, old;
    int e;

    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->asked, NULL);
    d->has_action = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    e = pthread_create(&d->thread, NULL, run, d);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    d->has_thread = e == 0;
    return e;
}

static void end(struct door *d, void (*action)(void *arg), void *arg)
{
    pthread_mutex_lock(&d->lock);
    d->action = action;
    d->arg = arg;
    d->has_action = 1;
    pthread_cond_signal(&d->asked);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    d->has_thread = 0;
}

void door_use(struct door *d, void (*action)(void *arg), void *arg)
{
    if (d->has_thread)
        end(d, action, arg);
    else
        action(arg);
}

void door_shut(struct door *d)
{
    if (d->has_thread)
        end(d, NULL, NULL);
}
