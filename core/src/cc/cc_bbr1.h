/* SPDX-License-Identifier: Apache-2.0 */
/* cc_bbr1.h - BBR version 1, the "bbr" of Linux, as a congestion-control algorithm. */
#ifndef TOEC_CC_BBR1_H
#define TOEC_CC_BBR1_H

#include "tcp_cc.h"

extern const struct toec_cc_ops toec_cc_bbr1;

/* Interface between the state machine (cc_bbr1.c) and the model of the path (cc_bbr1_model.c).
 * Gains are in 1/256. */

#define TOEC_BBR1_CYCLE 8u /* phases of ProbeBW */

/* Return the bandwidth of the model: the filter's, or a policer's. */
toec_u64 toec_bbr1_max_bw(const struct toec_cc_bbr1 *b);
toec_u64 toec_bbr1_bw(const struct toec_cc_bbr1 *b);
/* Takes one ACK into the round count, the bandwidth filter, and the detection of policers. */
void toec_bbr1_update_bw(struct toec_tcb *t, const struct toec_rate_sample *rs);
/* Measures how much more than the bandwidth the path acknowledges at once (ACK aggregation). */
void toec_bbr1_update_aggregation(struct toec_tcb *t, const struct toec_rate_sample *rs,
                                  toec_u32 stamp);
/* Starts the detection of a policer from the beginning. */
void toec_bbr1_reset_policer(struct toec_tcb *t);
/* Reports losses of an RTO to the detection of policers. */
void toec_bbr1_policer_lost(struct toec_tcb *t);
/* Begins the phase `cycle` of ProbeBW. */
void toec_bbr1_set_phase(struct toec_cc_bbr1 *b, unsigned cycle, toec_u32 stamp);
/* Begins ProbeBW in a random phase, except that of draining. */
void toec_bbr1_probe_bw(struct toec_cc_bbr1 *b, toec_u32 stamp);

#endif
