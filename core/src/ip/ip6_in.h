/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_in.h - IPv6 input (RFC 8200): drops and counts invalid packets, and sends ICMP errors where
 * the RFC requires them.
 */
#ifndef TOEC_IP6_IN_H
#define TOEC_IP6_IN_H

#include "stack.h"

/* Processes a frame of ethertype IPv6. l3: offset of the IPv6 header; group: the Ethernet
 * destination is a group address. */
void toec_ip6_input(struct toec_stack *s, const struct toec_packet *p, toec_u32 l3, int group,
                    toec_time now);
/* Walks the extension headers from in->l4 on and delivers. */
void toec_ip6_walk(struct toec_stack *s, struct toec_ip_in *in, toec_time now);
/* Fills *in from a frame whose IPv6 header has been checked. */
void toec_ip6_parse(struct toec_ip_in *in, const struct toec_packet *p, toec_u32 l3);

#endif
