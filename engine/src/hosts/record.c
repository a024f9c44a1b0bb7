/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - flow records: a snapshot of each connection for its host, refreshed on change at a
 * bounded rate, with a sequence count against torn reads (docs/device-contract.md, Flow records).
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "qp.h"
#include "record.h"

/* The shortest time between two refreshes of a record, and the most refreshes in one step. */
#define REFRESH_TIME  (20 * NS_PER_MS)
#define REFRESH_BATCH 8u

static void fill(const struct slot *s, struct toedev_flow_record *r)
{
    struct toec_info i;

    r->generation = s->generation;
    r->soft_error = s->soft_error;
    if (!s->flow) {
        r->state = TOEC_CLOSED;
        return;
    }
    memset(&i, 0, sizeof(i));
    toec_flow_info(s->qp->engine->stack, s->flow, &i);
    r->state = i.state;
    r->opts = i.opts;
    r->ws_send = i.ws_send;
    r->ws_recv = i.ws_recv;
    memcpy(r->local, i.local.b, sizeof(r->local));
    memcpy(r->remote, i.remote.b, sizeof(r->remote));
    r->local_port = i.local_port;
    r->remote_port = i.remote_port;
    r->mss_send = (uint16_t)i.mss_send;
    r->mss_recv = (uint16_t)i.mss_recv;
    r->pmtu = (uint16_t)i.pmtu;
    r->srtt_us = i.srtt_us;
    r->rttvar_us = i.rttvar_us;
    r->rto_us = i.rto_us;
    r->min_rtt_us = i.min_rtt_us;
    r->cwnd = i.cwnd;
    r->ssthresh = i.ssthresh;
    r->snd_wnd = i.snd_wnd;
    r->rcv_wnd = i.rcv_wnd;
    r->retransmits = i.retransmits;
    r->in_flight = i.in_flight;
    r->delivery_rate = i.delivery_rate;
    r->pacing_rate = i.pacing_rate;
    r->cc = i.cc;
    r->app_limited = (i.opts & TOEC_I_APP_LIMITED) != 0;
    r->sacked = i.sacked;
    r->lost = i.lost;
    r->retrans_out = i.retrans_out;
    r->lost_total = i.lost_total;
    r->dsacks = i.dsacks;
    r->reord_seen = i.reord_seen;
    r->undone = i.undone;
    r->bytes_retrans = i.bytes_retrans;
    r->reordering = i.reordering;
    r->ca_state = i.ca_state;
    r->timeouts = i.timeouts;
    r->backoff = i.backoff;
    r->bytes_sent = i.bytes_sent;
    r->bytes_acked = i.bytes_acked;
    r->bytes_received = i.bytes_received;
}

void record_write(struct slot *s)
{
    struct toedev_flow_record *shared = record_of(s);
    struct toedev_flow_record r;

    /* Fields stay after the flow has ended. The host may change the claim at any time. */
    memcpy(&r, shared, offsetof(struct toedev_flow_record, claim));
    fill(s, &r);
    /* The sequence count is kept in private memory: the host may have overwritten the shared
     * one. */
    r.seq = s->record_seq + 1;
    __atomic_store_n(&shared->seq, r.seq, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy((uint8_t *)shared + sizeof(r.seq), (uint8_t *)&r + sizeof(r.seq),
           offsetof(struct toedev_flow_record, claim) - sizeof(r.seq));
    s->record_seq += 2;
    __atomic_store_n(&shared->seq, s->record_seq, __ATOMIC_RELEASE);
}

uint16_t record_port(const struct slot *s)
{
    return record_of(s)->local_port;
}

void record_unclaim(const struct slot *s)
{
    __atomic_store_n(&record_of(s)->claim, TOEDEV_CLAIM_NONE, __ATOMIC_RELEASE);
}

int record_claim(const struct slot *s)
{
    uint32_t none = TOEDEV_CLAIM_NONE;

    return __atomic_compare_exchange_n(&record_of(s)->claim, &none, TOEDEV_CLAIM_TOE, 0,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void record_touch(struct slot *s)
{
    struct engine *e = s->qp->engine;

    if (s->dirty || s->qp->notify) /* a host in this thread requests it when needed */
        return;
    s->dirty = 1;
    s->dirty_at = e->now;
    s->dirty_next = NULL;
    if (e->dirty_last)
        e->dirty_last->dirty_next = s;
    else
        e->dirty_first = s;
    e->dirty_last = s;
}

void records_refresh(struct engine *e)
{
    unsigned n;

    for (n = 0; n < REFRESH_BATCH; n++) {
        struct slot *s = e->dirty_first;

        if (!s || e->now - s->dirty_at < REFRESH_TIME)
            return;
        e->dirty_first = s->dirty_next;
        if (!e->dirty_first)
            e->dirty_last = NULL;
        s->dirty = 0;
        if (s->flow && s->state != SLOT_OPENING)
            record_write(s);
    }
}

uint64_t records_deadline(const struct engine *e)
{
    return e->dirty_first ? e->dirty_first->dirty_at + REFRESH_TIME : UINT64_MAX;
}
