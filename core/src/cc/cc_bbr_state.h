/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_bbr_state.h - state of BBR version 3 (draft-ietf-ccwg-bbr-06), by the draft's names.
 * Bandwidths are bytes per 2^30 ns, volumes bytes, times stamps of 2^10 ns.
 */
#ifndef TOEC_CC_BBR_STATE_H
#define TOEC_CC_BBR_STATE_H

#include "../base/base.h"

enum toec_bbr_state {
    TOEC_BBR_STARTUP = 0,
    TOEC_BBR_DRAIN,
    TOEC_BBR_DOWN, /* ProbeBW_DOWN ... */
    TOEC_BBR_CRUISE,
    TOEC_BBR_REFILL,
    TOEC_BBR_UP,
    TOEC_BBR_PROBE_RTT,
    TOEC_BBR_NONE /* undo_state */
};

struct toec_cc_bbr {
    toec_u64 bw;
    toec_u64 max_bw[2]; /* max_bw_filter: maximum of the last ProbeBW cycle, of this one */
    toec_u64 bw_latest, bw_shortterm, undo_bw_shortterm;
    toec_u64 full_bw;
    toec_u32 min_rtt, min_rtt_stamp;
    toec_u32 probe_rtt_min_delay, probe_rtt_min_stamp, probe_rtt_done_stamp;
    toec_u32 next_round_delivered, loss_round_delivered;
    toec_u32 round_count, rounds_since_probe_up, drain_start_round;
    toec_u32 cycle_stamp, bw_probe_wait;
    toec_u32 inflight_longterm, inflight_shortterm, inflight_latest;
    toec_u32 undo_inflight_longterm, undo_inflight_shortterm;
    toec_u32 prior_cwnd;
    toec_u32 bw_probe_up_acked, probe_up_acked_per_inc;
    toec_u32 extra_acked_start, extra_acked_delivered, extra_acked_round;
    toec_u32 extra_acked[2]; /* extra_acked_filter: maximum of the last half window, of this one */
    toec_u32 random;
    toec_u16 pacing_gain, cwnd_gain; /* 1/256 */
    toec_u8 state, undo_state;       /* enum toec_bbr_state */
    toec_u8 ack_phase;
    toec_u8 full_bw_count, loss_events, bw_probe_up_rounds;
    toec_u8 full_bw_now, full_bw_reached;
    toec_u8 round_start, loss_round_start, is_loss_in_round;
    toec_u8 is_bw_probe_sample, prev_probe_too_high, prev_probe_precautionary;
    toec_u8 probe_rtt_expired, probe_rtt_done_set, probe_rtt_round_done;
    toec_u8 idle_restart;
};

#endif
