/* SPDX-License-Identifier: Apache-2.0 */
/* family.c - differences over IPv6 ("set ip6 1"): headers, sums, discovery. */
#include <string.h>

#include "prop.h"

int prop_ip6;

void own_address(unsigned host, uint8_t *b)
{
    memset(b, 0, 16);
    if (prop_ip6) {
        b[0] = 0xfd;
        b[15] = (uint8_t)(host + 1);
    } else {
        b[10] = b[11] = 0xff;
        put32(b + 12, host ? IP_B : IP_A);
    }
}

/* Of the pseudo-header; the upper halves of the long fields of IPv6's are 0 (RFC 8200 8.1). */
uint32_t pseudo_sum(const uint8_t *ip, unsigned proto, uint32_t len)
{
    return prop_ip6 ? sum16(ip + 8, 32, proto + len) : sum16(ip + 12, 8, proto + len);
}

uint32_t put_headers(uint8_t *f, unsigned to, unsigned proto, uint32_t len)
{
    uint8_t *ip = f + 14, a[16];

    memset(f, 0, 54);
    f[0] = f[6] = 2;
    f[5] = (uint8_t)(to + 1);
    f[11] = (uint8_t)(2 - to);
    if (prop_ip6) {
        put16(f + 12, 0x86dd);
        ip[0] = 0x60;
        put16(ip + 4, len);
        ip[6] = (uint8_t)proto;
        ip[7] = 64;
        own_address(1 - to, ip + 8);
        own_address(to, ip + 24);
        return 54;
    }
    put16(f + 12, 0x0800);
    ip[0] = 0x45;
    put16(ip + 2, 20 + len);
    ip[6] = 0x40;
    ip[8] = 64;
    ip[9] = (uint8_t)proto;
    own_address(1 - to, a);
    memcpy(ip + 12, a + 12, 4);
    own_address(to, a);
    memcpy(ip + 16, a + 12, 4);
    put16(ip + 10, ~sum16(ip, 20, 0));
    return 34;
}

const uint8_t *tcp_of(const uint8_t *frame, uint32_t len, uint32_t *tcp_len)
{
    const uint8_t *ip = frame + 14;

    if (prop_ip6) {
        if (len < 74 || get16(frame + 12) != 0x86dd || ip[0] >> 4 != 6 || ip[6] != 6)
            return 0;
        *tcp_len = get16(ip + 4);
        return *tcp_len < 20 || *tcp_len + 54 > len ? 0 : ip + 40;
    }
    if (len < 54 || get16(frame + 12) != 0x0800 || ip[0] != 0x45 || ip[9] != 6)
        return 0;
    *tcp_len = get16(ip + 2) - 20u;
    if (get16(ip + 2) < 40 || *tcp_len + 34 > len || sum16(ip, 20, 0) != 0xffff)
        return 0;
    return ip + 20;
}

int is_discovery(const uint8_t *frame)
{
    if (get16(frame + 12) == 0x0806)
        return 1;
    /* ICMPv6 beyond errors and echo; reports of multicast listeners follow an option */
    return get16(frame + 12) == 0x86dd && (frame[20] == 0 || (frame[20] == 58 && frame[54] > 129));
}

int asks_for_peer(const uint8_t *frame)
{
    if (prop_ip6)
        return frame[20] == 58 && frame[54] == 135 && frame[62] == 0xfd && frame[77] == 2;
    return frame[13] == 6 && frame[21] == 1 && frame[41] == 2;
}

unsigned ecn_of(const uint8_t *frame)
{
    return prop_ip6 ? frame[15] >> 4 & 3u : frame[15] & 3u;
}

void mark_ce(uint8_t *frame)
{
    if (prop_ip6) {
        frame[15] |= 0x30;
        return;
    }
    frame[15] |= 3;
    put16(frame + 24, 0);
    put16(frame + 24, ~sum16(frame + 14, 20, 0));
}

/* The length of a piece of a segmentation offload: n bytes of TCP. */
void put_length(uint8_t *frame, uint32_t n)
{
    uint8_t *ip = frame + 14;

    if (prop_ip6) {
        put16(ip + 4, n);
        return;
    }
    put16(ip + 2, 20 + n);
    put16(ip + 10, 0);
    put16(ip + 10, ~sum16(ip, 20, 0));
}

uint32_t neighbour_answer(uint8_t *f)
{
    static const uint8_t reply[42] = {2,  0, 0, 0, 0, 1, 2, 0, 0, 0, 0,  2, 8, 6,
                                      0,  1, 8, 0, 6, 4, 0, 2, 2, 0, 0,  0, 0, 2,
                                      10, 0, 0, 2, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1};
    uint8_t *m;

    if (!prop_ip6) {
        memcpy(f, reply, sizeof(reply));
        return sizeof(reply);
    }
    m = f + put_headers(f, 0, 58, 32);
    f[21] = 255;
    memset(m, 0, 32);
    m[0] = 136;
    m[4] = 0x60; /* solicited, override */
    own_address(1, m + 8);
    m[24] = 2;
    m[25] = 1;
    m[26] = 2;
    m[31] = 2;
    put16(m + 2, ~sum16(m, 32, pseudo_sum(f + 14, 58, 32)));
    return 54 + 32;
}

/* kind: as in forge_icmp(). The error quotes a segment of `host` that begins with ports. */
uint32_t icmp_error(uint8_t *f, unsigned host, unsigned kind, uint32_t mtu, const uint8_t *ports)
{
    static const uint8_t codes4[4] = {4, 0, 1, 3}, codes6[4] = {0, 0, 3, 4};
    uint32_t head = prop_ip6 ? 40 : 20, len = 8 + head + 8 + (prop_ip6 ? 12 : 0), l4;
    uint8_t *icmp, *in, a[16];

    l4 = put_headers(f, host, prop_ip6 ? 58 : 1, len);
    icmp = f + l4;
    in = icmp + 8;
    f[11] = 9; /* some router */
    memset(icmp, 0, len);
    memcpy(in + head, ports, 8);
    if (prop_ip6) {
        icmp[0] = kind == 0 ? 2 : 1;
        icmp[1] = codes6[kind];
        put32(icmp + 4, kind == 0 ? mtu : 0);
        in[0] = 0x60;
        put16(in + 4, 960);
        in[6] = 6;
        in[7] = 64;
        own_address(host, in + 8);
        own_address(1 - host, in + 24);
        put16(icmp + 2, ~sum16(icmp, len, pseudo_sum(f + 14, 58, len)));
        return l4 + len;
    }
    icmp[0] = 3;
    icmp[1] = codes4[kind];
    put16(icmp + 6, kind == 0 ? mtu : 0);
    in[0] = 0x45;
    put16(in + 2, 1000);
    put16(in + 6, 0x4000);
    in[8] = 64;
    in[9] = 6;
    own_address(host, a);
    memcpy(in + 12, a + 12, 4);
    own_address(1 - host, a);
    memcpy(in + 16, a + 12, 4);
    put16(in + 10, ~sum16(in, 20, 0));
    put16(icmp + 2, ~sum16(icmp, len, 0));
    return l4 + len;
}
