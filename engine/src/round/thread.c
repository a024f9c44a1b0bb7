/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.c - an engine's thread: polls while there is work, sleeps after spin_us without work, and
 * runs the calls of other threads between rounds.
 *
 * No wake-up is lost: the engine sets its sleeping flag, then (full fence) checks every source once
 * more. A host writes its head, then (full fence) checks that flag and rings the doorbell (ring.h);
 * the engine may execute the host's fence for it (host_fence.h). Hand-over rings and engine_call()
 * do the same.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/irq.h"
#include "base/sleep.h"
#include "base/spawn.h"
#include "batch.h"
#include "engine.h"
#include "frames/steer.h"
#include "hosts/commands.h"
#include "hosts/qp.h"
#include "kernel/host_fence.h"
#include "thread.h"

/* How often a back end that cannot wake the engine is polled. */
#define POLLED_NETIO (200 * NS_PER_US)
#define FEW_LOOKS    500u
#define SLEEP_MAX    (3600 * NS_PER_S)
/* How late the kernel may end a sleep, in nanoseconds; its default is 50 microseconds, as much as a
 * moderated delay. */
#define TIMER_SLACK 1000ul

void engine_wake(struct engine *e)
{
    wake_fd_write(e->wake_fd);
}

static void run_call(struct engine *e)
{
    pthread_mutex_lock(&e->lock);
    if (e->call_fn) {
        e->call_fn(e, e->call_arg);
        e->call_fn = NULL;
        atomic_store(&e->call_waiting, 0);
        pthread_cond_broadcast(&e->done);
    }
    pthread_mutex_unlock(&e->lock);
}

/* Waits for the engine and interrupts its blocked interrupt writes: the watcher is the thread that
 * waits here, so both would block forever. */
static void wait_and_watch(struct engine *e)
{
    uint64_t until = engine_clock() + IRQ_TIME;
    struct timespec t = {(time_t)(until / NS_PER_S), (long)(until % NS_PER_S)};

    if (pthread_cond_clockwait(&e->done, &e->lock, CLOCK_MONOTONIC, &t) == ETIMEDOUT)
        engine_unblock(e, engine_clock() - IRQ_TIME);
}

void engine_call(struct engine *e, engine_fn fn, void *arg)
{
    if (!e->has_thread || pthread_equal(e->thread, pthread_self())) {
        e->now = e->now > engine_clock() ? e->now : engine_clock();
        fn(e, arg);
        return;
    }
    pthread_mutex_lock(&e->lock);
    while (e->call_fn) /* another thread's call is in progress */
        pthread_cond_wait(&e->done, &e->lock);
    e->call_fn = fn;
    e->call_arg = arg;
    atomic_store(&e->call_waiting, 1);
    engine_wake(e);
    while (e->call_fn == fn && e->call_arg == arg)
        wait_and_watch(e);
    pthread_mutex_unlock(&e->lock);
}

/* Publishes whether the engine sleeps. Returns -1 when the hosts' fence failed. */
static int set_sleeping(struct engine *e, uint32_t on)
{
    uint32_t i;

    steer_sleeps(e, (int)on);
    for (i = 0; i < e->qp_count; i++)
        __atomic_store_n(&e->qps[i]->status->sleeping, on, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!on || !e->orders || !e->qp_count)
        return 0;
    engine_count(e, EC_hosts_ordered);
    return host_fence();
}

/* Checks every source once more after the sleeping flag is set; frames only if they may wake. */
static int anything(struct engine *e)
{
    uint32_t i;

    if (atomic_load(&e->call_waiting) || gate_is_shut(&e->gate) || atomic_load(&e->quit) ||
        steer_waiting(e))
        return 1;
    for (i = 0; i < e->qp_count; i++) {
        const struct qp *qp = e->qps[i];

        if (qp->dropped || qp->halted)
            continue;
        /* Check for commands, unless they wait for room in the HW ring. In that case the host's
         * hw_tail, which has no doorbell, is polled (below). */
        if (toe_ring_waiting(&qp->sw, &qp->doorbells->sw_head) != 0 && !qp->full && !qp->paced)
            return 1;
    }
    return !e->deaf && netio_prepare_sleep(e->netio);
}

/* Returns whether notifications wait for room: neither hosts nor the manager ring a doorbell when
 * their tail moves. */
static int waits_for_room(const struct engine *e)
{
    uint32_t i;

    for (i = 0; i < e->qp_count; i++) {
        const struct qp *qp = e->qps[i];

        if (qp->last_due || qp_unused(qp) || (qp->full && !qp->halted && !qp->dropped))
            return 1;
    }
    return 0;
}

static void sleep_until(struct engine *e, uint64_t deadline)
{
    struct epoll_event ev[16];
    uint64_t now = engine_clock(), left, drained;
    int n, i;

    if (deadline <= now)
        return;
    left = deadline - now < SLEEP_MAX ? deadline - now : SLEEP_MAX;
    n = engine_epoll(e->epoll_fd, ev, 16, left);
    for (i = 0; i < n; i++)
        if (ev[i].data.fd == e->wake_fd && read(e->wake_fd, &drained, sizeof(drained)) < 0)
            continue; /* it consumed another thread's wake-up */
    e->side_at = 0;
}

/* Called before the sleeping flag is set. A host does not ring again for commands that it has rung
 * for and that the SW tail has not passed. The update of that tail may still be waiting in the
 * manager. */
static int notifies_later(const struct engine *e)
{
    return e->cfg.common && !common_is_handed_out(e->cfg.common);
}

/* Has the back end's descriptor wake the engine or not. Returns 0, or -1 if that stays as it was.
 */
static int set_deaf(struct engine *e, int on)
{
    struct epoll_event ev = {.events = on ? 0 : EPOLLIN, .data.fd = netio_fd(e->netio)};

    if (e->deaf == on)
        return 0;
    if (epoll_ctl(e->epoll_fd, EPOLL_CTL_MOD, ev.data.fd, &ev) != 0)
        return -1;
    e->deaf = on;
    return 0;
}

/*
 * Moderates the wake-ups by frames (moderation.h): after a round that received some, the next have
 * to wait for the delay, or for another reason to wake. After a delay without frames, the first one
 * wakes at once. Returns until when frames do not wake; 0: they do.
 */
static uint64_t moderate(struct engine *e)
{
    uint64_t now = engine_clock();
    uint32_t us = e->cfg.moderation;

    if (us == MODERATION_AUTO)
        us = moderation_usec(&e->moderation, &e->received, now);
    if (e->received.frames != e->seen)
        e->deaf_until = now + us * NS_PER_US;
    e->seen = e->received.frames;
    /* A back end without a descriptor is polled at intervals in any case. */
    if (set_deaf(e, us && now < e->deaf_until && netio_fd(e->netio) >= 0) != 0 || !e->deaf)
        return 0;
    engine_count(e, EC_moderated_sleeps);
    return e->deaf_until;
}

static void engine_sleep(struct engine *e)
{
    uint64_t deaf_until = moderate(e), deadline;
    int later = notifies_later(e), ordered = set_sleeping(e, 1);

    deadline = engine_deadline(e);
    if (deaf_until && deadline > deaf_until)
        deadline = deaf_until;

    if (netio_fd(e->netio) < 0 && deadline > e->now + POLLED_NETIO)
        deadline = e->now + POLLED_NETIO;
    if ((waits_for_room(e) || later || ordered != 0) && deadline > e->now + NS_PER_MS)
        deadline = e->now + NS_PER_MS;
    if (!anything(e)) {
        engine_count(e, EC_sleeps);
        sleep_until(e, deadline);
    }
    (void)set_sleeping(e, 0);
}

/*
 * Waits for the first command of the program that opened this engine. It is processed before the
 * address is announced and before frames that have already arrived, so that a waiting SYN finds the
 * listener.
 */
static void await_first_command(struct engine *e)
{
    const struct timespec shortly = {0, 20000}, later = {0, (long)NS_PER_MS};
    unsigned looks = 0;

    while (!atomic_load(&e->quit) && !atomic_load(&e->call_waiting) && e->qp_count &&
           toe_ring_load(&e->qps[0]->doorbells->sw_head) == 0)
        nanosleep(looks++ < FEW_LOOKS ? &shortly : &later, NULL);
    if (e->qp_count) {
        e->now = engine_clock();
        (void)commands_run(e->qps[0]);
    }
}

static void *run(void *arg)
{
    struct engine *e = arg;
    uint64_t busy_at, polled_at = 0; /* start of a poll that has found no work; 0: it had work */

    (void)prctl(PR_SET_TIMERSLACK, TIMER_SLACK, 0, 0, 0);
    if (e->cfg.inside)
        await_first_command(e);
    busy_at = engine_clock();
    while (!atomic_load_explicit(&e->quit, memory_order_relaxed)) {
        uint64_t now;

        if (gate_is_shut(&e->gate)) {
            gate_pass(&e->gate);
            busy_at = engine_clock();
            polled_at = 0;
            continue;
        }
        now = engine_clock();
        if (polled_at)
            e->counters[EC_polling_ns] += now - polled_at;
        polled_at = 0;
        if (atomic_load_explicit(&e->call_waiting, memory_order_acquire)) {
            e->now = now;
            run_call(e);
            busy_at = now;
        }
        run_side_hook(e, now);
        if (engine_step(e, now)) {
            busy_at = now;
        } else if (now - busy_at < e->cfg.spin_us * NS_PER_US) {
            polled_at = now;
            engine_rest(batch_rest(e));
        } else {
            engine_sleep(e);
            busy_at = engine_clock();
        }
    }
    return NULL;
}

int engine_start(struct engine *e)
{
    char name[16];
    const struct spawn s = {.name = name,
                            .pinned = e->cfg.pinned,
                            .cpu = e->cfg.cpu,
                            .inside = e->cfg.inside,
                            .run = run,
                            .arg = e};
    int rc;

    snprintf(name, sizeof(name), "%s-engine%u", e->cfg.inside ? "toe" : "toed", e->cfg.id % 1000);
    rc = spawn(&e->thread, &s);
    e->has_thread = rc == 0;
    return rc;
}

void engine_join(struct engine *e)
{
    if (!e->has_thread)
        return;
    atomic_store(&e->quit, 1);
    gate_open(&e->gate);
    engine_wake(e);
    if (e->cfg.inside)
        pthread_join(e->thread, NULL);
    else
        spawn_join(e->thread, &e->irq_since);
    e->has_thread = 0;
}

void engine_pause(struct engine *e)
{
    gate_shut(&e->gate);
    if (!e->has_thread)
        return;
    engine_wake(e);
    gate_await(&e->gate, e->thread, e->cfg.inside ? NULL : &e->irq_since);
}

void engine_resume(struct engine *e)
{
    gate_open(&e->gate);
}

void engine_unblock(struct engine *e, uint64_t before)
{
    if (e->has_thread && !e->cfg.inside)
        spawn_unblock(e->thread, &e->irq_since, before);
}
