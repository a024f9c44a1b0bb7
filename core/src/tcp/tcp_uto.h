/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_uto.h - limits on the time without progress: R2 (RFC 9293 3.8.3), the user's own timeout
 * (MUST-21, Linux's TCP_USER_TIMEOUT), and the one negotiated with the peer (RFC 5482).
 */
#ifndef TOEC_TCP_UTO_H
#define TOEC_TCP_UTO_H

#include "tcb.h"

/* Returns the ticks after which the flow is aborted; 0: after R2 retransmissions. */
toec_u32 toec_user_timeout(const struct toec_tcb *t);
/* Returns not 0 when this timeout of data, a SYN or (persist) a window probe is the last. */
int toec_is_over(const struct toec_tcb *t, int persist, toec_u32 ticks);
/* Returns the deadline `at` of a retransmission, or the end of the user timeout if earlier. */
toec_u32 toec_uto_clamp(const struct toec_tcb *t, toec_u32 at, toec_u32 ticks);
unsigned toec_uto_option(struct toec_tcb *t, toec_u8 *o, unsigned room);
void toec_uto_input(struct toec_tcb *t, const struct toec_seg *g);
int toec_uto_set(struct toec_stack *s, struct toec_tcb *t, toec_u32 seconds);

#endif
