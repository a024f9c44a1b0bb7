/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_bbr1_model.c - version 1 of BBR: its model of the path. The bandwidth is the maximum of ten
 * rounds. ACK aggregation and policers are as in Linux (tcp_bbr.c): the draft has neither.
 */
#include "cc_bbr1.h"

#include "../tcp/tcb.h"

#define BW_ROUNDS    10u
#define EXTRA_ROUNDS 5u
#define EXTRA_MAX    (1u << 30) /* bytes after which the measurement begins again */

/* A policer: two successive intervals of at least four rounds lose 50 of 256 bytes or more and have
 * the same rate within an eighth or 4 kbit/s. Its rate is then used for 48 rounds. */
#define LT_ROUNDS      4u
#define LT_ROUNDS_MOST (4u * LT_ROUNDS)
#define LT_LOSS        50u
#define LT_RATIO_SHIFT 3
#define LT_DIFFERENCE  537u /* 500 bytes/s, in bytes per 2^30 ns */
#define LT_USED_ROUNDS 48u
#define LT_TIME_MOST   0x7fffffffu

/* ---- bandwidth ---- */

/* Updates a maximum over a window of rounds with three samples, after Kathleen Nichols' windowed
 * filter: the second and third best are younger and take over when the best expires. */
static void filter_max(struct toec_bbr1_bw *best, toec_u32 round, toec_u64 bw)
{
    struct toec_bbr1_bw now;
    toec_u32 age = round - best[0].round;

    now.bw = bw;
    now.round = round;
    if (bw >= best[0].bw || round - best[2].round > BW_ROUNDS) {
        best[0] = best[1] = best[2] = now;
        return;
    }
    if (bw >= best[1].bw)
        best[1] = best[2] = now;
    else if (bw >= best[2].bw)
        best[2] = now;
    if (age > BW_ROUNDS) {
        best[0] = best[1];
        best[1] = best[2];
        best[2] = now;
        if (round - best[0].round > BW_ROUNDS) {
            best[0] = best[1];
            best[1] = best[2];
        }
    } else if (best[1].round == best[0].round && age > BW_ROUNDS / 4) {
        best[1] = best[2] = now; /* a quarter of the window without a second best */
    } else if (best[2].round == best[1].round && age > BW_ROUNDS / 2) {
        best[2] = now;
    }
}

toec_u64 toec_bbr1_max_bw(const struct toec_cc_bbr1 *b)
{
    return b->best[0].bw;
}

toec_u64 toec_bbr1_bw(const struct toec_cc_bbr1 *b)
{
    return b->lt_used ? b->lt_bw : b->best[0].bw;
}

/* ---- policers ---- */

static void begin_interval(struct toec_tcb *t)
{
    struct toec_cc_bbr1 *b = t->cc.u.bbr1;
    const struct toec_tcp_rate *r = toec_rate_of(t);

    b->lt_stamp = r->delivered_at;
    b->lt_delivered = r->delivered;
    b->lt_lost = r->lost;
    b->lt_rounds = 0;
}

void toec_bbr1_reset_policer(struct toec_tcb *t)
{
    struct toec_cc_bbr1 *b = t->cc.u.bbr1;

    b->lt_bw = 0;
    b->lt_used = 0;
    b->lt_sampling = 0;
    begin_interval(t);
}

/* Ends an interval with much loss: two of the same rate show a policer. */
static void end_interval(struct toec_tcb *t, toec_u64 bw)
{
    struct toec_cc_bbr1 *b = t->cc.u.bbr1;
    toec_u64 apart = bw > b->lt_bw ? bw - b->lt_bw : b->lt_bw - bw;

    if (b->lt_bw && (apart <= b->lt_bw >> LT_RATIO_SHIFT || apart <= LT_DIFFERENCE)) {
        b->lt_bw = (bw + b->lt_bw) / 2;
        b->lt_used = 1;
        b->lt_rounds = 0;
        return;
    }
    b->lt_bw = bw;
    begin_interval(t);
}

/* Looks for a policer while none is known. */
static void sample_policer(struct toec_tcb *t, int lost, int app_limited)
{
    struct toec_cc_bbr1 *b = t->cc.u.bbr1;
    const struct toec_tcp_rate *r = toec_rate_of(t);
    toec_u32 delivered, time;

    if (!b->lt_sampling) {
        if (!lost)
            return;
        begin_interval(t); /* an interval begins and ends with a loss: tokens are used up then */
        b->lt_sampling = 1;
    }
    if (app_limited) {
        toec_bbr1_reset_policer(t);
        return;
    }
    b->lt_rounds = (toec_u8)(b->lt_rounds + b->round_start);
    if (b->lt_rounds < LT_ROUNDS)
        return;
    time = r->delivered_at - b->lt_stamp;
    if (b->lt_rounds > LT_ROUNDS_MOST || time > LT_TIME_MOST) {
        toec_bbr1_reset_policer(t);
        return;
    }
    delivered = r->delivered - b->lt_delivered;
    if (!lost || !delivered || !time ||
        (toec_u64)(r->lost - b->lt_lost) << 8 < (toec_u64)delivered * LT_LOSS)
        return;
    end_interval(t, toec_div64((toec_u64)delivered << 20, time));
}

static void update_policer(struct toec_tcb *t, int lost, int app_limited)
{
    struct toec_cc_bbr1 *b = t->cc.u.bbr1;

    if (!b->lt_used) {
        sample_policer(t, lost, app_limited);
    } else if (b->state == TOEC_BBR1_PROBE_BW && b->round_start &&
               ++b->lt_rounds >= LT_USED_ROUNDS) {
        toec_bbr1_reset_policer(t); /* the path may have changed: probe again */
        toec_bbr1_probe_bw(b, toec_rate_of(t)->delivered_at);
    }
}

void toec_bbr1_policer_lost(struct toec_tcb *t)
{
    t->cc.u.bbr1->round_start = 1; /* an RTO ends a round */
    update_policer(t, 1, 0);
}

/* ---- one ACK ---- */

void toec_bbr1_update_bw(struct toec_tcb *t, const struct toec_rate_sample *rs)
{
    struct toec_cc_bbr1 *b = t->cc.u.bbr1;
    toec_u64 bw;

    b->round_start = 0;
    if (rs->interval == 0)
        return;
    if (TOEC_SEQ_GE(rs->prior_delivered, b->next_round_delivered)) {
        b->next_round_delivered = toec_rate_of(t)->delivered;
        b->round_count++;
        b->round_start = 1;
        b->conserving = 0;
    }
    update_policer(t, rs->newly_lost != 0, rs->app_limited);
    bw = TOEC_MIN(toec_div64((toec_u64)rs->delivered << 20, rs->interval), TOEC_PACE_MAX);
    if (!rs->app_limited || bw >= toec_bbr1_max_bw(b))
        filter_max(b->best, b->round_count, bw);
}

void toec_bbr1_update_aggregation(struct toec_tcb *t, const struct toec_rate_sample *rs,
                                  toec_u32 stamp)
{
    struct toec_cc_bbr1 *b = t->cc.u.bbr1;
    toec_u32 interval = TOEC_MIN(stamp - b->extra_acked_start, 1u << 23), extra;
    toec_u64 expected = toec_bbr1_bw(b) * interval >> 20;

    if (rs->interval == 0)
        return;
    if (b->round_start && ++b->extra_acked_rounds >= EXTRA_ROUNDS) {
        b->extra_acked_rounds = 0;
        b->extra_acked_now ^= 1;
        b->extra_acked[b->extra_acked_now] = 0;
    }
    if (b->extra_acked_delivered <= expected ||
        b->extra_acked_delivered + rs->newly_acked >= EXTRA_MAX) {
        b->extra_acked_delivered = 0;
        b->extra_acked_start = stamp;
        expected = 0;
    }
    b->extra_acked_delivered += rs->newly_acked;
    extra = b->extra_acked_delivered - (toec_u32)TOEC_MIN(expected, b->extra_acked_delivered);
    extra = TOEC_MIN(extra, t->cwnd);
    if (extra > b->extra_acked[b->extra_acked_now])
        b->extra_acked[b->extra_acked_now] = extra;
}
