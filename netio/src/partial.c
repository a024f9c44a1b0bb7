/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partial.c - recognises and completes omitted checksums (RFC 1071, RFC 9293 3.1).
 *
 * A damaged frame looks like one without a checksum as rarely as a damaged frame's checksum is
 * right by chance: one in 65,536.
 */
#include <string.h>

#include "backend.h"
#include "partial.h"

#define IP4_LEN   20u
#define IP6_LEN   40u
#define TCP_PROTO 6u
#define UDP_PROTO 17u
#define TCP_LEN   20u
#define UDP_LEN   8u

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

/* Adds bytes to the sum. Each piece except the last must have an even number of bytes. */
static uint32_t add(uint32_t sum, const uint8_t *p, uint32_t len)
{
    for (; len > 1; p += 2, len -= 2) {
        sum += get16(p);
        sum = (sum & 0xffffu) + (sum >> 16);
    }
    if (len)
        sum += (uint32_t)p[0] << 8;
    return sum;
}

static uint32_t fold(uint32_t sum)
{
    sum = (sum & 0xffffu) + (sum >> 16);
    return (sum & 0xffffu) + (sum >> 16);
}

/* For IPv4 that is not a fragment: finds the sum of its addresses and its payload. */
static int find_ip4(const uint8_t *frame, uint32_t len, struct partial *p, uint8_t *proto,
                    uint32_t *sum)
{
    const uint8_t *ip = frame + p->l3;
    uint32_t header;

    if (len < p->l3 + IP4_LEN || ip[0] >> 4 != 4 || (get16(ip + 6) & 0x3fffu))
        return 0;
    header = (ip[0] & 15u) * 4;
    p->l4 = p->l3 + header;
    p->end = p->l3 + get16(ip + 2);
    *proto = ip[9];
    *sum = add(0, ip + 12, 8);
    return header >= IP4_LEN;
}

/* The same for IPv6 without extension headers. */
static int find_ip6(const uint8_t *frame, uint32_t len, struct partial *p, uint8_t *proto,
                    uint32_t *sum)
{
    const uint8_t *ip = frame + p->l3;

    if (len < p->l3 + IP6_LEN || ip[0] >> 4 != 6)
        return 0;
    p->l4 = p->l3 + IP6_LEN;
    p->end = p->l4 + get16(ip + 4);
    *proto = ip[6];
    *sum = add(0, ip + 8, 32);
    return 1;
}

/* Finds the IP header, behind any number of VLAN tags. Returns its type, or 0. */
static uint32_t find_ip(const uint8_t *frame, uint32_t len, struct partial *p)
{
    for (p->l3 = ETH_HEADER; p->l3 <= len; p->l3 += ETH_TAG) {
        uint32_t type = get16(frame + p->l3 - 2);

        if (type != 0x8100 && type != 0x88a8)
            return type;
    }
    return 0;
}

int partial_find(const uint8_t *frame, uint32_t len, struct partial *p)
{
    uint32_t type = find_ip(frame, len, p), sum = 0, l4_len;
    uint8_t proto = 0;

    if (type == 0x0800 ? !find_ip4(frame, len, p, &proto, &sum)
                       : type != 0x86dd || !find_ip6(frame, len, p, &proto, &sum))
        return 0;
    if (p->end > len || p->end < p->l4)
        return 0;
    l4_len = p->end - p->l4;
    if (proto == TCP_PROTO && l4_len >= TCP_LEN) {
        p->csum_offset = 16;
        p->payload = p->l4 + (frame[p->l4 + 12] >> 4) * 4u;
    } else if (proto == UDP_PROTO && l4_len >= UDP_LEN) {
        p->csum_offset = 6;
        p->payload = p->l4 + UDP_LEN;
    } else {
        return 0;
    }
    return get16(frame + p->l4 + p->csum_offset) == fold(sum + proto + l4_len);
}

void partial_complete(uint8_t *frame, const struct partial *p)
{
    /* the field contains the sum of the pseudo-header, which is added with the rest */
    uint32_t sum = ~fold(add(0, frame + p->l4, p->end - p->l4)) & 0xffffu;

    if (sum == 0) /* in UDP, 0 means that there is no checksum (RFC 768) */
        sum = 0xffffu;
    frame[p->l4 + p->csum_offset] = (uint8_t)(sum >> 8);
    frame[p->l4 + p->csum_offset + 1] = (uint8_t)sum;
}
