/* SPDX-License-Identifier: Apache-2.0 */
/* nd.h - neighbour discovery (RFC 4861): solicitations, advertisements and redirects. */
#ifndef TOEC_ND_H
#define TOEC_ND_H

#include "stack.h"

/* Options of a discovery message that core/ reads; 0: absent. */
struct toec_nd_options {
    const toec_u8 *source_mac, *target_mac, *nonce;
    const toec_u8 *mtu;
    const toec_u8 *prefix[TOEC_IP6_PREFIXES];
    unsigned prefixes;
};

/* Processes an ICMPv6 message of types 133 to 137 with a correct checksum. */
void toec_nd_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
/* Solicits a neighbour: by multicast, or mac only when it is not 0. */
void toec_nd_solicit(struct toec_stack *s, const struct toec_addr *target, const toec_u8 *mac);
/* Probes our tentative address for duplicates. */
void toec_nd_probe(struct toec_stack *s, const struct toec_own6 *own);
void toec_nd_advertise(struct toec_stack *s, const struct toec_own6 *own);
/* Marks this address as a router's; mac 0: not announced. */
void toec_nd_learn_router(struct toec_stack *s, const struct toec_addr *addr, const toec_u8 *mac,
                          toec_time now);
/* Parses options. Returns -1 when one has length 0 or exceeds the message. */
int toec_nd_options(struct toec_nd_options *o, const toec_u8 *p, toec_u32 len);

#endif
