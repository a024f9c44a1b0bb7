/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_isn.h - values an attacker must not guess: initial sequence numbers (RFC 6528), SYN cookies
 * (RFC 4987 3.6), ephemeral ports (RFC 6056), timestamp offsets (RFC 7323 5.4).
 */
#ifndef TOEC_TCP_ISN_H
#define TOEC_TCP_ISN_H

#include "tcb.h"

toec_u32 toec_isn(struct toec_stack *s, const struct toec_tuple *id, toec_time now);
toec_u32 toec_ts_offset(struct toec_stack *s, const struct toec_tuple *id);
toec_u32 toec_cookie_make(struct toec_stack *s, const struct toec_seg *g, toec_time now);
/* Returns the MSS encoded in a cookie, or 0 when it is not valid. g is the ACK that returns it. */
unsigned toec_cookie_check(struct toec_stack *s, const struct toec_seg *g, toec_time now);
/* Returns not 0 when segments of this 4-tuple reach this stack (see toec_config.home_index). */
int toec_port_is_home(const struct toec_stack *s, const struct toec_tuple *id);
/* Returns a free local port for the rest of id, or 0 (counted). within: 0, or a range (see
 * toec_connect_from()). */
toec_u16 toec_port_pick(struct toec_stack *s, const struct toec_tuple *id, toec_u32 within,
                        toec_time now);

#endif
