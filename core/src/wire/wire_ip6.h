/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_ip6.h - IPv6 header and extension headers (RFC 8200 3, 4), kinds of addresses (RFC 4291).
 */
#ifndef TOEC_WIRE_IP6_H
#define TOEC_WIRE_IP6_H

#include "../base/wire.h"

#define TOEC_IP6_FIRST   0 /* version, traffic class, flow label */
#define TOEC_IP6_PAYLOAD 4
#define TOEC_IP6_NEXT    6
#define TOEC_IP6_HOPS    7
#define TOEC_IP6_SRC     8
#define TOEC_IP6_DST     24
#define TOEC_IP6_LEN     40

#define TOEC_IP6_MIN_MTU 1280u /* R8200-09, RFC 8200 5 */

/* Next headers. */
#define TOEC_NH_HOP_BY_HOP 0u
#define TOEC_NH_ROUTING    43u
#define TOEC_NH_FRAGMENT   44u
#define TOEC_NH_ICMP6      58u
#define TOEC_NH_NONE       59u
#define TOEC_NH_DEST_OPTS  60u

/* Extension headers except the fragment header. */
#define TOEC_EXT_NEXT         0
#define TOEC_EXT_LEN          1 /* in units of 8 bytes, without the first 8 */
#define TOEC_EXT_OPTIONS      2
#define TOEC_EXT_ROUTING_TYPE 2
#define TOEC_EXT_SEGMENTS     3
#define TOEC_EXT_MIN          8

/* Fragment header (RFC 8200 4.5). */
#define TOEC_FRAG_OFFSET 2 /* 13 bits of offset in units of 8 bytes, 2 reserved, M */
#define TOEC_FRAG_ID     4
#define TOEC_FRAG_LEN    8
#define TOEC_FRAG_MORE   1u

/* Options of hop-by-hop and destination options headers (RFC 8200 4.2). */
#define TOEC_IP6OPT_PAD1         0u
#define TOEC_IP6OPT_PADN         1u
#define TOEC_IP6OPT_ROUTER_ALERT 5u
#define TOEC_IP6OPT_ACTION(type) ((type) >> 6)
#define TOEC_IP6OPT_SKIP         0u
#define TOEC_IP6OPT_DISCARD      1u
#define TOEC_IP6OPT_REPORT       2u /* also when the destination is a multicast group */
#define TOEC_IP6OPT_REPORT_UNI   3u

TOEC_INLINE unsigned toec_ip6_version(const toec_u8 *ip)
{
    return ip[0] >> 4;
}

TOEC_INLINE unsigned toec_ip6_class(const toec_u8 *ip)
{
    return (toec_get16(ip) >> 4) & 255u;
}

TOEC_INLINE toec_u16 toec_ip6_payload(const toec_u8 *ip)
{
    return toec_get16(ip + TOEC_IP6_PAYLOAD);
}

/* Returns the whole length of an extension header other than fragment. */
TOEC_INLINE unsigned toec_ext_len(const toec_u8 *ext)
{
    return (ext[TOEC_EXT_LEN] + 1u) * 8u;
}

/* ---- addresses ---- */

TOEC_INLINE int toec_addr_is_multicast(const struct toec_addr *a)
{
    return a->b[0] == 0xff;
}

TOEC_INLINE int toec_addr_is_link_local(const struct toec_addr *a)
{
    return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

TOEC_INLINE int toec_addr_is_loopback6(const struct toec_addr *a)
{
    toec_u32 w[3];

    memcpy(w, a->b, 12);
    return (w[0] | w[1] | w[2]) == 0 && toec_get32(a->b + 12) == 1;
}

/* Returns not 0 when a is zero or may be the address of a host. */
TOEC_INLINE int toec_ip6_is_host(const struct toec_addr *a)
{
    return !toec_addr_is_multicast(a) && !toec_addr_is4(a) && !toec_addr_is_loopback6(a);
}

/* Returns not 0 when the first len bits of a and b are equal. */
TOEC_INLINE int toec_addr_match(const struct toec_addr *a, const struct toec_addr *b, unsigned len)
{
    unsigned i;

    for (i = 0; len >= 8; i++, len -= 8)
        if (a->b[i] != b->b[i])
            return 0;
    return len == 0 || ((a->b[i] ^ b->b[i]) >> (8 - len)) == 0;
}

/* Sets group to the solicited-node multicast address of a (RFC 4291 2.7.1). */
TOEC_INLINE void toec_addr_solicited(struct toec_addr *group, const struct toec_addr *a)
{
    memset(group->b, 0, 16);
    group->b[0] = 0xff;
    group->b[1] = 2;
    group->b[11] = 1;
    group->b[12] = 0xff;
    memcpy(group->b + 13, a->b + 13, 3);
}

/* Sets group to ff02::n. */
TOEC_INLINE void toec_addr_group(struct toec_addr *group, unsigned n)
{
    memset(group->b, 0, 16);
    group->b[0] = 0xff;
    group->b[1] = 2;
    group->b[15] = (toec_u8)n;
}

#define TOEC_GROUP_NODES   1u
#define TOEC_GROUP_ROUTERS 2u
#define TOEC_GROUP_MLDV2   0x16u

/* Sets mac to the Ethernet address of a group (RFC 2464 7). */
TOEC_INLINE void toec_mac_of_group(toec_u8 *mac, const struct toec_addr *group)
{
    mac[0] = 0x33;
    mac[1] = 0x33;
    memcpy(mac + 2, group->b + 12, 4);
}

#endif
