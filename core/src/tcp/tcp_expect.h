/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_expect.h - prefetches the memory that a batch of frames will touch, before the first of them
 * is processed. With many flows their TCBs are not in the cache, and processing frame by frame
 * would cause a dozen cache misses for each.
 */
#ifndef TOEC_TCP_EXPECT_H
#define TOEC_TCP_EXPECT_H

#include "tcb.h"

/* Prefetches the part of a TCB that in-order traffic touches. */
void toec_fetch_flow(const struct toec_tcb *t);
/* Prefetches the part of a TCB that a timer's expiry touches. */
void toec_fetch_timed(const struct toec_tcb *t);

#endif
