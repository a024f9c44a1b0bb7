/* SPDX-License-Identifier: Apache-2.0 */
/* wire_arp.h - ARP for IPv4 over Ethernet (RFC 826). */
#ifndef TOEC_WIRE_ARP_H
#define TOEC_WIRE_ARP_H

#include "wire_eth.h"

#define TOEC_ARP_HTYPE 0
#define TOEC_ARP_PTYPE 2
#define TOEC_ARP_HLEN  4
#define TOEC_ARP_PLEN  5
#define TOEC_ARP_OP    6
#define TOEC_ARP_SHA   8  /* sender hardware address */
#define TOEC_ARP_SPA   14 /* sender protocol address */
#define TOEC_ARP_THA   18
#define TOEC_ARP_TPA   24
#define TOEC_ARP_LEN   28

#define TOEC_ARP_REQUEST 1u
#define TOEC_ARP_REPLY   2u

struct toec_arp {
    toec_u16 op;
    toec_u8 sha[6], tha[6];
    toec_u32 spa, tpa;
};

/* Parses TOEC_ARP_LEN bytes. Returns 0, or -1 when this is not ARP for IPv4 over Ethernet
 * (R826-03). */
TOEC_INLINE int toec_arp_parse(struct toec_arp *a, const toec_u8 *p)
{
    if (toec_get16(p + TOEC_ARP_HTYPE) != 1 ||
        toec_get16(p + TOEC_ARP_PTYPE) != TOEC_ETHERTYPE_IP4 || p[TOEC_ARP_HLEN] != 6 ||
        p[TOEC_ARP_PLEN] != 4)
        return -1;
    a->op = toec_get16(p + TOEC_ARP_OP);
    memcpy(a->sha, p + TOEC_ARP_SHA, 6);
    memcpy(a->tha, p + TOEC_ARP_THA, 6);
    a->spa = toec_get32(p + TOEC_ARP_SPA);
    a->tpa = toec_get32(p + TOEC_ARP_TPA);
    return a->op == TOEC_ARP_REQUEST || a->op == TOEC_ARP_REPLY ? 0 : -1;
}

TOEC_INLINE void toec_arp_emit(toec_u8 *p, const struct toec_arp *a)
{
    toec_put16(p + TOEC_ARP_HTYPE, 1);
    toec_put16(p + TOEC_ARP_PTYPE, TOEC_ETHERTYPE_IP4);
    p[TOEC_ARP_HLEN] = 6;
    p[TOEC_ARP_PLEN] = 4;
    toec_put16(p + TOEC_ARP_OP, a->op);
    memcpy(p + TOEC_ARP_SHA, a->sha, 6);
    toec_put32(p + TOEC_ARP_SPA, a->spa);
    memcpy(p + TOEC_ARP_THA, a->tha, 6);
    toec_put32(p + TOEC_ARP_TPA, a->tpa);
}

#endif
