/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ao_seg.h - TCP-AO on segments: traffic keys (RFC 5925 5.2, RFC 5926 3.1), the MAC (RFC 5925
 * 5.1), and what is done with a segment that comes with it, or without (RFC 5925 7.4, 7.5).
 */
#ifndef TOEC_TCP_AO_SEG_H
#define TOEC_TCP_AO_SEG_H

#include "tcp_tables.h"

/* The traffic key for segments from id's local end to its remote one (RFC 5925 5.2, RFC 5926 3.1).
 */
void toec_ao_traffic_key(const struct toec_ao_key *k, const struct toec_tuple *from_to,
                         toec_u32 src_isn, toec_u32 dst_isn, toec_u8 out[TOEC_MAC_MOST]);
/* RFC 5925 5.1: what of a MAC stands before the payload. h: TCP header with its options, of which
 * that at `at` is the AO option; len: of header and payload. */
void toec_ao_cover(struct toec_mac *m, const struct toec_ao_key *k, const toec_u8 *traffic,
                   const struct toec_addr *src, const struct toec_addr *dst, const toec_u8 *h,
                   unsigned at, toec_u32 len, toec_u32 sne);
/* The segment o is complete but for its option, for which there is room at `at`. */
void toec_ao_sign(struct toec_stack *s, struct toec_ao *ao, struct toec_outbuf *o, unsigned at);
/* Not 0: the segment is dropped (counted). t, w, l: what it is for, each may be 0. g->ao_n is not 0
 * after that only when its MAC is right. */
int toec_ao_refuses(struct toec_stack *s, struct toec_seg *g, struct toec_tcb *t, struct toec_tw *w,
                    struct toec_listener *l);

#endif
