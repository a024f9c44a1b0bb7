/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_hystart.h - HyStart++ (RFC 9406): ends slow start when the round-trip time grows, before the
 * queue overflows. Conservative Slow Start then checks whether the growth was only jitter.
 */
#ifndef TOEC_CC_HYSTART_H
#define TOEC_CC_HYSTART_H

#include "../tcp/tcb.h"

/* Performs slow start (RFC 5681 3.1) with HyStart++ (RFC 9406). Returns the bytes of a->grow left
 * for congestion avoidance. Called for every ACK that may increase the window. */
toec_u32 toec_cc_slow_start(struct toec_tcb *t, struct toec_hystart *h,
                            const struct toec_cc_ack *a);
/* Starts HyStart++ for the first slow start; called by init(). */
void toec_hystart_begin(struct toec_tcb *t, struct toec_hystart *h);
/* Ends slow start when ACKs have arrived without a gap for so long that the window fills the path:
 * hybrid slow start (RFC 9438 4.10). Called after toec_cc_slow_start(), which may begin a round,
 * with the time of the ACK and the time since the one before. */
void toec_hystart_train(struct toec_tcb *t, struct toec_hystart *h, toec_u32 stamp, toec_u32 since);

#endif
