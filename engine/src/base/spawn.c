/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.c - see spawn.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "clock.h"
#include "irq.h"
#include "spawn.h"

/* Empty: the signal only interrupts a blocked write (EINTR). */
static void on_unblock(int sig)
{
    (void)sig;
}

static int create(pthread_t *thread, const struct spawn *s)
{
    pthread_attr_t attr;
    cpu_set_t set;
    int rc;

    if (!s->pinned)
        return pthread_create(thread, NULL, s->run, s->arg);
    CPU_ZERO(&set);
    CPU_SET(s->cpu, &set);
    pthread_attr_init(&attr);
    rc = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
    if (rc == 0)
        rc = pthread_create(thread, &attr, s->run, s->arg);
    pthread_attr_destroy(&attr);
    return rc;
}

int spawn(pthread_t *thread, const struct spawn *s)
{
    struct sigaction act = {.sa_handler = on_unblock}; /* no SA_RESTART */
    sigset_t all, old;
    int rc;

    /* The control thread handles signals; this thread receives only that of spawn_unblock(). */
    sigfillset(&all);
    if (!s->inside) {
        sigaction(SIGUSR1, &act, NULL);
        sigdelset(&all, SIGUSR1);
    }
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = create(thread, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc == 0)
        pthread_setname_np(*thread, s->name);
    return rc;
}

void spawn_unblock(pthread_t thread, const atomic_ullong *since, uint64_t before)
{
    uint64_t at = atomic_load(since);

    if (at != 0 && at < before)
        pthread_kill(thread, SIGUSR1);
}

void spawn_join(pthread_t thread, const atomic_ullong *since)
{
    struct timespec t;

    do {
        spawn_unblock(thread, since, engine_clock() - IRQ_TIME);
        clock_gettime(CLOCK_REALTIME, &t); /* the clock of pthread_timedjoin_np() */
        t.tv_nsec += (long)IRQ_TIME;
        t.tv_sec += t.tv_nsec / (long)NS_PER_S;
        t.tv_nsec %= (long)NS_PER_S;
    } while (pthread_timedjoin_np(thread, NULL, &t) == ETIMEDOUT);
}

/* ---- gates ---- */

void gate_init(struct gate *g)
{
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->moved, NULL);
    atomic_init(&g->shut, 0);
    g->held = 0;
}

void gate_shut(struct gate *g)
{
    atomic_store(&g->shut, 1);
}

void gate_await(struct gate *g, pthread_t thread, const atomic_ullong *since)
{
    pthread_mutex_lock(&g->lock);
    while (!g->held) {
        uint64_t until = engine_clock() + IRQ_TIME;
        struct timespec t = {(time_t)(until / NS_PER_S), (long)(until % NS_PER_S)};

        if (pthread_cond_clockwait(&g->moved, &g->lock, CLOCK_MONOTONIC, &t) == ETIMEDOUT && since)
            spawn_unblock(thread, since, engine_clock() - IRQ_TIME);
    }
    pthread_mutex_unlock(&g->lock);
}

void gate_open(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    atomic_store(&g->shut, 0);
    pthread_cond_broadcast(&g->moved);
    pthread_mutex_unlock(&g->lock);
}

void gate_pass(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->held = 1;
    pthread_cond_broadcast(&g->moved);
    while (gate_is_shut(g))
        pthread_cond_wait(&g->moved, &g->lock);
    g->held = 0;
    pthread_mutex_unlock(&g->lock);
}
