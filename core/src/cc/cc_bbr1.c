/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_bbr1.c - BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00) as Linux has it under
 * the name "bbr": the state machine and the control of cwnd and pacing rate. The model of the path
 * is in cc_bbr1_model.c.
 *
 * It takes a loss for no sign of congestion: it fills paths with random loss on which version 3
 * (cc_bbr.c) slows down, and loses more where a queue overflows. A loss has two effects: a round of
 * packet conservation, and lost bytes leave cwnd until as many are delivered.
 */
#include "cc_bbr1.h"

#include "../tcp/tcb.h"
#include "tcp_record.h"

#define BBR1(t) ((t)->cc.u.bbr1)

#define UNIT           256u
#define HIGH_GAIN      739u /* 2/ln(2) */
#define DRAIN_GAIN     88u  /* its inverse */
#define CWND_GAIN      512u
#define MIN_PIPE(t)    (4u * (t)->mss)
#define PACING_MARGIN  1u /* percent */
#define MS(ms)         ((toec_u32)((toec_u64)(ms)*15625u >> 4))
#define MIN_RTT_FILTER MS(10000)
#define PROBE_RTT_TIME MS(200)
#define EXTRA_TIME     MS(100) /* extra_acked is at most that much at the bandwidth */
#define NO_RTT         0xffffffffu

/* An overflow in Startup: so many segments lost in a round, and so much of what was delivered. */
#define OVERFLOW_LEAST 32u
#define OVERFLOW_PART  8u

/* Pacing gains of ProbeBW: probe, drain what the probe has queued, cruise. */
static const toec_u16 cycle_gain[TOEC_BBR1_CYCLE] = {320, 192, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT};

static toec_u32 random_of(struct toec_cc_bbr1 *b)
{
    toec_u32 x = b->random; /* xorshift: spreads flows in time, not secure */

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    b->random = x;
    return x;
}

/* ---- gains and volumes ---- */

static unsigned pacing_gain(const struct toec_cc_bbr1 *b)
{
    switch (b->state) {
    case TOEC_BBR1_STARTUP:
        return HIGH_GAIN;
    case TOEC_BBR1_DRAIN:
        return DRAIN_GAIN;
    case TOEC_BBR1_PROBE_BW:
        return b->lt_used ? UNIT : cycle_gain[b->cycle];
    default:
        return UNIT;
    }
}

static unsigned cwnd_gain(const struct toec_cc_bbr1 *b)
{
    if (b->state == TOEC_BBR1_STARTUP || b->state == TOEC_BBR1_DRAIN)
        return HIGH_GAIN;
    return b->state == TOEC_BBR1_PROBE_BW ? CWND_GAIN : UNIT;
}

/* Returns gain/256 * bw * min_rtt. */
static toec_u32 bdp(const struct toec_tcb *t, toec_u64 bw, unsigned gain)
{
    toec_u32 rtt = BBR1(t)->min_rtt;
    toec_u64 volume;

    if (rtt == NO_RTT)
        return toec_cc_initial_window(t);
    rtt = TOEC_MIN(rtt, (1u << 23) - 1); /* 8.6 s; bw is at most 2^40 */
    volume = TOEC_MIN(bw * rtt >> 20, (toec_u64)TOEC_CWND_MAX);
    return (toec_u32)TOEC_MIN(volume * gain >> 8, (toec_u64)TOEC_CWND_MAX);
}

/* Adds what offloads and pacing hold back: three bursts, and two segments for a probe of a path
 * whose BDP is less than that. */
static toec_u32 quantize(const struct toec_tcb *t, toec_u32 volume)
{
    const struct toec_cc_bbr1 *b = BBR1(t);

    volume += 3u * t->pace->quantum;
    volume += t->mss - 1;
    volume -= volume % t->mss; /* NOLINT(clang-analyzer-core.DivideZero): no flow has an MSS of 0 */
    if (b->state == TOEC_BBR1_PROBE_BW && b->cycle == 0)
        volume += 2u * t->mss;
    return volume;
}

static toec_u32 inflight(const struct toec_tcb *t, unsigned gain)
{
    return quantize(t, bdp(t, toec_bbr1_max_bw(BBR1(t)), gain));
}

/* ---- control ---- */

static void set_pacing_rate(struct toec_tcb *t, toec_u64 bw, unsigned gain)
{
    const struct toec_cc_bbr1 *b = BBR1(t);
    toec_u64 rate = toec_div64((bw * gain >> 8) * (100 - PACING_MARGIN), 100);

    if (bw == 0) /* no sample yet */
        return;
    if (b->full_bw_reached || rate > toec_pace_rate(t) || toec_pace_max(t))
        toec_pace_set(t, rate);
}

static void init_pacing_rate(struct toec_tcb *t)
{
    toec_u32 rtt = t->srtt ? t->srtt >> 3 : MS(1);
    toec_u64 bw = toec_div64((toec_u64)t->cwnd << 20, TOEC_MAX(rtt, 1u));

    BBR1(t)->rtt_seen = t->srtt != 0;
    toec_pace_set(t, bw * HIGH_GAIN >> 8);
}

static void save_cwnd(struct toec_tcb *t)
{
    struct toec_cc_bbr1 *b = BBR1(t);

    if (!b->recovering && b->state != TOEC_BBR1_PROBE_RTT)
        b->prior_cwnd = t->cwnd;
    else
        b->prior_cwnd = TOEC_MAX(b->prior_cwnd, t->cwnd);
}

static void restore_cwnd(struct toec_tcb *t)
{
    t->cwnd = TOEC_MAX(t->cwnd, BBR1(t)->prior_cwnd);
}

/* Adapts cwnd to recovery. Returns not 0 in the first round of fast recovery, when cwnd is only
 * what is delivered. */
static int conserve_or_restore(struct toec_tcb *t, const struct toec_rate_sample *rs)
{
    struct toec_cc_bbr1 *b = BBR1(t);
    int recovering = (t->flags & (TOEC_F_FAST | TOEC_F_LOSS)) != 0;

    if (rs->newly_lost)
        t->cwnd = t->cwnd > rs->newly_lost + t->mss ? t->cwnd - rs->newly_lost : t->mss;
    if ((t->flags & TOEC_F_FAST) && !b->recovering) {
        b->conserving = 1;
        b->next_round_delivered = toec_rate_of(t)->delivered; /* a round from here on */
        t->cwnd = toec_pipe(t) + rs->newly_acked;
    } else if (b->recovering && !recovering) {
        b->conserving = 0;
        restore_cwnd(t);
    }
    b->recovering = (toec_u8)recovering;
    if (b->conserving)
        t->cwnd = TOEC_MAX(t->cwnd, toec_pipe(t) + rs->newly_acked);
    return b->conserving;
}

static void set_cwnd(struct toec_tcb *t, const struct toec_rate_sample *rs)
{
    struct toec_cc_bbr1 *b = BBR1(t);
    toec_u64 bw = toec_bbr1_bw(b);
    toec_u32 most = bdp(t, bw, cwnd_gain(b)), extra;

    if (!conserve_or_restore(t, rs)) {
        if (b->full_bw_reached) {
            extra = TOEC_MAX(b->extra_acked[0], b->extra_acked[1]);
            most += (toec_u32)TOEC_MIN(bw * EXTRA_TIME >> 20, (toec_u64)extra);
        }
        most = quantize(t, most);
        if (b->full_bw_reached)
            t->cwnd = TOEC_MIN(t->cwnd + rs->newly_acked, most);
        else if (t->cwnd < most || toec_rate_of(t)->delivered < toec_cc_initial_window(t))
            t->cwnd += rs->newly_acked;
        t->cwnd = TOEC_MAX(t->cwnd, MIN_PIPE(t));
    }
    if (b->state == TOEC_BBR1_PROBE_RTT)
        t->cwnd = TOEC_MIN(t->cwnd, MIN_PIPE(t));
    t->cwnd = TOEC_MIN(t->cwnd, TOEC_CWND_MAX);
}

/* ---- the state machine ---- */

void toec_bbr1_set_phase(struct toec_cc_bbr1 *b, unsigned cycle, toec_u32 stamp)
{
    b->cycle = (toec_u8)(cycle % TOEC_BBR1_CYCLE);
    b->cycle_stamp = stamp;
}

void toec_bbr1_probe_bw(struct toec_cc_bbr1 *b, toec_u32 stamp)
{
    /* any phase but 1: nothing has been queued that it would drain */
    toec_u32 ahead = (toec_u32)((toec_u64)random_of(b) * (TOEC_BBR1_CYCLE - 1) >> 32);

    b->state = TOEC_BBR1_PROBE_BW;
    toec_bbr1_set_phase(b, TOEC_BBR1_CYCLE - ahead, stamp);
}

static void update_phase(struct toec_tcb *t, const struct toec_rate_sample *rs, toec_u32 before,
                         toec_u32 stamp)
{
    struct toec_cc_bbr1 *b = BBR1(t);
    int full = stamp - b->cycle_stamp > b->min_rtt, next = full;

    if (b->state != TOEC_BBR1_PROBE_BW || b->lt_used)
        return;
    if (cycle_gain[b->cycle] > UNIT) /* ... and the probe has arrived or cannot */
        next = full && (rs->newly_lost || before >= inflight(t, cycle_gain[b->cycle]));
    else if (cycle_gain[b->cycle] < UNIT)
        next = full || before <= inflight(t, UNIT);
    if (next)
        toec_bbr1_set_phase(b, b->cycle + 1u, stamp);
}

/* Returns not 0 when the queue has overflowed in this round of Startup. Linux continues for two
 * more rounds and loses thousands of segments, more than a record of transmissions can hold. */
static int overflowed(struct toec_tcb *t, const struct toec_rate_sample *rs)
{
    struct toec_cc_bbr1 *b = BBR1(t);
    toec_u32 lost = toec_rate_of(t)->lost - b->startup_lost;

    b->startup_lost = toec_rate_of(t)->lost;
    return lost > OVERFLOW_LEAST * t->mss && lost > rs->delivered / OVERFLOW_PART;
}

/* Startup ends when three rounds have not raised the bandwidth by a quarter. */
static void check_full_bw(struct toec_tcb *t, const struct toec_rate_sample *rs)
{
    struct toec_cc_bbr1 *b = BBR1(t);
    toec_u64 bw = toec_bbr1_max_bw(b);

    if (b->full_bw_reached || !b->round_start)
        return;
    if (overflowed(t, rs)) {
        b->full_bw_reached = 1;
        return;
    }
    if (rs->app_limited)
        return;
    if (bw >= b->full_bw + (b->full_bw >> 2)) {
        b->full_bw = bw;
        b->full_bw_count = 0;
        return;
    }
    b->full_bw_count++;
    b->full_bw_reached = b->full_bw_count >= 3;
}

static void check_drain(struct toec_tcb *t, toec_u32 stamp)
{
    struct toec_cc_bbr1 *b = BBR1(t);

    if (b->state == TOEC_BBR1_STARTUP && b->full_bw_reached)
        b->state = TOEC_BBR1_DRAIN;
    if (b->state == TOEC_BBR1_DRAIN && toec_pipe(t) <= inflight(t, UNIT))
        toec_bbr1_probe_bw(b, stamp);
}

static void check_probe_rtt_done(struct toec_tcb *t, toec_u32 stamp)
{
    struct toec_cc_bbr1 *b = BBR1(t);

    /* measured from the beginning of ProbeRTT, because its end may be half the stamps' range ago */
    if (!b->probe_rtt_done_set ||
        stamp - (b->probe_rtt_done_stamp - PROBE_RTT_TIME) <= PROBE_RTT_TIME)
        return;
    b->min_rtt_stamp = stamp;
    restore_cwnd(t);
    if (b->full_bw_reached)
        toec_bbr1_probe_bw(b, stamp);
    else
        b->state = TOEC_BBR1_STARTUP;
}

static void handle_probe_rtt(struct toec_tcb *t, toec_u32 stamp)
{
    struct toec_cc_bbr1 *b = BBR1(t);
    toec_u32 pipe = toec_pipe(t);

    toec_rate_app_limited(t, pipe); /* low rates in this phase are no samples of the path */
    if (!b->probe_rtt_done_set && pipe <= MIN_PIPE(t)) {
        b->probe_rtt_done_set = 1;
        b->probe_rtt_done_stamp = stamp + PROBE_RTT_TIME;
        b->probe_rtt_round_done = 0;
        b->next_round_delivered = toec_rate_of(t)->delivered;
    } else if (b->probe_rtt_done_set) {
        b->probe_rtt_round_done |= b->round_start;
        if (b->probe_rtt_round_done)
            check_probe_rtt_done(t, stamp);
    }
}

static void update_min_rtt(struct toec_tcb *t, const struct toec_rate_sample *rs, toec_u32 stamp)
{
    struct toec_cc_bbr1 *b = BBR1(t);
    int expired = stamp - b->min_rtt_stamp > MIN_RTT_FILTER;

    if (rs->rtt && (rs->rtt < b->min_rtt || expired)) {
        b->min_rtt = rs->rtt;
        b->min_rtt_stamp = stamp;
    }
    if (expired && !b->idle_restart && b->state != TOEC_BBR1_PROBE_RTT) {
        save_cwnd(t);
        b->state = TOEC_BBR1_PROBE_RTT;
        b->probe_rtt_done_set = 0;
    }
    if (b->state == TOEC_BBR1_PROBE_RTT)
        handle_probe_rtt(t, stamp);
    if (rs->interval)
        b->idle_restart = 0;
}

/* ---- hooks ---- */

static void bbr1_init(struct toec_tcb *t, toec_time now)
{
    struct toec_cc_bbr1 *b = BBR1(t);

    b->random = t->iss | 1u;
    b->min_rtt = t->min_rtt ? t->min_rtt : NO_RTT;
    b->min_rtt_stamp = b->extra_acked_start = toec_stamp(now);
    b->next_round_delivered = toec_rate_of(t)->delivered;
    toec_bbr1_reset_policer(t);
    init_pacing_rate(t);
}

static void bbr1_acked(struct toec_tcb *t, const struct toec_cc_ack *a)
{
    const struct toec_rate_sample *rs = a->rs;
    struct toec_cc_bbr1 *b = BBR1(t);
    toec_u32 stamp = toec_stamp(a->now);

    if (!rs->valid)
        return;
    toec_bbr1_update_bw(t, rs);
    toec_bbr1_update_aggregation(t, rs, stamp);
    update_phase(t, rs, toec_pipe(t) + rs->newly_acked + rs->newly_lost, stamp);
    check_full_bw(t, rs);
    check_drain(t, stamp);
    update_min_rtt(t, rs, stamp);
    if (!b->rtt_seen && t->srtt)
        init_pacing_rate(t);
    set_pacing_rate(t, toec_bbr1_bw(b), pacing_gain(b));
    set_cwnd(t, rs);
}

static void bbr1_congested(struct toec_tcb *t, enum toec_cc_event why, toec_u32 flight,
                           toec_time now)
{
    struct toec_cc_bbr1 *b = BBR1(t);

    (void)flight;
    (void)now;
    save_cwnd(t);
    if (why != TOEC_CC_RTO)
        return;
    b->full_bw = 0;
    toec_bbr1_policer_lost(t);
    b->recovering = 1;
    b->conserving = 0;
    t->cwnd = t->mss; /* all data in flight is considered lost, plus one segment */
}

static void bbr1_undo(struct toec_tcb *t, toec_time now)
{
    struct toec_cc_bbr1 *b = BBR1(t);

    (void)now;
    restore_cwnd(t);
    b->full_bw = 0;
    b->full_bw_count = 0;
    toec_bbr1_reset_policer(t);
}

static void bbr1_restart(struct toec_tcb *t, toec_u32 idle, toec_time now)
{
    struct toec_cc_bbr1 *b = BBR1(t);

    (void)idle;
    if (!toec_rate_of(t)->app_limited)
        return;
    b->idle_restart = 1;
    b->extra_acked_start = toec_stamp(now);
    b->extra_acked_delivered = 0;
    if (b->state == TOEC_BBR1_PROBE_BW)
        set_pacing_rate(t, toec_bbr1_bw(b), UNIT);
    else if (b->state == TOEC_BBR1_PROBE_RTT)
        check_probe_rtt_done(t, toec_stamp(now));
}

const struct toec_cc_ops toec_cc_bbr1 = {
    "bbr",          TOEC_CC_OWN_CWND | TOEC_CC_PACED | TOEC_CC_RATE | TOEC_CC_RECORD,
    bbr1_init,      bbr1_acked,
    bbr1_congested, 0,
    bbr1_undo,      0,
    bbr1_restart,   0};
