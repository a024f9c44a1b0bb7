/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ao_seg.h - TCP-AO on segments: traffic keys (RFC 5925 5.2, RFC 5926 3.1), the MAC (RFC 5925
 * 5.1), and checks of incoming segments with and without the option (RFC 5925 7.4, 7.5).
 */
#ifndef TOEC_TCP_AO_SEG_H
#define TOEC_TCP_AO_SEG_H

#include "tcp_tables.h"

/* Derives the traffic key for segments from from_to's local end to its remote end (RFC 5925 5.2,
 * RFC 5926 3.1). */
void toec_ao_traffic_key(const struct toec_ao_key *k, const struct toec_tuple *from_to,
                         toec_u32 src_isn, toec_u32 dst_isn, toec_u8 out[TOEC_MAC_MOST]);
/* Feeds the MAC with all that precedes the payload (RFC 5925 5.1). h: TCP header with its options;
 * at: offset of the AO option in h; len: bytes of header and payload. */
void toec_ao_cover(struct toec_mac *m, const struct toec_ao_key *k, const toec_u8 *traffic,
                   const struct toec_addr *src, const struct toec_addr *dst, const toec_u8 *h,
                   unsigned at, toec_u32 len, toec_u32 sne);
/* Writes the AO option into segment o at `at`, where room is reserved; the rest of o is complete.
 */
void toec_ao_sign(struct toec_stack *s, struct toec_ao *ao, struct toec_outbuf *o, unsigned at);
/* Returns not 0 when the segment must be dropped (counted). t, w, l: the flow, TIME-WAIT entry and
 * listener it is for; each may be 0. Afterwards g->ao_n is not 0 only when the MAC is correct. */
int toec_ao_refuses(struct toec_stack *s, struct toec_seg *g, struct toec_tcb *t, struct toec_tw *w,
                    struct toec_listener *l);

#endif
