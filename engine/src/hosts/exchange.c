/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - times of one flow's exchanges (exchange.h). */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "exchange.h"
#include "trace.h"

static void set_timed(struct engine *e, struct slot *s)
{
    if (e->timed)
        toe_ring_store(&e->timed->qp->status->timed, 0);
    e->timed = s;
    if (s)
        toe_ring_store(&s->qp->status->timed, s->index + 1);
}

int exchange_begin(struct engine *e, struct slot *s)
{
    struct exchanges *x = e->exchanges;

    if (e->timed && e->timed != s && e->now < x->until)
        return 1;
    if (!x)
        x = e->exchanges = lines_calloc(1, sizeof(*x));
    if (!x)
        return -1;
    x->until = e->now + EXCHANGE_LEASE;
    if (e->timed == s)
        return 0;
    memset(x, 0, offsetof(struct exchanges, done));
    x->until = e->now + EXCHANGE_LEASE;
    x->clock = engine_clock;
    trace_id(s, &x->ring, &x->serial);
    set_timed(e, s);
    return 0;
}

void exchange_end(struct engine *e)
{
    set_timed(e, NULL);
}

uint32_t exchange_copy(const struct exchanges *x, struct exchange *out, uint64_t *first)
{
    uint64_t i;
    uint32_t n = 0;

    *first = x->head > EXCHANGES ? x->head - EXCHANGES : 0;
    for (i = *first; i < x->head; i++)
        out[n++] = x->done[i & (EXCHANGES - 1)];
    if (x->phase == EXCHANGE_ANSWERED)
        out[n++] = x->now;
    return n;
}

/* ---- hooks ---- */

static void arrived(struct exchanges *x, uint64_t now, uint32_t bytes)
{
    x->arrived = now;
    x->arrived_bytes += bytes;
}

static void acked(struct exchanges *x, uint64_t now, uint32_t bytes)
{
    if (x->unacked == 0)
        return;
    x->unacked -= bytes < x->unacked ? bytes : x->unacked;
    if (x->unacked == 0)
        x->now.at[EXCHANGE_ACKED] = now;
}

void exchange_event(struct engine *e, enum toec_event event, uint32_t bytes)
{
    if (event == TOEC_EV_DATA)
        arrived(e->exchanges, e->now, bytes);
    else if (event == TOEC_EV_ACKED)
        acked(e->exchanges, e->now, bytes);
}

/* Ends the current exchange. */
static void next(struct exchanges *x)
{
    uint64_t out = x->now.at[EXCHANGE_OUT];

    if (x->phase >= EXCHANGE_SENDING && out) {
        x->done[x->head & (EXCHANGES - 1)] = x->now;
        x->head++;
    }
    memset(&x->now, 0, sizeof(x->now));
    x->now.at[EXCHANGE_BEFORE] = out;
    x->unacked = 0;
}

void exchange_notified(struct engine *e)
{
    struct exchanges *x = e->exchanges;

    if (e->now >= x->until) {
        exchange_end(e);
        return;
    }
    if (!x->arrived)
        return; /* from before the timing began */
    if (x->phase >= EXCHANGE_SENDING)
        next(x);
    x->phase = EXCHANGE_ASKED;
    x->now.at[EXCHANGE_EVENT] = x->clock();
    /* The clock of rounds may be some ns ahead (toe/tsc.h). */
    x->now.at[EXCHANGE_IN] =
        x->arrived < x->now.at[EXCHANGE_EVENT] ? x->arrived : x->now.at[EXCHANGE_EVENT];
    x->now.bytes_in += x->arrived_bytes;
    x->arrived = 0;
    x->arrived_bytes = 0;
}

static uint64_t stamp(const uint64_t *at, uint64_t from, uint64_t to)
{
    uint64_t t = __atomic_load_n(at, __ATOMIC_RELAXED);

    return t >= from && t <= to ? t : 0;
}

/* Takes the host's times. They are shared memory: what is out of order is not known. */
static void take_stamps(struct exchange *x, const struct toedev_stamps *s)
{
    uint64_t event = x->at[EXCHANGE_EVENT], now = x->at[EXCHANGE_COMMAND], taken, posted, write;

    taken = event ? stamp(&s->taken, event, now) : 0;
    posted = taken ? stamp(&s->posted, taken, now) : 0;
    if (!posted)
        return;
    write = stamp(&s->write, taken, posted);
    x->at[EXCHANGE_TAKEN] = taken;
    x->at[EXCHANGE_WRITE] = write ? write : posted;
    x->at[EXCHANGE_READ] = stamp(&s->read, taken, x->at[EXCHANGE_WRITE]);
    x->at[EXCHANGE_POSTED] = posted;
}

void exchange_send(struct engine *e, uint32_t bytes)
{
    struct exchanges *x = e->exchanges;
    const struct slot *s = e->timed;

    x->now.bytes_out += bytes;
    if (x->phase >= EXCHANGE_SENDING)
        return;
    x->phase = EXCHANGE_SENDING;
    x->now.at[EXCHANGE_COMMAND] = x->clock();
    x->unacked = s->tx_used + bytes;
    take_stamps(&x->now, &s->qp->doorbells->stamps);
}

void exchange_frame(struct engine *e)
{
    if (e->exchanges->phase == EXCHANGE_SENDING)
        e->exchanges->phase = EXCHANGE_LEAVING;
}

void exchange_flushed(struct engine *e)
{
    struct exchanges *x = e->exchanges;

    if (x->phase != EXCHANGE_LEAVING)
        return;
    x->phase = EXCHANGE_ANSWERED;
    x->now.at[EXCHANGE_OUT] = x->clock();
}
