/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_reass.h - IPv6 reassembly (RFC 8200 4.5, RFC 5722, RFC 7112): checks fragments and builds the
 * reassembled packet.
 */
#ifndef TOEC_IP6_REASS_H
#define TOEC_IP6_REASS_H

#include "stack.h"

/* Processes a fragment: in->l4 is the fragment header; next_at: offset in the packet of its type.
 */
void toec_reass6_input(struct toec_stack *s, const struct toec_ip_in *in, unsigned next_at,
                       toec_time now);
void toec_reass6_timeout(struct toec_stack *s, struct toec_datagram *d, toec_time now);

#endif
