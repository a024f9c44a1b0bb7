/* SPDX-License-Identifier: Apache-2.0 */
/* ip4_out.h - IPv4 output: routing (RFC 1122 3.3.1), header, checksums. */
#ifndef TOEC_IP4_OUT_H
#define TOEC_IP4_OUT_H

#include "stack.h"

/* toec_path_to() for IPv4. */
int toec_ip4_path(struct toec_stack *s, toec_u32 dst, struct toec_path *path);
toec_u32 toec_send_epoch(const struct toec_stack *s);
/* toec_ip_output() for a path of IPv4. */
int toec_ip4_output(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                    toec_time now);
/* Returns not 0 when ip is the network's own or broadcast address. /31 and /32 have none (RFC
 * 3021), and neither has /0, where all addresses are on the link. */
int toec_ip4_is_broadcast(toec_u32 ip, toec_u32 mask);
/* Returns not 0 when ip is the address of another host on the link of own/mask. */
int toec_ip4_on_link_host(toec_u32 own, toec_u32 mask, toec_u32 ip);
/* Returns not 0 when no host may have this address: 0/8, 127/8, multicast, 240/4, broadcast. */
int toec_ip4_is_martian(toec_u32 ip);
/* Returns the folded sum of the pseudo-header (RFC 9293 3.1), with the addresses of the IPv4
 * header. */
toec_u16 toec_ip4_pseudo_sum(const toec_u8 *ip, unsigned proto, toec_u32 len);
/* Completes the checksum of an IPv4 header of hlen bytes. */
void toec_ip4_set_sum(toec_u8 *ip, unsigned hlen);
/* Builds the frame that toec_ip4_output() sends: headers in o->room, the rest in *tx. */
void toec_ip4_frame(struct toec_stack *s, const toec_u8 *mac, struct toec_outbuf *o,
                    struct toec_tx *tx);
/* As toec_ip4_output(), with this flags-and-offset word and ID: for fragments made by core/. */
int toec_ip4_send(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                  toec_u32 frag, toec_u32 id, toec_time now);
/* Passes a frame to the integrator and counts it. Returns 0, or TOEC_SEND_WAIT when there is no
 * room. */
int toec_transmit(struct toec_stack *s, const struct toec_tx *tx);

#endif
