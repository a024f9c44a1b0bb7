/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_defer.h - TCP_DEFER_ACCEPT: a listener whose connections are told when their first data has
 * come, or when so many times of the SYN-ACK's timer have passed (tcp(7)).
 */
#ifndef TOEC_TCP_DEFER_H
#define TOEC_TCP_DEFER_H

#include "tcb.h"

/* tcp_defer.c: of a flow in SYN-RECEIVED whose SYN the segment acknowledges: not 0 when it is left
 * unheard; the timer of one: not 0 when that is done with. */
int toec_deferred(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);
int toec_defer_timeout(struct toec_stack *s, struct toec_tcb *t, toec_time now);

#endif
