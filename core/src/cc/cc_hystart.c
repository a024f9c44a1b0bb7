/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_hystart.c - HyStart++ (RFC 9406): ends slow start when the round-trip time grows, before the
 * queue overflows. Conservative Slow Start then checks whether the growth was only jitter.
 * R9438-08, R9406-01, R9406-02.
 *
 * The least delay of a round is that of its first segments, which find the queue empty until the
 * window fills the path when a round begins. By then the last segments of the round before may have
 * overflowed a queue of half a BDP. So CUBIC also uses the train of ACKs of hybrid slow start (RFC
 * 9438 4.10; Ha and Rhee, "Taming the Elephants", 2011), as Linux does.
 */
#include "cc_hystart.h"

#define NONE            0xffffffffu
#define MIN_RTT_THRESH  3906u  /* 4 ms in 2^10 ns */
#define MAX_RTT_THRESH  15625u /* 16 ms */
#define MIN_RTT_DIVISOR 8u
#define RTT_SAMPLES     8u
#define CSS_GROWTH      4u
#define CSS_ROUNDS      5u

/* The train, as in Linux: ACKs at most 2 ms apart, windows of at least 16 segments, and at most 1
 * ms for the time that a sender's offload holds data back. */
#define TRAIN_GAP    1953u /* 2 ms in 2^10 ns */
#define TRAIN_WINDOW 16u
#define TRAIN_DELAY  977u /* 1 ms */

static void next_round(struct toec_tcb *t, struct toec_hystart *h, toec_u32 stamp)
{
    h->last_min = h->now_min;
    h->now_min = NONE;
    h->window_end = t->snd_max;
    t->cc.hs_samples = 0;
    if (t->cc.hs_phase == TOEC_HS_SLOW) {
        h->base = stamp;
        t->cc.hs_count = 1;
    }
}

void toec_hystart_begin(struct toec_tcb *t, struct toec_hystart *h)
{
    h->now_min = NONE;
    t->cc.hs_phase = TOEC_HS_SLOW;
    t->cc.sampling = 1; /* an RTT from every ACK */
    next_round(t, h, 0);
    t->cc.hs_count = 0; /* no ACK has arrived yet */
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
        if (h->now_min < h->base) { /* it was jitter: back to slow start, */
            c->hs_phase = TOEC_HS_SLOW;
            c->hs_count = 0; /* ... without a train until the next gap or round */
        }
        return;
    }
    if (h->last_min == NONE)
        return;
    thresh = TOEC_MIN(TOEC_MAX(h->last_min / MIN_RTT_DIVISOR, MIN_RTT_THRESH), MAX_RTT_THRESH);
    if (h->now_min >= h->last_min + thresh) {
        h->base = h->now_min;
        c->hs_phase = TOEC_HS_CSS;
        c->hs_count = 0;
    }
}

/* Handles an ACK that ends a round; returns not 0 when slow start is over. */
static int round_over(struct toec_tcb *t, struct toec_hystart *h, toec_u32 stamp)
{
    /* The round in which CSS began counts in full. */
    if (t->cc.hs_phase == TOEC_HS_CSS && ++t->cc.hs_count >= CSS_ROUNDS) {
        over(t);
        return 1;
    }
    next_round(t, h, stamp);
    return 0;
}

/* Returns the length of a train that fills the path: half of the shortest round trip, as the window
 * was doubled in that time, and of the time of a burst of four offloaded segments of 64 KiB at the
 * rate 2 * cwnd / SRTT. */
static toec_u32 train_length(const struct toec_tcb *t)
{
    toec_u64 burst = toec_div64((toec_u64)(t->srtt >> 3) << 17, t->cwnd);

    return (t->min_rtt + (toec_u32)TOEC_MIN(burst, TRAIN_DELAY)) / 2;
}

/* ACKs of a paced flow follow each other at its own rate and show nothing. */
void toec_hystart_train(struct toec_tcb *t, struct toec_hystart *h, toec_u32 stamp, toec_u32 since)
{
    toec_u32 length = stamp - h->base;

    if (t->cc.hs_phase != TOEC_HS_SLOW)
        return;
    if (since > TRAIN_GAP || toec_pace_rate(t)) {
        h->base = stamp;
        t->cc.hs_count = 1;
    } else if (t->cc.hs_count && t->min_rtt && length > t->min_rtt / 2 &&
               t->cwnd >= TRAIN_WINDOW * t->mss && length > train_length(t)) {
        t->cc.ssthresh = t->cwnd;
    }
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
        /* A round begins with the first ACK of the next flight. If it began with the last ACK of
         * this one, windowEnd would be short of the next flight by the data that this ACK releases,
         * twice as much in each round, and rounds would begin amid queued segments. */
        if (TOEC_SEQ_GT(t->snd_una, h->window_end) && round_over(t, h, toec_stamp(a->now))) {
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
