/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - events and flow records of agents (toe.h). An event is first noted in its agent, which
 * is listed once: successive DATA_RECEIVED and SEND_COMPLETE merge, and a full HW ring loses
 * nothing.
 */
#include <stddef.h>

#include <toe/cmd.h>
#include <toe/device.h>

#include "toe.h"

void *memset(void *dst, int c, size_t n);
void *memcpy(void *restrict dst, const void *restrict src, size_t n);

#define REFRESH_TIME  20000000u /* ns between two writes of a record */
#define REFRESH_BATCH 8u

void report_pend(struct agent *a, unsigned what)
{
    a->pending |= (uint8_t)what;
    if (a->queued)
        return;
    a->queued = 1;
    a->next = 0;
    if (toe.pend_last)
        toe.pend_last->next = a;
    else
        toe.pend_first = a;
    toe.pend_last = a;
}

void report_drop(struct agent *a)
{
    struct agent **at = &toe.pend_first, *before = 0;

    a->pending = 0;
    if (!a->queued)
        return;
    while (*at != a) {
        before = *at;
        at = &before->next;
    }
    *at = a->next;
    if (toe.pend_last == a)
        toe.pend_last = before;
    a->queued = 0;
}

/* Writes one event of the agent. Returns -1 when the HW ring has no room. */
static int report_one(struct agent *a, unsigned what)
{
    switch (what) {
    case PEND_ESTABLISHED:
        return a->active ? host_event(a->at, TOE_CMD_CONNECT_ESTABLISHED, a->cookie, 0, &a->peer)
                         : host_event(a->at, TOE_CMD_LISTEN_ESTABLISHED, 0, a->cookie, &a->peer);
    case PEND_URGENT:
        return host_event(a->at, TOE_CMD_URGENT, a->urgent_at, 0, 0);
    case PEND_DATA:
        return host_event(a->at, TOE_CMD_DATA_RECEIVED, a->pend_data, 0, 0);
    case PEND_ACKED:
        if (a->current && a->flow)
            report_record(a);
        return host_event(a->at, TOE_CMD_SEND_COMPLETE, a->pend_acked, 0, 0);
    case PEND_HALF:
        return host_event(a->at, TOE_CMD_CLOSE_EVENT | TOE_F_CLOSE_EVENT_HALF << 8, 0, 0, 0);
    case PEND_FINAL:
        return host_event(a->at, TOE_CMD_CLOSE_EVENT | (uint32_t)a->reason << 16, 0, 0, 0);
    default: /* PEND_FAILED */
        return host_event(a->at, TOE_CMD_CONNECT_FAILED | (uint32_t)a->reason << 16, a->cookie,
                          a->peer.own_port, 0);
    }
}

/* Updates what the host may command after this notification. */
static void reported(struct agent *a, unsigned what)
{
    a->pending &= (uint8_t)~what;
    if (what == PEND_ESTABLISHED)
        a->announced = 1;
    if (what == PEND_DATA) {
        a->rx_reported += a->pend_data;
        a->pend_data = 0;
    }
    if (what == PEND_ACKED)
        a->pend_acked = 0;
}

int report_flush(void)
{
    struct agent *a = toe.pend_first, *next;
    int left = 0;

    for (; a; a = next) {
        next = a->next;
        while (a->pending) {
            unsigned what = a->pending & (0u - a->pending);

            if (report_one(a, what) != 0)
                break;
            reported(a, what);
            if (what == PEND_FAILED) {
                agent_free(a);
                break;
            }
        }
        if (a->state != AGENT_FREE && a->pending)
            left = 1; /* its HW ring is full: it stays in the list */
        else if (a->queued)
            report_drop(a);
    }
    return left;
}

/* ---- records ---- */

static void fill(const struct agent *a, struct toedev_flow_record *r)
{
    struct toec_info i;

    memset(&i, 0, sizeof(i));
    toec_flow_info(toe.stack, a->flow, &i);
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

void report_record(struct agent *a)
{
    static union {
        struct toedev_flow_record record;
        uint32_t words[TOEDEV_RECORD / 4];
    } image;

    if (a->at.slot == NO_SLOT || !a->flow)
        return;
    memset(&image, 0, sizeof(image));
    fill(a, &image.record);
    image.record.generation = a->generation;
    image.record.soft_error = a->soft_error;
    a->record_seq += 2;
    host_record(a->at, image.words, a->record_seq);
}

void report_touch(struct agent *a)
{
    if (a->dirty)
        return;
    a->dirty = 1;
    if (toe.refresh_at == TOEC_NEVER)
        toe.refresh_at = toe.now + REFRESH_TIME;
}

void report_refresh(void)
{
    unsigned i, n = 0;

    if (toe.now < toe.refresh_at)
        return;
    toe.refresh_at = TOEC_NEVER;
    for (i = 0; i < AGENTS; i++) {
        struct agent *a = &toe.agents[i];

        if (a->state == AGENT_FREE || !a->dirty)
            continue;
        if (n == REFRESH_BATCH) {
            toe.refresh_at = toe.now; /* the rest in the next round */
            return;
        }
        a->dirty = 0;
        if (a->state == AGENT_OPEN || a->state == AGENT_CLOSING) {
            report_record(a);
            n++;
        }
    }
}
