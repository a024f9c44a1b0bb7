/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_bbr.c - BBR version 3 (draft-ietf-ccwg-bbr-06) in integers: the state machine (5.3) and the
 * control of cwnd and pacing rate (5.6). The model of the path is in cc_bbr_model.c.
 *
 * Not implemented: ECN of the draft's appendix; an ECE counts as a loss in its round.
 */
#include "cc_bbr.h"

#include "../tcp/tcb.h"
#include "cc_bbr_model.h"
#include "tcp_record.h"

static toec_u32 random_of(struct toec_cc_bbr *b)
{
    toec_u32 x = b->random; /* xorshift: spreads flows in time, not secure */

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    b->random = x;
    return x;
}

/* ---- control ---- */

static void set_pacing_rate(struct toec_tcb *t, unsigned gain)
{
    struct toec_cc_bbr *b = BBR(t);
    toec_u64 rate = toec_div64((b->bw * gain >> 8) * (100 - BBR_PACING_MARGIN), 100);

    if (b->full_bw_reached || rate > toec_pace_rate(t) || toec_pace_max(t))
        toec_pace_set(t, rate);
}

static void init_pacing_rate(struct toec_tcb *t)
{
    toec_u32 rtt = t->srtt ? t->srtt >> 3 : BBR_MS(1);
    toec_u64 nominal = toec_div64((toec_u64)toec_cc_initial_window(t) << 20, TOEC_MAX(rtt, 1u));

    toec_pace_set(t, nominal * BBR_STARTUP_PACING_GAIN >> 8);
}

static toec_u32 inflight_with_headroom(const struct toec_tcb *t)
{
    const struct toec_cc_bbr *b = BBR(t);
    toec_u32 headroom;

    if (b->inflight_longterm == BBR_INF)
        return BBR_INF;
    headroom = TOEC_MAX((toec_u32)((toec_u64)b->inflight_longterm * BBR_HEADROOM >> 8), t->mss);
    return TOEC_MAX(b->inflight_longterm - TOEC_MIN(headroom, b->inflight_longterm),
                    BBR_MIN_PIPE(t));
}

static toec_u32 probe_rtt_cwnd(const struct toec_tcb *t)
{
    return TOEC_MAX(toec_bbr_bdp(t, BBR(t)->bw, BBR_PROBE_RTT_CWND_GAIN), BBR_MIN_PIPE(t));
}

/* 5.6.4.7 */
static void bound_cwnd_for_model(struct toec_tcb *t)
{
    struct toec_cc_bbr *b = BBR(t);
    toec_u32 cap = BBR_INF;

    if (toec_bbr_in_probe_bw(b) && b->state != TOEC_BBR_CRUISE)
        cap = b->inflight_longterm;
    else if (b->state == TOEC_BBR_PROBE_RTT || b->state == TOEC_BBR_CRUISE)
        cap = inflight_with_headroom(t);
    cap = TOEC_MIN(cap, b->inflight_shortterm);
    cap = TOEC_MAX(cap, BBR_MIN_PIPE(t));
    t->cwnd = TOEC_MIN(t->cwnd, cap);
}

/* 5.6.4.6 */
static void set_cwnd(struct toec_tcb *t, toec_u32 acked)
{
    struct toec_cc_bbr *b = BBR(t);
    toec_u32 most = toec_bbr_bdp(t, b->bw, b->cwnd_gain);

    most = toec_bbr_quantize(t, most + TOEC_MAX(b->extra_acked[0], b->extra_acked[1]));
    if (b->full_bw_reached)
        t->cwnd = TOEC_MIN(t->cwnd + acked, most);
    else if (t->cwnd < most || toec_rate_of(t)->delivered < toec_cc_initial_window(t))
        t->cwnd += acked;
    t->cwnd = TOEC_MAX(t->cwnd, BBR_MIN_PIPE(t));
    if (b->state == TOEC_BBR_PROBE_RTT)
        t->cwnd = TOEC_MIN(t->cwnd, probe_rtt_cwnd(t));
    bound_cwnd_for_model(t);
    t->cwnd = TOEC_MIN(t->cwnd, TOEC_CWND_MAX);
}

static void save_cwnd(struct toec_tcb *t)
{
    struct toec_cc_bbr *b = BBR(t);

    if (!(t->flags & (TOEC_F_FAST | TOEC_F_LOSS)) && b->state != TOEC_BBR_PROBE_RTT)
        b->prior_cwnd = t->cwnd;
    else
        b->prior_cwnd = TOEC_MAX(b->prior_cwnd, t->cwnd);
}

static void restore_cwnd(struct toec_tcb *t)
{
    t->cwnd = TOEC_MAX(t->cwnd, BBR(t)->prior_cwnd);
}

/* ---- Startup and Drain (5.3.1, 5.3.2) ---- */

static void enter(struct toec_cc_bbr *b, enum toec_bbr_state state, unsigned pacing, unsigned cwnd)
{
    b->state = (toec_u8)state;
    b->pacing_gain = (toec_u16)pacing;
    b->cwnd_gain = (toec_u16)cwnd;
}

static void enter_startup(struct toec_cc_bbr *b)
{
    enter(b, TOEC_BBR_STARTUP, BBR_STARTUP_PACING_GAIN, BBR_DEFAULT_CWND_GAIN);
}

static void check_startup_done(struct toec_tcb *t, const struct toec_cc_ack *a)
{
    struct toec_cc_bbr *b = BBR(t);
    int many = !(t->flags & TOEC_F_SACK) || b->loss_events >= BBR_STARTUP_FULL_LOSS;

    if (b->state != TOEC_BBR_STARTUP)
        return;
    /* 5.3.1.3: a round in recovery with more than 2% lost, in several places */
    if (!b->full_bw_reached && b->loss_round_start && a->recovery && many &&
        toec_bbr_too_high(t, a->rs->lost, a->rs->in_flight)) {
        b->undo_state = TOEC_BBR_STARTUP;
        b->full_bw_reached = 1;
        b->inflight_longterm = TOEC_MAX(toec_bbr_bdp(t, b->bw, 256), b->inflight_latest);
    }
    if (b->loss_round_start)
        b->loss_events = 0;
    if (b->full_bw_reached) {
        enter(b, TOEC_BBR_DRAIN, BBR_DRAIN_PACING_GAIN, BBR_DEFAULT_CWND_GAIN);
        b->drain_start_round = b->round_count;
    }
}

/* ---- ProbeBW (5.3.3) ---- */

static void start_down(struct toec_tcb *t, toec_u32 stamp)
{
    struct toec_cc_bbr *b = BBR(t);

    toec_bbr_reset_congestion(b);
    b->probe_up_acked_per_inc = BBR_INF;
    b->rounds_since_probe_up = random_of(b) & 1; /* PickProbeWait() */
    b->bw_probe_wait = BBR_MS(2000) + toec_bbr_part(random_of(b), BBR_MS(1000));
    b->cycle_stamp = stamp;
    b->ack_phase = ACKS_PROBE_STOPPING;
    toec_bbr_start_round(t);
    enter(b, TOEC_BBR_DOWN, BBR_DOWN_PACING_GAIN, BBR_DEFAULT_CWND_GAIN);
}

static void start_cruise(struct toec_cc_bbr *b)
{
    enter(b, TOEC_BBR_CRUISE, 256, BBR_DEFAULT_CWND_GAIN);
}

static void start_refill(struct toec_tcb *t)
{
    struct toec_cc_bbr *b = BBR(t);

    toec_bbr_reset_shortterm(b);
    b->bw_probe_up_rounds = 0;
    b->bw_probe_up_acked = 0;
    b->prev_probe_precautionary = 0;
    b->ack_phase = ACKS_REFILLING;
    toec_bbr_start_round(t);
    enter(b, TOEC_BBR_REFILL, 256, BBR_DEFAULT_CWND_GAIN);
}

static void raise_slope(struct toec_tcb *t)
{
    struct toec_cc_bbr *b = BBR(t);

    b->probe_up_acked_per_inc = TOEC_MAX(t->cwnd >> b->bw_probe_up_rounds, t->mss);
    if (b->bw_probe_up_rounds < 30)
        b->bw_probe_up_rounds++;
}

static void start_up(struct toec_tcb *t, toec_u64 rate)
{
    struct toec_cc_bbr *b = BBR(t);

    b->ack_phase = ACKS_PROBE_STARTING;
    toec_bbr_start_round(t);
    toec_bbr_reset_full_bw(b);
    b->full_bw = rate;
    enter(b, TOEC_BBR_UP, BBR_UP_PACING_GAIN, BBR_UP_CWND_GAIN);
    raise_slope(t);
}

static int time_to_probe(struct toec_tcb *t, toec_u32 stamp)
{
    struct toec_cc_bbr *b = BBR(t);
    toec_u32 target = TOEC_MIN(toec_bbr_bdp(t, b->bw, 256), t->cwnd);
    toec_u32 reno = TOEC_MIN(target / t->mss, BBR_RENO_ROUNDS);

    if (stamp - b->cycle_stamp <= b->bw_probe_wait && b->rounds_since_probe_up < reno)
        return 0;
    start_refill(t);
    return 1;
}

static int time_to_cruise(const struct toec_tcb *t, toec_u32 inflight)
{
    return inflight <= inflight_with_headroom(t) &&
           inflight <= toec_bbr_quantize(t, toec_bbr_bdp(t, toec_bbr_max_bw(BBR(t)), 256));
}

static int time_to_go_down(struct toec_tcb *t, toec_u32 inflight, toec_u64 rate)
{
    struct toec_cc_bbr *b = BBR(t);

    if (b->prev_probe_too_high && inflight >= b->inflight_longterm) {
        b->prev_probe_precautionary = 1;
        return 1;
    }
    if ((t->flags & TOEC_F_CWND_LIM) && t->cwnd >= b->inflight_longterm) {
        toec_bbr_reset_full_bw(b); /* inflight_longterm limits the bandwidth */
        b->full_bw = rate;
        return 0;
    }
    return b->full_bw_now;
}

static void probe_longterm_upward(struct toec_tcb *t, toec_u32 acked)
{
    struct toec_cc_bbr *b = BBR(t);
    toec_u32 delta;

    if (!(t->flags & TOEC_F_CWND_LIM) || t->cwnd < b->inflight_longterm)
        return;
    b->bw_probe_up_acked += acked;
    if (b->bw_probe_up_acked >= b->probe_up_acked_per_inc) {
        delta = b->bw_probe_up_acked / b->probe_up_acked_per_inc;
        b->bw_probe_up_acked -= delta * b->probe_up_acked_per_inc;
        b->inflight_longterm = TOEC_MIN(b->inflight_longterm + delta * t->mss, TOEC_CWND_MAX);
    }
    if (b->round_start)
        raise_slope(t);
}

/* AdaptLongTermModel(): returns not 0 when the state has changed. */
static int adapt_longterm(struct toec_tcb *t, const struct toec_rate_sample *rs)
{
    struct toec_cc_bbr *b = BBR(t);

    if (b->ack_phase == ACKS_PROBE_STARTING && b->round_start)
        b->ack_phase = ACKS_PROBE_FEEDBACK;
    if (b->ack_phase == ACKS_PROBE_STOPPING && b->round_start) {
        b->is_bw_probe_sample = 0;
        b->ack_phase = ACKS_INIT;
        if (toec_bbr_in_probe_bw(b) && !rs->app_limited)
            toec_bbr_advance_max_bw(b);
        if (toec_bbr_in_probe_bw(b) && b->prev_probe_precautionary && !b->prev_probe_too_high) {
            start_refill(t);
            return 1;
        }
    }
    if (toec_bbr_too_high(t, rs->lost, rs->in_flight) || b->inflight_longterm == BBR_INF)
        return 0;
    if (rs->in_flight > b->inflight_longterm)
        b->inflight_longterm = rs->in_flight;
    if (b->state == TOEC_BBR_UP)
        probe_longterm_upward(t, rs->newly_acked);
    return 0;
}

static void update_probe_bw(struct toec_tcb *t, const struct toec_cc_ack *a, toec_u32 inflight,
                            toec_u64 rate)
{
    struct toec_cc_bbr *b = BBR(t);
    toec_u32 stamp = toec_stamp(a->now);

    if (!b->full_bw_reached || adapt_longterm(t, a->rs))
        return;
    switch (b->state) {
    case TOEC_BBR_DOWN:
        if (!time_to_probe(t, stamp) && time_to_cruise(t, inflight))
            start_cruise(b);
        return;
    case TOEC_BBR_CRUISE:
        time_to_probe(t, stamp);
        return;
    case TOEC_BBR_REFILL:
        if (b->round_start) {
            b->is_bw_probe_sample = 1;
            start_up(t, rate);
        }
        return;
    case TOEC_BBR_UP:
        if (time_to_go_down(t, inflight, rate)) {
            b->prev_probe_too_high = 0; /* no high loss (yet) */
            start_down(t, stamp);
        }
        return;
    default:
        return;
    }
}

void toec_bbr_probe_failed(struct toec_tcb *t, toec_time now)
{
    BBR(t)->undo_state = TOEC_BBR_UP;
    start_down(t, toec_stamp(now));
}

/* ---- ProbeRTT (5.3.4) ---- */

static void exit_probe_rtt(struct toec_tcb *t, toec_u32 stamp)
{
    struct toec_cc_bbr *b = BBR(t);

    toec_bbr_reset_shortterm(b);
    if (b->full_bw_reached) {
        start_down(t, stamp);
        start_cruise(b);
    } else {
        enter_startup(b);
    }
}

static void check_probe_rtt_done(struct toec_tcb *t, toec_u32 stamp)
{
    struct toec_cc_bbr *b = BBR(t);

    /* measured from the beginning of ProbeRTT, because its end may be half the stamps' range ago */
    if (!b->probe_rtt_done_set ||
        stamp - (b->probe_rtt_done_stamp - BBR_PROBE_RTT_DURATION) <= BBR_PROBE_RTT_DURATION)
        return;
    b->probe_rtt_min_stamp = stamp;
    restore_cwnd(t);
    exit_probe_rtt(t, stamp);
}

static void handle_probe_rtt(struct toec_tcb *t, toec_u32 inflight, toec_u32 stamp)
{
    struct toec_cc_bbr *b = BBR(t);

    toec_rate_app_limited(t, inflight); /* low rates in this phase are no samples of the path */
    if (!b->probe_rtt_done_set && inflight <= probe_rtt_cwnd(t)) {
        b->probe_rtt_done_set = 1;
        b->probe_rtt_done_stamp = stamp + BBR_PROBE_RTT_DURATION;
        b->probe_rtt_round_done = 0;
        toec_bbr_start_round(t);
    } else if (b->probe_rtt_done_set) {
        if (b->round_start)
            b->probe_rtt_round_done = 1;
        if (b->probe_rtt_round_done)
            check_probe_rtt_done(t, stamp);
    }
}

static void check_probe_rtt(struct toec_tcb *t, toec_u32 inflight, toec_u32 stamp)
{
    struct toec_cc_bbr *b = BBR(t);

    if (b->state != TOEC_BBR_PROBE_RTT && b->probe_rtt_expired && !b->idle_restart) {
        save_cwnd(t);
        enter(b, TOEC_BBR_PROBE_RTT, 256, BBR_PROBE_RTT_CWND_GAIN);
        b->probe_rtt_done_set = 0;
        b->ack_phase = ACKS_PROBE_STOPPING;
        toec_bbr_start_round(t);
    }
    if (b->state == TOEC_BBR_PROBE_RTT)
        handle_probe_rtt(t, inflight, stamp);
    b->idle_restart = 0;
}

/* ---- hooks ---- */

static void bbr_init(struct toec_tcb *t, toec_time now)
{
    struct toec_cc_bbr *b = BBR(t);
    toec_u32 stamp = toec_stamp(now);

    b->random = t->iss | 1u;
    b->min_rtt = t->srtt ? t->srtt >> 3 : BBR_INF;
    b->probe_rtt_min_delay = b->min_rtt;
    b->min_rtt_stamp = b->probe_rtt_min_stamp = stamp;
    b->undo_state = TOEC_BBR_NONE;
    b->extra_acked_start = stamp;
    b->inflight_longterm = BBR_INF;
    b->probe_up_acked_per_inc = BBR_INF;
    b->ack_phase = ACKS_INIT;
    b->loss_round_delivered = b->next_round_delivered = toec_rate_of(t)->delivered;
    toec_bbr_reset_shortterm(b);
    enter_startup(b);
    init_pacing_rate(t);
}

static void bbr_acked(struct toec_tcb *t, const struct toec_cc_ack *a)
{
    const struct toec_rate_sample *rs = a->rs;
    struct toec_cc_bbr *b = BBR(t);
    toec_u32 stamp = toec_stamp(a->now), inflight = toec_pipe(t);
    toec_u64 rate = rs->interval ? toec_div64((toec_u64)rs->delivered << 20, rs->interval) : 0;

    if (!rs->valid)
        return;
    toec_bbr_update_signals(t, rs, rate);
    toec_bbr_update_aggregation(t, rs, stamp);
    toec_bbr_check_full_bw(b, rs, rate);
    check_startup_done(t, a);
    if (b->state == TOEC_BBR_DRAIN &&
        (inflight <= toec_bbr_quantize(t, toec_bbr_bdp(t, b->bw, 256)) ||
         b->round_count > b->drain_start_round + 3))
        start_down(t, stamp);
    update_probe_bw(t, a, inflight, rate);
    toec_bbr_update_min_rtt(b, rs->rtt, stamp);
    check_probe_rtt(t, inflight, stamp);
    if (b->loss_round_start) { /* AdvanceLatestDeliverySignals() */
        b->bw_latest = rate;
        b->inflight_latest = rs->delivered;
    }
    b->bw = TOEC_MIN(toec_bbr_max_bw(b), b->bw_shortterm);
    set_pacing_rate(t, b->pacing_gain);
    set_cwnd(t, rs->newly_acked);
}

static void bbr_congested(struct toec_tcb *t, enum toec_cc_event why, toec_u32 flight,
                          toec_time now)
{
    (void)flight;
    (void)now;
    save_cwnd(t);
    toec_bbr_save_upon_loss(BBR(t));
    if (why == TOEC_CC_ECN)
        toec_bbr_note_loss(t);
    else if (why == TOEC_CC_RTO)
        t->cwnd = t->mss; /* 5.6.4.4: all data in flight is considered lost, plus one segment */
}

static void bbr_recovered(struct toec_tcb *t, toec_time now)
{
    (void)now;
    restore_cwnd(t);
}

/* 5.5.11.2 */
static void bbr_undo(struct toec_tcb *t, toec_time now)
{
    struct toec_cc_bbr *b = BBR(t);

    (void)now;
    restore_cwnd(t);
    b->is_loss_in_round = 0;
    toec_bbr_reset_full_bw(b);
    b->bw_shortterm = TOEC_MAX(b->bw_shortterm, b->undo_bw_shortterm);
    b->inflight_shortterm = TOEC_MAX(b->inflight_shortterm, b->undo_inflight_shortterm);
    b->inflight_longterm = TOEC_MAX(b->inflight_longterm, b->undo_inflight_longterm);
    if (b->undo_state == TOEC_BBR_STARTUP && b->state != TOEC_BBR_STARTUP) {
        b->full_bw_reached = 0;
        if (b->state != TOEC_BBR_PROBE_RTT)
            enter_startup(b);
    } else if (b->undo_state == TOEC_BBR_UP && b->state != TOEC_BBR_UP &&
               b->state != TOEC_BBR_PROBE_RTT) {
        start_refill(t);
    }
    b->undo_state = TOEC_BBR_NONE;
}

/* 5.4.1 */
static void bbr_restart(struct toec_tcb *t, toec_u32 idle, toec_time now)
{
    struct toec_cc_bbr *b = BBR(t);

    (void)idle;
    if (!toec_rate_of(t)->app_limited)
        return;
    b->idle_restart = 1;
    b->extra_acked_start = toec_stamp(now);
    b->extra_acked_delivered = 0;
    if (toec_bbr_in_probe_bw(b))
        set_pacing_rate(t, 256);
    else if (b->state == TOEC_BBR_PROBE_RTT)
        check_probe_rtt_done(t, toec_stamp(now));
}

const struct toec_cc_ops toec_cc_bbr3 = {
    "bbr3",        TOEC_CC_OWN_CWND | TOEC_CC_PACED | TOEC_CC_RATE | TOEC_CC_RECORD,
    bbr_init,      bbr_acked,
    bbr_congested, 0,
    bbr_undo,      bbr_recovered,
    bbr_restart,   toec_bbr_lost};
