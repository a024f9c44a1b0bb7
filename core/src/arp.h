/* SPDX-License-Identifier: Apache-2.0 */
/* arp.h - ARP (RFC 826) with announcement and defence of our address (RFC 5227 2.3, 2.4). */
#ifndef TOEC_ARP_H
#define TOEC_ARP_H

#include "ip.h"
#include "timer.h"

struct toec_arp_state {
    struct toec_timer announce;
    toec_u32 announcements; /* still to send */
    toec_time defend_after; /* our address is not defended again before this time */
};

void toec_arp_init(struct toec_stack *s);
/* A frame of ethertype ARP. */
void toec_arp_input(struct toec_stack *s, const struct toec_packet *p, toec_time now);
void toec_arp_announce_timer(struct toec_stack *s, toec_time now);
/* Asks for ip: to everyone, or to mac alone when it is not 0. */
void toec_arp_request(struct toec_stack *s, toec_u32 ip, const toec_u8 *mac);

#endif
