/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - the process that runs engines in threads: its signals, descriptors and shutdown. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "base/clock.h"
#include "base/log.h"
#include "process.h"
#include "round/engine.h"
#include "round/thread.h"

/* At the end, how long flows may take to send their RSTs. */
#define STOP_TIME (1 * NS_PER_S)
#define STOP_LOOK (2 * NS_PER_MS)

int control_init(struct control *c, const struct options *o)
{
    sigset_t signals;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_mutex_init(&c->lock, NULL);
    c->options = o;
    c->started = engine_clock();
    c->lock_fd = -1; /* no interface is claimed yet, and no address */
    c->addresses = (struct address_claims){{-1, -1}};
    c->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (c->signal_fd < 0)
        return -1;
    c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return c->wake_fd < 0 ? -1 : 0;
}

int control_signalled(struct control *c)
{
    struct signalfd_siginfo got;
    int ends = 0;

    while (read(c->signal_fd, &got, sizeof(got)) == (ssize_t)sizeof(got)) {
        if (got.ssi_signo != SIGHUP)
            ends = 1;
        else if (c->reload)
            c->reload(c, c->reloaded);
    }
    return ends;
}

static void stop_in_engine(struct engine *e, void *arg)
{
    (void)arg;
    engine_stop(e);
}

static void count_in_engine(struct engine *e, void *arg)
{
    *(uint32_t *)arg += engine_flows(e);
}

void control_stop_flows(struct control *c)
{
    const struct timespec look = {0, STOP_LOOK};
    uint64_t end = engine_clock() + STOP_TIME;
    uint32_t i, flows;

    for (i = 0; i < c->engine_count; i++)
        engine_call(c->engines[i], stop_in_engine, NULL);
    do {
        flows = 0;
        for (i = 0; i < c->engine_count; i++)
            engine_call(c->engines[i], count_in_engine, &flows);
        if (flows)
            nanosleep(&look, NULL);
    } while (flows && engine_clock() < end);
    if (flows)
        log_warning("%u flows could not be reset in time", flows);
}

void control_pause(struct control *c)
{
    uint32_t i;

    for (i = 0; i < c->engine_count; i++)
        engine_pause(c->engines[i]);
    polling_pause(c->polling); /* after it has handed out their remaining entries */
}

void control_resume(struct control *c)
{
    uint32_t i;

    polling_resume(c->polling);
    for (i = 0; i < c->engine_count; i++)
        engine_resume(c->engines[i]);
}

void control_free_engines(struct control *c)
{
    uint32_t i, q;

    /* end all threads first: they hand frames over to each other */
    for (i = 0; i < c->engine_count; i++)
        engine_join(c->engines[i]);
    polling_join(c->polling);
    for (i = 0; i < c->engine_count; i++) {
        for (q = 0; q < c->engines[i]->qp_count; q++)
            attach_free(c, c->engines[i]->qps[q]);
        engine_free(c->engines[i]);
    }
    c->engine_count = 0;
    polling_free(c->polling);
    c->polling = NULL;
}
