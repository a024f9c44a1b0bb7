/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_expect.h - what a batch of frames will touch is fetched into the cache before the first of
 * them is looked at: with many flows nothing of them is there, and who goes from frame to frame
 * waits for memory a dozen times for each.
 */
#ifndef TOEC_TCP_EXPECT_H
#define TOEC_TCP_EXPECT_H

#include "tcb.h"

/* What traffic in order touches. */
void toec_fetch_flow(const struct toec_tcb *t);
/* What the look at a timer touches. */
void toec_fetch_timed(const struct toec_tcb *t);

#endif
