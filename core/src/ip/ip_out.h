/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip_out.h - the interface of IP for the layers above, for both families: paths, own addresses,
 * output.
 */
#ifndef TOEC_IP_OUT_H
#define TOEC_IP_OUT_H

#include "stack.h"

/* Routes dst. Returns 0, or TOEC_E_UNREACH (off link without gateway, or not a unicast address). */
int toec_path_to(struct toec_stack *s, const struct toec_addr *dst, struct toec_path *path);
/* Returns not 0 when a is an address that segments may be sent from. */
int toec_addr_is_own(struct toec_stack *s, const struct toec_addr *a);
/* Selects the own address for packets to dst (RFC 6724). Returns 0, or TOEC_E_NOTAVAIL. */
int toec_source_for(struct toec_stack *s, const struct toec_addr *dst, struct toec_addr *src);
int toec_ip_output(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                   toec_time now);
/* Sends a segment whose headers the integrator builds (toec_config.segments); completes mac and
 * hops of *g. Returns as toec_ip_output(), or TOEC_SEGMENT_BUILD: send it with headers. */
int toec_ip_segment(struct toec_stack *s, struct toec_path *path, struct toec_tx_segment *g,
                    toec_time now);
/*
 * Sends a packet that no flow can retransmit. While the neighbour is being resolved the packet is
 * kept (RFC 1122 2.3.2.2), and the result is 0. Payload must come from a packet (psrc).
 */
int toec_ip_post(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                 toec_time now);
/* Returns the folded sum of the pseudo-header for the family of the IP header. */
toec_u16 toec_ip_pseudo_sum(const toec_u8 *ip, unsigned proto, toec_u32 len);

#endif
