/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.c - one TOE, libtoe, and time as an argument (see world.h). libtoe is an application's own
 * code; only the wire, the clock and the machine under it are others (wire.c, host.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <toe/toe.h>

#include "world.h"

/* A stack is this old when it is used first: its IPv6 addresses are no longer tentative. */
#define AGE (5 * NS_PER_S)
/* After the end of libtoe its flows may take this long to be reset. */
#define END_TIME (10 * NS_PER_S)

struct world world = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .settled = PTHREAD_COND_INITIALIZER, .now = WORLD_ORIGIN};

/* FNV-1a over direction, time, length and bytes. */
void world_trace(int direction, const void *packet, size_t n)
{
    const uint8_t *p = packet;
    uint64_t head[3] = {(uint64_t)direction, world.now, n}, h = world.trace;
    size_t i;

    for (i = 0; i < sizeof(head); i++)
        h = (h ^ (head[i / 8] >> i % 8 * 8 & 0xff)) * 0x100000001b3ull;
    for (i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3ull;
    world.trace = h;
}

/* ---- coming and going ---- */

static int attach_host(void)
{
    struct toe_options o = {.socket = "virtual",
                            .slots = world.knobs.slots,
                            .tx_size = world.knobs.tx_size,
                            .rx_size = world.knobs.rx_size,
                            .irq_count = 1, /* notified immediately */
                            .require = 1};

    if (toe_init(&o) == 0)
        return 0;
    fprintf(stderr, "virtual: %s\n", toe_last_error());
    return -1;
}

int world_up(void)
{
    uint64_t now = world.now;

    if (world.up)
        return 0;
    world.now -= AGE;
    world.trace = 0xcbf29ce484222325ull;
    world.wire = wire_new(world.knobs.core.mtu);
    world.up = world.wire && device_up() == 0;
    if (!world.up && world.wire)
        netio_close(world.wire);
    if (!world.up) {
        world.now = now;
        errno = ENETDOWN;
        return -1;
    }
    world_run(now, NULL, NULL);
    link_greet(world.wire);
    if (attach_host() == 0)
        return 0;
    world_down();
    errno = ENETDOWN;
    return -1;
}

void world_down(void)
{
    if (!world.up)
        return;
    toe_terminate();
    device_leave();
    world_run(world.now + END_TIME, NULL, NULL);
    device_down(); /* and the wire */
    world.wire = NULL;
    world.up = 0;
}

int world_attach(int fd)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
    if (dup3(pair[0], fd, O_CLOEXEC) < 0) {
        close(pair[0]);
        close(pair[1]);
        return -1;
    }
    close(pair[0]);
    device_greet(pair[1]);
    return 0;
}

/* ---- time ---- */

/* Wakes the threads whose condition holds, and waits until they sleep again or have ended. */
static int serve_sleepers(void)
{
    struct sleeper *s;
    int woke = 0;

    for (s = world.sleepers; s; s = s->next) {
        if (s->woken || !(world.now >= s->deadline || s->ready(s->arg)))
            continue;
        s->woken = 1;
        world.running++;
        woke = 1;
        pthread_cond_signal(&s->wake);
    }
    while (world.running)
        pthread_cond_wait(&world.settled, &world.lock);
    return woke;
}

void world_settle(void)
{
    do {
        if (world.up)
            device_step();
    } while (pthread_equal(pthread_self(), world.owner) && serve_sleepers());
}

uint64_t world_next(void)
{
    uint64_t t = world.up ? device_deadline() : NEVER;
    struct sleeper *s;

    for (s = world.sleepers; s; s = s->next)
        if (s->deadline < t)
            t = s->deadline;
    return t;
}

int world_run(uint64_t until, int (*done)(void *arg), void *arg)
{
    for (;;) {
        uint64_t next;

        world_settle();
        if (done && done(arg))
            return 1;
        if (world.now >= until)
            return 0;
        next = world_next();
        if (next == NEVER && until == NEVER)
            return -1;
        if (next <= world.now)
            next = world.now + NS_PER_US;
        world.now = next < until ? next : until;
    }
}

/* This thread was woken by the owner, who waits for it. */
static __thread int counted;
__thread int world_stays;

void world_leave(void)
{
    if (!counted)
        return;
    counted = 0;
    world.running--;
    pthread_cond_broadcast(&world.settled);
}

static int sleep_beside_owner(uint64_t deadline, int (*ready)(void *arg), void *arg)
{
    struct sleeper s = {world.sleepers, ready, arg, deadline, 0, 0, PTHREAD_COND_INITIALIZER};
    struct sleeper **at = &world.sleepers;

    world.sleepers = &s;
    world_leave();
    pthread_cond_broadcast(&world.settled); /* which waits for this call to sleep */
    while (!s.woken)
        pthread_cond_wait(&s.wake, &world.lock);
    counted = 1;
    while (*at != &s)
        at = &(*at)->next;
    *at = s.next;
    if (!s.cancelled)
        return ready(arg);
    errno = EDEADLK;
    return -1;
}

void world_cancel(void)
{
    while (world.sleepers) {
        world.sleepers->cancelled = world.sleepers->woken = 1;
        world.running++;
        pthread_cond_signal(&world.sleepers->wake);
        while (world.running)
            pthread_cond_wait(&world.settled, &world.lock);
    }
}

int world_sleep(uint64_t deadline, int (*ready)(void *arg), void *arg)
{
    int r;

    if (ready(arg))
        return 1;
    if (world.now >= deadline)
        return 0;
    if (!pthread_equal(pthread_self(), world.owner))
        return sleep_beside_owner(deadline, ready, arg);
    r = world_run(deadline, ready, arg);
    if (r < 0)
        errno = EDEADLK;
    return r;
}
