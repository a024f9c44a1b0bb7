/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_defer.h - TCP_DEFER_ACCEPT: the listener reports a connection only when its first data has
 * arrived, or when the SYN-ACK's timer has expired a given number of times (tcp(7)).
 */
#ifndef TOEC_TCP_DEFER_H
#define TOEC_TCP_DEFER_H

#include "tcb.h"

/* Returns not 0 when the segment, which acknowledges the SYN of a flow in SYN-RECEIVED, must be
 * ignored. */
int toec_deferred(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);
/* Handles the SYN-ACK timer of a deferred flow; returns not 0 when it needs no further action. */
int toec_defer_timeout(struct toec_stack *s, struct toec_tcb *t, toec_time now);

#endif
