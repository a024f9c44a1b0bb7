/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_hystart.c - HyStart++ (RFC 9406): ends slow start when the round-trip time grows, before the
 * queue overflows. Conservative Slow Start then checks whether the growth was only jitter.
 * R9438-08, R9406-01, R9406-02.
 */
#include "cc_hystart.h"

#define NONE            0xffffffffu
#define MIN_RTT_THRESH  3906u  /* 4 ms in 2^10 ns */
#define MAX_RTT_THRESH  15625u /* 16 ms */
#define MIN_RTT_DIVISOR 8u
#define RTT_SAMPLES     8u
#define CSS_GROWTH      4u
#define CSS_ROUNDS      5u

static void next_round(struct toec_tcb *t, struct toec_hystart *h)
{
    h->last_min = h->now_min;
    h->now_min = NONE;
    h->window_end = t->snd_max;
    t->cc.hs_samples = 0;
}

void toec_hystart_begin(struct toec_tcb *t, struct toec_hystart *h)
{
    h->now_min = NONE;
    h->baseline = NONE;
    t->cc.hs_phase = TOEC_HS_SLOW;
    t->cc.sampling = 1; /* an RTT from every ACK */
    next_round(t, h);
}

static void over(struct toec_tcb *t)
{
    if (t->cc.hs_phase == TOEC_HS_OVER)
        return;
    t->cc.hs_phase = TOEC_HS_OVER;
    t->cc.sampling = (t->cc_ops->flags & TOEC_CC_RATE) != 0;
}

static void take_sample(struct toec_cc_state *c, struct toec_hystart *h, toec_u32 rtt)
{
    toec_u32 thresh;

    if (c->hs_samples < 255)
        c->hs_samples++;
    if (rtt < h->now_min)
        h->now_min = rtt;
    if (c->hs_samples < RTT_SAMPLES)
        return;
    if (c->hs_phase == TOEC_HS_CSS) {
        if (h->now_min < h->baseline) { /* it was jitter: back to slow start */
            h->baseline = NONE;
            c->hs_phase = TOEC_HS_SLOW;
        }
        return;
    }
    if (h->last_min == NONE)
        return;
    thresh = TOEC_MIN(TOEC_MAX(h->last_min / MIN_RTT_DIVISOR, MIN_RTT_THRESH), MAX_RTT_THRESH);
    if (h->now_min >= h->last_min + thresh) {
        h->baseline = h->now_min;
        c->hs_phase = TOEC_HS_CSS;
        c->hs_rounds = 0;
    }
}

/* Handles an ACK that ends a round; returns not 0 when slow start is over. */
static int round_over(struct toec_tcb *t, struct toec_hystart *h)
{
    /* The round in which CSS began counts in full. */
    if (t->cc.hs_phase == TOEC_HS_CSS && ++t->cc.hs_rounds >= CSS_ROUNDS) {
        over(t);
        return 1;
    }
    next_round(t, h);
    return 0;
}

toec_u32 toec_cc_slow_start(struct toec_tcb *t, struct toec_hystart *h, const struct toec_cc_ack *a)
{
    toec_u32 n = a->grow, room, rtt = a->run_rtt ? a->run_rtt : a->rtt;

    if (t->cwnd >= t->cc.ssthresh) {
        over(t);
        return n;
    }
    /* Only in the first slow start: a later one ends at a measured ssthresh (4.3). */
    if (t->cc.ssthresh < TOEC_CWND_MAX)
        over(t);
    if (t->cc.hs_phase != TOEC_HS_OVER) {
        if (t->cc.hs_phase == TOEC_HS_CSS)
            n /= CSS_GROWTH;
        if (rtt)
            take_sample(&t->cc, h, rtt);
        if (TOEC_SEQ_GE(t->snd_una, h->window_end) && round_over(t, h)) {
            t->cc.ssthresh = t->cwnd;
            return 0;
        }
    }
    /* R5681-02, R5681-03: bytes counted, so that dividing ACKs gains nothing (RFC 3465) */
    room = t->cc.ssthresh - t->cwnd;
    if (room > n)
        room = n;
    t->cwnd += room;
    return n - room;
}
