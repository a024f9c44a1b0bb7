/* SPDX-License-Identifier: Apache-2.0 */
/* ip6_out.h - IPv6 output: next hop (RFC 4861 5.2), header, flow label (RFC 6437), checksum. */
#ifndef TOEC_IP6_OUT_H
#define TOEC_IP6_OUT_H

#include "stack.h"

int toec_ip6_path(struct toec_stack *s, const struct toec_addr *dst, struct toec_path *path);
int toec_ip6_output(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                    toec_time now);
toec_u16 toec_ip6_pseudo_sum(const toec_u8 *ip, unsigned proto, toec_u32 len);
/* Builds the frame: headers in o->room, the rest in *tx. */
void toec_ip6_frame(struct toec_stack *s, const toec_u8 *mac, unsigned hops, struct toec_outbuf *o,
                    struct toec_tx *tx);
/* Sends to a group or, with mac, to a neighbour that need not be in the cache. hops: the hop limit.
 */
int toec_ip6_send_to(struct toec_stack *s, const toec_u8 *mac, unsigned hops,
                     struct toec_outbuf *o);

#endif
