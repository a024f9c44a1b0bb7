/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_reass.h - IPv6 reassembly (RFC 8200 4.5, RFC 5722, RFC 7112): checks of a fragment, and the
 * packet made of them.
 */
#ifndef TOEC_IP6_REASS_H
#define TOEC_IP6_REASS_H

#include "stack.h"

/* A fragment of IPv6: in->l4 is the fragment header; next_at: where in the packet its type stands.
 */
void toec_reass6_input(struct toec_stack *s, const struct toec_ip_in *in, unsigned next_at,
                       toec_time now);
void toec_reass6_timeout(struct toec_stack *s, struct toec_datagram *d, toec_time now);

#endif
