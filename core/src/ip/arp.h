/* SPDX-License-Identifier: Apache-2.0 */
/* arp.h - ARP (RFC 826) with probing, announcement and defence of our address (RFC
 * 5227 2.1, 2.3, 2.4). */
#ifndef TOEC_ARP_H
#define TOEC_ARP_H

#include "../base/timer.h"
#include "ip.h"

struct toec_arp_state {
    struct toec_timer announce; /* also for the probes before */
    toec_u32 announcements;     /* still to send */
    toec_u32 tested;            /* the address being probed; afterwards toec_stack.ip4 has it */
    toec_u8 probes;             /* still to send */
    toec_u8 taken;              /* another host has the address */
    toec_u8 claimer[6];
    toec_time defend_after; /* our address is not defended again before this time */
};

void toec_arp_init(struct toec_stack *s, toec_time now);
/* Processes a frame of ethertype ARP, whose packet is at offset l3. */
void toec_arp_input(struct toec_stack *s, const struct toec_packet *p, toec_u32 l3, toec_time now);
void toec_arp_announce_timer(struct toec_stack *s, toec_time now);
/* Sends a request for ip: broadcast, or to mac only when it is not 0. */
void toec_arp_request(struct toec_stack *s, toec_u32 ip, const toec_u8 *mac);

#endif
