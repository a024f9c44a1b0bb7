/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_isn.h - what must not be guessed: initial sequence numbers (RFC 6528), SYN cookies (RFC 4987
 * 3.6), ephemeral ports (RFC 6056), timestamp offsets (RFC 7323 5.4).
 */
#ifndef TOEC_TCP_ISN_H
#define TOEC_TCP_ISN_H

#include "tcb.h"

toec_u32 toec_isn(struct toec_stack *s, const struct toec_tuple *id, toec_time now);
toec_u32 toec_ts_offset(struct toec_stack *s, const struct toec_tuple *id);
toec_u32 toec_cookie_make(struct toec_stack *s, const struct toec_seg *g, toec_time now);
/* The MSS a cookie carries, or 0 when it is not one of ours. g is the ACK of it. */
unsigned toec_cookie_check(struct toec_stack *s, const struct toec_seg *g, toec_time now);
/* Not 0 when segments of this 4-tuple reach this stack (see toec_config.home_index). */
int toec_port_is_home(const struct toec_stack *s, const struct toec_tuple *id);
/* A free local port for the rest of id, or 0. */
toec_u16 toec_port_pick(struct toec_stack *s, const struct toec_tuple *id, toec_time now);

#endif
