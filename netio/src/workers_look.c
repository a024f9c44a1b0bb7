/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers_look.c - for which workers a frame is (workers_look.h). The policy is that of engines of
 * one toed (engine/src/frames/steer.c), except that connections are looked up, not computed.
 */
#include <string.h>

#include "backend.h"
#include "workers_look.h"

#define TYPE_IP4    0x0800u
#define TYPE_ARP    0x0806u
#define TYPE_IP6    0x86ddu
#define TYPE_VLAN   0x8100u
#define PROTO_ICMP  1u
#define PROTO_TCP   6u
#define PROTO_ICMP6 58u
#define IP4_LEAST   20u
#define IP6_LEN     40u
#define ARP_LEN     28u
#define ARP_REPLY   2u
#define EXT_MAX     8u /* extension headers skipped at most */

/* The addresses and ports of a connection, seen from this side. */
struct tuple {
    uint8_t local[16], remote[16];
    uint8_t local_port[2], remote_port[2];
    uint8_t zero[4];
};

static uint32_t be16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

/* ---- SipHash-2-4 (Aumasson, Bernstein): peers choose ports, and must not find collisions ---- */

static uint64_t rotl(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

static uint64_t sip_hash(const uint64_t key[2], const struct tuple *t)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                     key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    uint64_t words[sizeof(*t) / 8 + 1];
    unsigned i;

    memcpy(words, t, sizeof(*t));
    words[sizeof(*t) / 8] = (uint64_t)sizeof(*t) << 56;
    for (i = 0; i < sizeof(words) / 8; i++) {
        v[3] ^= words[i];
        sip_round(v);
        sip_round(v);
        v[0] ^= words[i];
    }
    v[2] ^= 0xff;
    for (i = 0; i < 4; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

_Static_assert(sizeof(struct tuple) % 8 == 0, "whole words are hashed");

/* ---- connections ---- */

/* Notes the connection of a segment: addresses of `size` bytes at src and dst, ports at l4.
 * from_us: src is this side's. */
static void note_flow(const uint8_t *src, const uint8_t *dst, uint32_t size, const uint8_t *l4,
                      int from_us, const uint64_t key[2], struct seen *out)
{
    struct tuple t;

    memset(&t, 0, sizeof(t));
    memcpy(t.local, from_us ? src : dst, size);
    memcpy(t.remote, from_us ? dst : src, size);
    memcpy(t.local_port, l4 + (from_us ? 0 : 2), 2);
    memcpy(t.remote_port, l4 + (from_us ? 2 : 0), 2);
    out->kind = SEEN_FLOW;
    out->ip6 = size == 16;
    out->port = (uint16_t)be16(t.local_port);
    out->hash = sip_hash(key, &t);
}

/* Of sent segments only the first and the last ones matter: the others need no hash. */
static int matters(uint8_t flags, int sent)
{
    return !sent || (flags & (SEEN_SYN | SEEN_FIN | SEEN_RST)) != 0;
}

static int is_icmp_error(unsigned type)
{
    return type == 3 || type == 11 || type == 12; /* unreachable, time, parameter */
}

/* An ICMP error quotes a segment that this side has sent, or received if the frame leaves. */
static void look_icmp4(const uint8_t *icmp, uint32_t len, int sent, const uint64_t key[2],
                       struct seen *out)
{
    const uint8_t *ip = icmp + 8;
    uint32_t ihl;

    if (len < 8 + IP4_LEAST || !is_icmp_error(icmp[0]) || ip[9] != PROTO_TCP)
        return;
    ihl = (ip[0] & 15u) * 4;
    if (ihl >= IP4_LEAST && len >= 8 + ihl + 4)
        note_flow(ip + 12, ip + 16, 4, ip + ihl, !sent, key, out);
}

static void look_ip4(const uint8_t *ip, uint32_t len, int sent, const uint64_t key[2],
                     struct seen *out)
{
    uint32_t ihl;
    int fragment;

    if (len < IP4_LEAST)
        return;
    ihl = (ip[0] & 15u) * 4;
    fragment = (be16(ip + 6) & 0x3fff) != 0; /* MF or an offset */
    if (ihl < IP4_LEAST || len < ihl)
        return;
    if (ip[9] == PROTO_TCP && fragment) {
        out->kind = SEEN_DROP;
    } else if (ip[9] == PROTO_TCP && len >= ihl + 14) {
        out->flags = ip[ihl + 13];
        if (matters(out->flags, sent))
            note_flow(ip + 12, ip + 16, 4, ip + ihl, sent, key, out);
    } else if (ip[9] == PROTO_ICMP && !fragment) {
        look_icmp4(ip + ihl, len - ihl, sent, key, out);
    }
}

/* ---- IPv6 ---- */

/* Returns the offset of the upper-layer header of the packet at ip, 0: it is not within len. Sets
 * *fragment if there is a fragment header of a non-atomic fragment. */
static uint32_t upper6(const uint8_t *ip, uint32_t len, uint8_t *proto, int *fragment)
{
    uint32_t at = IP6_LEN, i;

    *proto = ip[6];
    *fragment = 0;
    for (i = 0; i < EXT_MAX && at + 8 <= len; i++) {
        const uint8_t *header = ip + at;

        if (*proto != 0 && *proto != 43 && *proto != 44 && *proto != 60)
            return at;
        at += *proto == 44 ? 8 : (header[1] + 1u) * 8;
        *fragment = *proto == 44 && (be16(header + 2) & 0xfff9) != 0;
        *proto = header[0];
        if (*fragment)
            return at;
    }
    return 0;
}

static void look_icmp6(const uint8_t *ip, uint32_t l4, uint32_t len, int sent,
                       const uint64_t key[2], struct seen *out)
{
    static const uint8_t unspecified[16];
    const uint8_t *quoted = ip + l4 + 8;

    switch (ip[l4]) {
    case 1:
    case 2:
    case 3:
    case 4: /* errors: the quoted TCP has no extension headers, as the stacks send none */
        if (len >= l4 + 8 + IP6_LEN + 4 && quoted[6] == PROTO_TCP)
            note_flow(quoted + 8, quoted + 24, 16, quoted + IP6_LEN, !sent, key, out);
        return;
    case 134:
    case 136:
    case 137: /* router and neighbour advertisements, redirects */
        out->kind = SEEN_ALL;
        return;
    case 135: /* a solicitation of duplicate address detection */
        if (memcmp(ip + 8, unspecified, sizeof(unspecified)) == 0)
            out->kind = SEEN_ALL;
        return;
    default:
        return;
    }
}

static void look_ip6(const uint8_t *ip, uint32_t len, int sent, const uint64_t key[2],
                     struct seen *out)
{
    uint8_t proto;
    uint32_t l4;
    int fragment;

    if (len < IP6_LEN)
        return;
    l4 = upper6(ip, len, &proto, &fragment);
    if (proto == PROTO_TCP && fragment) {
        out->kind = SEEN_DROP;
    } else if (proto == PROTO_TCP && l4 && len >= l4 + 14) {
        out->flags = ip[l4 + 13];
        if (matters(out->flags, sent))
            note_flow(ip + 8, ip + 24, 16, ip + l4, sent, key, out);
    } else if (proto == PROTO_ICMP6 && !fragment && l4 && l4 < len) {
        look_icmp6(ip, l4, len, sent, key, out);
    }
}

/* ---- ARP ---- */

/* A reply is for the stack that asked. An announcement (RFC 5227 3) changes all neighbour caches.
 */
static void look_arp(const uint8_t *arp, uint32_t len, struct seen *out)
{
    if (len >= ARP_LEN && (be16(arp + 6) == ARP_REPLY || memcmp(arp + 14, arp + 24, 4) == 0))
        out->kind = SEEN_ALL;
}

void workers_look(const uint8_t *frame, uint32_t len, int sent, const uint64_t key[2],
                  struct seen *out)
{
    uint32_t at = ETH_HEADER, type;

    memset(out, 0, sizeof(*out));
    out->kind = SEEN_ANY;
    if (len < ETH_TAGGED)
        return;
    type = be16(frame + at - 2);
    if (type == TYPE_VLAN) {
        at = ETH_TAGGED;
        type = be16(frame + at - 2);
    }
    if (type == TYPE_IP4)
        look_ip4(frame + at, len - at, sent, key, out);
    else if (type == TYPE_IP6)
        look_ip6(frame + at, len - at, sent, key, out);
    else if (type == TYPE_ARP)
        look_arp(frame + at, len - at, out);
}
