/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_uto.h - how long a flow may be without progress: R2 (RFC 9293 3.8.3), the user's own time
 * for it (MUST-21, Linux's TCP_USER_TIMEOUT), and the one that both ends agree on (RFC 5482).
 */
#ifndef TOEC_TCP_UTO_H
#define TOEC_TCP_UTO_H

#include "tcb.h"

/* Ticks after which the flow is given up, or 0: after R2 retransmissions. */
toec_u32 toec_user_timeout(const struct toec_tcb *t);
/* A timeout has come, of data, a SYN or a window probe: is it the last? */
int toec_is_over(const struct toec_tcb *t, int persist, toec_u32 ticks);
/* The retransmission due at `at` comes earlier when the user's patience ends before. */
toec_u32 toec_uto_clamp(const struct toec_tcb *t, toec_u32 at, toec_u32 ticks);
unsigned toec_uto_option(struct toec_tcb *t, toec_u8 *o, unsigned room);
void toec_uto_input(struct toec_tcb *t, const struct toec_seg *g);
int toec_uto_set(struct toec_stack *s, struct toec_tcb *t, toec_u32 seconds);

#endif
