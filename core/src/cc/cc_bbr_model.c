/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_bbr_model.c - BBR's model of the path (draft-ietf-ccwg-bbr-06, 5.5): bandwidth, round-trip
 * time, aggregation, and the bounds learned from losses.
 */
#include "cc_bbr_model.h"

#include "cc_bbr.h"

toec_u32 toec_bbr_bdp(const struct toec_tcb *t, toec_u64 bw, unsigned gain)
{
    toec_u32 rtt = BBR(t)->min_rtt;
    toec_u64 bdp;

    if (rtt == BBR_INF || bw == 0)
        return toec_cc_initial_window(t);
    rtt = TOEC_MIN(rtt, (1u << 23) - 1); /* 8.6 s; bw is below 2^40 */
    bdp = TOEC_MIN(TOEC_MIN(bw, TOEC_PACE_MAX) * rtt >> 20, (toec_u64)TOEC_CWND_MAX);
    return (toec_u32)TOEC_MIN(bdp * gain >> 8, (toec_u64)TOEC_CWND_MAX);
}

/* QuantizationBudget(), with three quanta for offloads (5.5.8.1). */
toec_u32 toec_bbr_quantize(const struct toec_tcb *t, toec_u32 inflight)
{
    inflight = TOEC_MAX(inflight, 3u * t->pace->quantum);
    inflight = TOEC_MAX(inflight, BBR_MIN_PIPE(t));
    if (BBR(t)->state == TOEC_BBR_UP)
        inflight += 2u * t->mss;
    return inflight;
}

void toec_bbr_start_round(struct toec_tcb *t)
{
    BBR(t)->next_round_delivered = toec_rate_of(t)->delivered;
}

void toec_bbr_reset_congestion(struct toec_cc_bbr *b)
{
    b->is_loss_in_round = 0;
    b->bw_latest = 0;
    b->inflight_latest = 0;
}

void toec_bbr_reset_shortterm(struct toec_cc_bbr *b)
{
    b->bw_shortterm = BBR_BW_INF;
    b->inflight_shortterm = BBR_INF;
}

void toec_bbr_reset_full_bw(struct toec_cc_bbr *b)
{
    b->full_bw = 0;
    b->full_bw_count = 0;
    b->full_bw_now = 0;
}

/* 5.5.6. A cycle without a sample leaves the filter as it is. */
void toec_bbr_advance_max_bw(struct toec_cc_bbr *b)
{
    if (b->max_bw[1] == 0)
        return;
    b->max_bw[0] = b->max_bw[1];
    b->max_bw[1] = 0;
}

int toec_bbr_too_high(const struct toec_tcb *t, toec_u32 lost, toec_u32 tx_in_flight)
{
    if (lost && !(t->flags & TOEC_F_SACK))
        return 1;
    return (toec_u64)lost << 14 > (toec_u64)tx_in_flight * BBR_PERCENT;
}

static void update_round(struct toec_tcb *t, const struct toec_rate_sample *rs)
{
    struct toec_cc_bbr *b = BBR(t);

    b->round_start = 0;
    if (!TOEC_SEQ_GE(rs->prior_delivered, b->next_round_delivered))
        return;
    toec_bbr_start_round(t);
    b->round_count++;
    b->rounds_since_probe_up++;
    b->round_start = 1;
}

/* AdaptLowerBoundsFromCongestion() */
static void adapt_lower_bounds(struct toec_tcb *t)
{
    struct toec_cc_bbr *b = BBR(t);

    if (b->state == TOEC_BBR_STARTUP || b->state == TOEC_BBR_REFILL || b->state == TOEC_BBR_UP ||
        !b->is_loss_in_round)
        return;
    if (b->bw_shortterm == BBR_BW_INF)
        b->bw_shortterm = toec_bbr_max_bw(b);
    if (b->inflight_shortterm == BBR_INF)
        b->inflight_shortterm = t->cwnd;
    b->bw_shortterm = TOEC_MAX(b->bw_latest, b->bw_shortterm * BBR_BETA >> 8);
    b->inflight_shortterm =
        TOEC_MAX(b->inflight_latest, (toec_u32)((toec_u64)b->inflight_shortterm * BBR_BETA >> 8));
}

void toec_bbr_update_signals(struct toec_tcb *t, const struct toec_rate_sample *rs, toec_u64 rate)
{
    struct toec_cc_bbr *b = BBR(t);

    b->loss_round_start = 0;
    b->bw_latest = TOEC_MAX(b->bw_latest, rate);
    b->inflight_latest = TOEC_MAX(b->inflight_latest, rs->delivered);
    if (TOEC_SEQ_GE(rs->prior_delivered, b->loss_round_delivered)) {
        b->loss_round_delivered = toec_rate_of(t)->delivered;
        b->loss_round_start = 1;
    }
    update_round(t, rs);
    if (rate && (rate >= toec_bbr_max_bw(b) || !rs->app_limited))
        b->max_bw[1] = TOEC_MAX(b->max_bw[1], rate);
    if (!b->loss_round_start)
        return;
    adapt_lower_bounds(t);
    b->is_loss_in_round = 0;
}

/* 5.5.9 */
void toec_bbr_update_aggregation(struct toec_tcb *t, const struct toec_rate_sample *rs,
                                 toec_u32 stamp)
{
    struct toec_cc_bbr *b = BBR(t);
    toec_u32 interval = TOEC_MIN(stamp - b->extra_acked_start, 1u << 23), extra;
    toec_u64 expected = TOEC_MIN(b->bw, TOEC_PACE_MAX) * interval >> 20;

    if (b->extra_acked_delivered <= expected) {
        b->extra_acked_delivered = 0;
        b->extra_acked_start = stamp;
        expected = 0;
    }
    b->extra_acked_delivered += rs->newly_acked;
    extra = b->extra_acked_delivered - (toec_u32)TOEC_MIN(expected, b->extra_acked_delivered);
    extra = TOEC_MIN(extra, t->cwnd);
    if (b->round_count - b->extra_acked_round >= (b->full_bw_reached ? BBR_EXTRA_HALF : 1u)) {
        b->extra_acked_round = b->round_count;
        b->extra_acked[0] = b->full_bw_reached ? b->extra_acked[1] : 0;
        b->extra_acked[1] = 0;
    }
    b->extra_acked[1] = TOEC_MAX(b->extra_acked[1], extra);
}

/* 5.3.1.2 */
void toec_bbr_check_full_bw(struct toec_cc_bbr *b, const struct toec_rate_sample *rs, toec_u64 rate)
{
    if (b->full_bw_now || !b->round_start || rs->app_limited)
        return;
    if (rate >= b->full_bw + (b->full_bw >> 2)) {
        toec_bbr_reset_full_bw(b);
        b->full_bw = rate;
        return;
    }
    if (++b->full_bw_count >= 3) {
        b->full_bw_now = 1;
        b->full_bw_reached = 1;
    }
}

/* 5.3.4.3 */
void toec_bbr_update_min_rtt(struct toec_cc_bbr *b, toec_u32 rtt, toec_u32 stamp)
{
    b->probe_rtt_expired = stamp - b->probe_rtt_min_stamp > BBR_PROBE_RTT_INTERVAL;
    if (rtt && (rtt < b->probe_rtt_min_delay || b->probe_rtt_expired)) {
        b->probe_rtt_min_delay = rtt;
        b->probe_rtt_min_stamp = stamp;
    }
    if (b->probe_rtt_min_delay < b->min_rtt || stamp - b->min_rtt_stamp > BBR_MIN_RTT_FILTER) {
        b->min_rtt = b->probe_rtt_min_delay;
        b->min_rtt_stamp = b->probe_rtt_min_stamp;
    }
}

/* ---- losses (5.5.10) ---- */

void toec_bbr_save_upon_loss(struct toec_cc_bbr *b)
{
    b->undo_state = TOEC_BBR_NONE;
    b->undo_bw_shortterm = b->bw_shortterm;
    b->undo_inflight_shortterm = b->inflight_shortterm;
    b->undo_inflight_longterm = b->inflight_longterm;
}

void toec_bbr_note_loss(struct toec_tcb *t)
{
    struct toec_cc_bbr *b = BBR(t);

    if (!b->is_loss_in_round)
        b->loss_round_delivered = toec_rate_of(t)->delivered;
    b->is_loss_in_round = 1;
}

/* Returns the volume in flight at which losses exceeded 2%, at a point within the lost run. */
static toec_u32 inflight_at_loss(toec_u32 tx_in_flight, toec_u32 lost, toec_u32 size)
{
    toec_u32 before = tx_in_flight > size ? tx_in_flight - size : 0;
    toec_u32 lost_before = lost > size ? lost - size : 0;
    toec_u64 may = (toec_u64)before * BBR_PERCENT >> 14;

    if (may <= lost_before)
        return before;
    return before + (toec_u32)toec_div64((may - lost_before) << 14, (1u << 14) - BBR_PERCENT);
}

void toec_bbr_lost(struct toec_tcb *t, const struct toec_tx_mark *m, toec_u32 bytes, toec_time now)
{
    struct toec_cc_bbr *b = BBR(t);
    toec_u32 lost = toec_rate_of(t)->lost - m->lost, in_flight = m->in_flight & TOEC_TX_VOLUME,
             target;

    if (!b->is_loss_in_round && !(t->flags & (TOEC_F_FAST | TOEC_F_LOSS)))
        toec_bbr_save_upon_loss(b);
    toec_bbr_note_loss(t);
    if (b->loss_events < 255)
        b->loss_events++;
    if (!b->is_bw_probe_sample || !toec_bbr_too_high(t, lost, in_flight))
        return;
    /* HandleInflightTooHigh(), once per probe */
    b->prev_probe_too_high = 1;
    b->is_bw_probe_sample = 0;
    if (!(m->in_flight & TOEC_TX_APP_LIMITED)) {
        target = TOEC_MIN(toec_bbr_bdp(t, b->bw, 256), t->cwnd);
        b->inflight_longterm = TOEC_MAX(inflight_at_loss(in_flight, lost, bytes),
                                        (toec_u32)((toec_u64)target * BBR_BETA >> 8));
    }
    if (b->state == TOEC_BBR_UP)
        toec_bbr_probe_failed(t, now);
}
