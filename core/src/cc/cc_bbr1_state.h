/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_bbr1_state.h - state of BBR version 1, by the names of draft-cardwell-iccrg-bbr-congestion-
 * control-00. Bandwidths are bytes per 2^30 ns, volumes bytes, times stamps of 2^10 ns.
 */
#ifndef TOEC_CC_BBR1_STATE_H
#define TOEC_CC_BBR1_STATE_H

#include "../base/base.h"

enum toec_bbr1_state {
    TOEC_BBR1_STARTUP = 0,
    TOEC_BBR1_DRAIN,
    TOEC_BBR1_PROBE_BW,
    TOEC_BBR1_PROBE_RTT,
    TOEC_BBR1_STATES
};

/* A bandwidth and the round in which it was measured. */
struct toec_bbr1_bw {
    toec_u64 bw;
    toec_u32 round;
};

struct toec_cc_bbr1 {
    struct toec_bbr1_bw best[3]; /* BtlBwFilter: the largest of the last rounds, the largest since
                                  * that, the largest since the second */
    toec_u64 full_bw;
    toec_u64 lt_bw; /* rate of a policer, 0: none is suspected */
    toec_u32 min_rtt, min_rtt_stamp, probe_rtt_done_stamp;
    toec_u32 next_round_delivered, round_count;
    toec_u32 cycle_stamp;
    toec_u32 startup_lost; /* C.lost when the round of Startup began */
    toec_u32 prior_cwnd;
    toec_u32 extra_acked[2]; /* maxima of two windows of rounds, in turn */
    toec_u32 extra_acked_start, extra_acked_delivered;
    toec_u32 lt_stamp, lt_delivered, lt_lost; /* when the interval of a policer's sample began */
    toec_u32 random;
    toec_u8 state; /* enum toec_bbr1_state */
    toec_u8 cycle; /* phase of ProbeBW */
    toec_u8 full_bw_count, full_bw_reached;
    toec_u8 round_start;
    toec_u8 recovering; /* the flow was in recovery at the last ACK */
    toec_u8 conserving; /* packet conservation: the first round of fast recovery */
    toec_u8 probe_rtt_done_set, probe_rtt_round_done;
    toec_u8 idle_restart;
    toec_u8 extra_acked_rounds, extra_acked_now; /* age and index of the current window */
    toec_u8 lt_sampling, lt_used, lt_rounds;
    toec_u8 rtt_seen; /* the pacing rate is based on a measured RTT */
};

#endif
