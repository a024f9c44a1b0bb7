/* SPDX-License-Identifier: Apache-2.0 */
/* api.c - what virtual.h has beside the table: time, knobs, counters, calls that block. */
#include <errno.h>
#include <string.h>

#include "world.h"

static void enter(void)
{
    pthread_mutex_lock(&world.lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&world.lock);
}

int toevt_set(const char *flags, char *err, size_t err_size)
{
    int r;

    enter();
    r = knobs_set(&world.knobs, flags, world.up, err, err_size);
    leave();
    return r;
}

const char *toevt_get(const char *name)
{
    static char text[64];

    return knobs_get(&world.knobs, name, text, sizeof(text));
}

const char *toevt_knob(unsigned i, const char **help)
{
    return knobs_name(i, help);
}

uint64_t toevt_now(void)
{
    return world.now;
}

uint64_t toevt_next(void)
{
    uint64_t t;

    enter();
    t = world_next();
    leave();
    return t;
}

void toevt_run(uint64_t until)
{
    enter();
    world_run(until, NULL, NULL);
    leave();
}

int64_t toevt_counter(const char *name)
{
    int64_t r;

    enter();
    r = device_counter(name);
    leave();
    return r;
}

void toevt_usage(uint32_t out[4])
{
    enter();
    memset(out, 0, 4 * sizeof(*out));
    if (world.up)
        device_usage(out);
    leave();
}

uint64_t toevt_trace(void)
{
    return world.trace;
}

/* ---- a call that blocks ---- */

typedef long (*call_fn)(void *u, long a, long b, long c, long d, long e, long f);

static struct {
    pthread_t thread;
    call_fn fn;
    long args[6];
    int begun, ended; /* ended: guarded by world.lock */
    long result;
    int error;
    uint64_t at;
} call;

/* Members return int or ssize_t; the results in packetdrill's scripts fit in an int. */
static void *run_call(void *arg)
{
    long r;
    int e;

    (void)arg;
    world_stays = 1;
    errno = 0;
    r = (int)call.fn(&world, call.args[0], call.args[1], call.args[2], call.args[3], call.args[4],
                     call.args[5]);
    e = errno;
    enter();
    call.result = r;
    call.error = e;
    call.at = world.now;
    call.ended = 1;
    pthread_cond_broadcast(&world.settled);
    world_leave();
    leave();
    return NULL;
}

int toevt_begin(void *fn, const long *args)
{
    int r;

    if (call.begun)
        return -1;
    memset(&call, 0, sizeof(call));
    memcpy(&call.fn, &fn, sizeof(fn));
    memcpy(call.args, args, sizeof(call.args));
    enter();
    if (pthread_create(&call.thread, NULL, run_call, NULL) != 0) {
        leave();
        return -1;
    }
    call.begun = 1;
    while (!call.ended && !world.sleepers)
        pthread_cond_wait(&world.settled, &world.lock);
    r = call.ended;
    leave();
    return r;
}

void toevt_cancel(void)
{
    enter();
    world_cancel();
    leave();
}

int toevt_ended(long *result, int *error, uint64_t *at)
{
    int r;

    enter();
    r = call.begun && call.ended;
    leave();
    if (!r)
        return 0;
    pthread_join(call.thread, NULL);
    *result = call.result;
    *error = call.error;
    *at = call.at;
    call.begun = 0;
    return 1;
}
