/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_reclaim.h - all TCBs are in use and one more is wanted: a flow that has stood still for long
 * is reset (RFC 6429 3: the system may when resources are low, R6429-01).
 */
#ifndef TOEC_TCP_RECLAIM_H
#define TOEC_TCP_RECLAIM_H

#include "tcb.h"

/* All TCBs are in use: resets a flow that stands still; -1 when none was found. */
int toec_reclaim(struct toec_stack *s, toec_time now);

#endif
