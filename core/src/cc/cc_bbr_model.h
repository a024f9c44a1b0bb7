/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_bbr_model.h - interface between BBR's state machine (cc_bbr.c) and its model of the path
 * (cc_bbr_model.c): draft-ietf-ccwg-bbr-06.
 */
#ifndef TOE_CC_BBR_MODEL_H
#define TOE_CC_BBR_MODEL_H

#include "../base/bits.h"
#include "../tcp/tcb.h"

#define BBR(t) ((t)->cc.u.bbr)

#define BBR_INF     0xffffffffu
#define BBR_BW_INF  (~(toec_u64)0)
#define BBR_MS(ms)  ((toec_u32)((toec_u64)(ms)*15625u >> 4)) /* 10^6 / 2^10 */
#define BBR_PERCENT 328u                                     /* 2% of 2^14: LossThresh */

/* Gains in 1/256. */
#define BBR_STARTUP_PACING_GAIN 709u /* 2.77 */
#define BBR_DEFAULT_CWND_GAIN   512u
#define BBR_DRAIN_PACING_GAIN   128u
#define BBR_DOWN_PACING_GAIN    230u /* 0.90 */
#define BBR_UP_PACING_GAIN      320u /* 1.25 */
#define BBR_UP_CWND_GAIN        576u /* 2.25 */
#define BBR_PROBE_RTT_CWND_GAIN 128u
#define BBR_HEADROOM            38u  /* 0.15 */
#define BBR_BETA                179u /* 0.7 */

#define BBR_PACING_MARGIN      1u /* percent */
#define BBR_STARTUP_FULL_LOSS  6u
#define BBR_RENO_ROUNDS        63u
#define BBR_MIN_RTT_FILTER     BBR_MS(10000)
#define BBR_PROBE_RTT_INTERVAL BBR_MS(5000)
#define BBR_PROBE_RTT_DURATION BBR_MS(200)
#define BBR_EXTRA_HALF         5u /* rounds: half of ExtraAckedFilterLen */
#define BBR_MIN_PIPE(t)        (4u * (t)->mss)

enum {
    ACKS_INIT = 0,
    ACKS_REFILLING,
    ACKS_PROBE_STARTING,
    ACKS_PROBE_FEEDBACK,
    ACKS_PROBE_STOPPING
};

TOEC_INLINE int toec_bbr_in_probe_bw(const struct toec_cc_bbr *b)
{
    return b->state >= TOEC_BBR_DOWN && b->state <= TOEC_BBR_UP;
}

TOEC_INLINE toec_u64 toec_bbr_max_bw(const struct toec_cc_bbr *b)
{
    return TOEC_MAX(b->max_bw[0], b->max_bw[1]);
}

/* Returns a random part of `all`. */
TOEC_INLINE toec_u32 toec_bbr_part(toec_u32 random, toec_u32 all)
{
    return (toec_u32)((toec_u64)random * all >> 32);
}

/* Return gain/256 * bw * min_rtt (BDPMultiple); raise a volume to the least that offloads and
 * pipelining need (QuantizationBudget). */
toec_u32 toec_bbr_bdp(const struct toec_tcb *t, toec_u64 bw, unsigned gain);
toec_u32 toec_bbr_quantize(const struct toec_tcb *t, toec_u32 inflight);

void toec_bbr_start_round(struct toec_tcb *t);
void toec_bbr_reset_congestion(struct toec_cc_bbr *b);
void toec_bbr_reset_shortterm(struct toec_cc_bbr *b);
void toec_bbr_reset_full_bw(struct toec_cc_bbr *b);
void toec_bbr_advance_max_bw(struct toec_cc_bbr *b);
/* IsInflightTooHigh() */
int toec_bbr_too_high(const struct toec_tcb *t, toec_u32 lost, toec_u32 tx_in_flight);
/* UpdateLatestDeliverySignals(), UpdateCongestionSignals() */
void toec_bbr_update_signals(struct toec_tcb *t, const struct toec_rate_sample *rs, toec_u64 rate);
void toec_bbr_update_aggregation(struct toec_tcb *t, const struct toec_rate_sample *rs,
                                 toec_u32 stamp);
void toec_bbr_check_full_bw(struct toec_cc_bbr *b, const struct toec_rate_sample *rs,
                            toec_u64 rate);
void toec_bbr_update_min_rtt(struct toec_cc_bbr *b, toec_u32 rtt, toec_u32 stamp);
void toec_bbr_save_upon_loss(struct toec_cc_bbr *b);
void toec_bbr_note_loss(struct toec_tcb *t);
/* HandleLostPacket() */
void toec_bbr_lost(struct toec_tcb *t, const struct toec_tx_mark *m, toec_u32 bytes, toec_time now);

#endif
