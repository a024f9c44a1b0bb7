/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - the Ethernet between the stack and a source of IP packets (packetdrill's tun device has
 * none). One router owns every address except the stack's; it answers ARP (RFC 826) and neighbour
 * solicitations (RFC 4861) immediately and never solicits.
 */
#include <string.h>

#include "world.h"

#define ETH      14u
#define TYPE_IP4 0x0800u
#define TYPE_ARP 0x0806u
#define TYPE_IP6 0x86ddu

#define ARP_LEN     28u
#define ARP_REQUEST 1u
#define ARP_REPLY   2u

#define IP6       40u
#define ICMP6     58u
#define ND_RS     133u
#define ND_NS     135u
#define ND_NA     136u
#define ND_NS_LEN 24u
#define MLD_FIRST 130u
#define MLD_LAST  132u
#define MLD_V2    143u

const uint8_t link_own_mac[6] = {0x02, 0x74, 0x6f, 0x65, 0x00, 0x01};
static const uint8_t router_mac[6] = {0x02, 0x74, 0x6f, 0x65, 0x00, 0xfe};

static unsigned get16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void header(uint8_t *f, unsigned type)
{
    memcpy(f, link_own_mac, 6);
    memcpy(f + 6, router_mac, 6);
    put16(f + 12, type);
}

static void answer_arp(struct netio *n, const uint8_t *arp, uint32_t len)
{
    uint8_t f[ETH + ARP_LEN];

    /* a request for its own address: a probe or an announcement (RFC 5227) */
    if (len < ARP_LEN || get16(arp + 6) != ARP_REQUEST ||
        memcmp(arp + 24, world.knobs.core.ip, 4) == 0)
        return;
    header(f, TYPE_ARP);
    memcpy(f + ETH, arp, 6); /* hardware and protocol, their lengths */
    put16(f + ETH + 6, ARP_REPLY);
    memcpy(f + ETH + 8, router_mac, 6);
    memcpy(f + ETH + 14, arp + 24, 4);
    memcpy(f + ETH + 18, arp + 8, 10);
    wire_inject(n, f, sizeof(f));
}

void link_greet(struct netio *n)
{
    uint8_t f[ETH + ARP_LEN] = {0}, *arp = f + ETH;

    header(f, TYPE_ARP);
    memcpy(arp, (uint8_t[]){0, 1, 8, 0, 6, 4, 0, ARP_REQUEST}, 8);
    memcpy(arp + 8, router_mac, 6);
    memcpy(arp + 14, world.knobs.core.gateway, 4);
    memcpy(arp + 24, world.knobs.core.ip, 4);
    wire_inject(n, f, sizeof(f));
}

/* ICMPv6's checksum over the pseudo-header (RFC 4443 2.3). */
static void icmp6_sum(uint8_t *ip, unsigned len)
{
    uint32_t sum = len + ICMP6;
    unsigned i;

    put16(ip + IP6 + 2, 0);
    for (i = 8; i < IP6 + len; i += 2)
        sum += get16(ip + i);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    put16(ip + IP6 + 2, ~sum & 0xffff);
}

static void answer_solicitation(struct netio *n, const uint8_t *ip)
{
    static const uint8_t unspecified[16];
    const uint8_t *ns = ip + IP6;
    uint8_t f[ETH + IP6 + ND_NS_LEN + 8], *to = f + ETH, *na = to + IP6;

    if (memcmp(ip + 8, unspecified, 16) == 0) /* a probe for a duplicate (RFC 4862 5.4) */
        return;
    header(f, TYPE_IP6);
    memset(to, 0, IP6 + ND_NS_LEN + 8);
    to[0] = 0x60;
    put16(to + 4, ND_NS_LEN + 8);
    to[6] = ICMP6;
    to[7] = 255;
    memcpy(to + 8, ns + 8, 16);
    memcpy(to + 24, ip + 8, 16);
    na[0] = ND_NA;
    na[4] = 0xe0; /* router, solicited, override */
    memcpy(na + 8, ns + 8, 16);
    na[24] = 2; /* target link-layer address */
    na[25] = 1;
    memcpy(na + 26, router_mac, 6);
    icmp6_sum(to, ND_NS_LEN + 8);
    wire_inject(n, f, sizeof(f));
}

/* 1 when the packet is the link's own business. */
static int link_icmp6(struct netio *n, const uint8_t *ip, uint32_t len)
{
    unsigned next = len < IP6 + 1 ? 0 : ip[6], type;

    /* MLD follows a hop-by-hop header with the router alert (RFC 2710 3) */
    if (next == 0 && len > IP6 + 8 && ip[IP6] == ICMP6) {
        type = ip[IP6 + 8];
        return (type >= MLD_FIRST && type <= MLD_LAST) || type == MLD_V2;
    }
    if (next != ICMP6)
        return 0;
    type = ip[IP6];
    if (type == ND_NS && len >= IP6 + ND_NS_LEN)
        answer_solicitation(n, ip);
    return type == ND_RS || type == ND_NS || type == ND_NA;
}

const uint8_t *link_out(struct netio *n, const uint8_t *frame, uint32_t len, uint32_t *ip_len)
{
    const uint8_t *ip = frame + ETH;
    unsigned type;

    if (len < ETH)
        return NULL;
    type = get16(frame + 12);
    len -= ETH;
    if (type == TYPE_ARP)
        answer_arp(n, ip, len);
    if (type == TYPE_IP4 && len >= 20) { /* without padding */
        *ip_len = get16(ip + 2) < len ? get16(ip + 2) : len;
        return ip;
    }
    if (type == TYPE_IP6 && len >= IP6 && !link_icmp6(n, ip, len)) {
        *ip_len = get16(ip + 4) + IP6 < len ? get16(ip + 4) + IP6 : len;
        return ip;
    }
    return NULL;
}

int link_in(struct netio *n, const uint8_t *packet, size_t len)
{
    uint8_t f[ETH + 65536];
    unsigned version = len ? packet[0] >> 4 : 0;

    if ((version != 4 && version != 6) || len > 65535)
        return -1;
    header(f, version == 4 ? TYPE_IP4 : TYPE_IP6);
    memcpy(f + ETH, packet, len);
    wire_inject(n, f, (uint32_t)(ETH + len));
    return 0;
}
