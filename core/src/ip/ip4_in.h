/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip4_in.h - IPv4 input (RFC 791, RFC 1122 3.2.1): drops invalid datagrams silently and counts
 * them.
 */
#ifndef TOEC_IP4_IN_H
#define TOEC_IP4_IN_H

#include "stack.h"

/* Returns not 0 when the L4 checksum (with pseudo-header) is right, or was verified by the NIC. */
int toec_ip_l4_sum_ok(struct toec_stack *s, const struct toec_ip_in *in);
/* toec_port_place(), _checksum() and _copy() for any packet core/ handles, including reassembled
 * ones. */
void toec_pkt_place(struct toec_stack *s, void *owner, toec_u32 off, const struct toec_packet *p,
                    toec_u32 p_off, toec_u32 len);
toec_u16 toec_pkt_checksum(struct toec_stack *s, const struct toec_packet *p, toec_u32 p_off,
                           toec_u32 len);
void toec_pkt_copy(struct toec_stack *s, void *dst, const struct toec_packet *p, toec_u32 p_off,
                   toec_u32 len);
/* Processes a frame of ethertype IPv4. l3: offset of the IPv4 header; group: the Ethernet
 * destination is a group address. */
void toec_ip4_input(struct toec_stack *s, const struct toec_packet *p, toec_u32 l3, int group,
                    toec_time now);
/* Fills *in from a frame whose IPv4 header has been checked. */
void toec_ip4_parse(struct toec_ip_in *in, const struct toec_packet *p, toec_u32 l3);
/* Delivers a complete datagram to its protocol. */
void toec_ip4_deliver(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);

#endif
