/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_reclaim.h - frees a TCB when all are in use and a new flow needs one: resets a flow that has
 * been stalled for long (RFC 6429 3 allows this when resources are low, R6429-01).
 */
#ifndef TOEC_TCP_RECLAIM_H
#define TOEC_TCP_RECLAIM_H

#include "tcb.h"

/* Resets a stalled flow; returns -1 when none was found. All TCBs are in use. */
int toec_reclaim(struct toec_stack *s, toec_time now);

#endif
