/* SPDX-License-Identifier: Apache-2.0 */
/* wire_ip4.h - IPv4 header (RFC 791): named fields of a header whose length has been checked. */
#ifndef TOEC_WIRE_IP4_H
#define TOEC_WIRE_IP4_H

#include "../base/wire.h"

#define TOEC_IP4_VER_IHL 0
#define TOEC_IP4_TOS     1
#define TOEC_IP4_TOTAL   2
#define TOEC_IP4_ID      4
#define TOEC_IP4_FRAG    6 /* 3 flag bits, 13 bits of offset in units of 8 bytes */
#define TOEC_IP4_TTL     8
#define TOEC_IP4_PROTO   9
#define TOEC_IP4_SUM     10
#define TOEC_IP4_SRC     12
#define TOEC_IP4_DST     16
#define TOEC_IP4_OPTIONS 20
#define TOEC_IP4_LEN     20 /* without options */
#define TOEC_IP4_MAX_LEN 60

#define TOEC_IP4_DF       0x4000u
#define TOEC_IP4_MF       0x2000u
#define TOEC_IP4_OFF_MASK 0x1fffu

/* The ECN field: the low two bits of TOS or Traffic Class (RFC 3168 5). */
#define TOEC_IP_ECN     3u
#define TOEC_IP_NOT_ECT 0u
#define TOEC_IP_ECT1    1u
#define TOEC_IP_ECT0    2u
#define TOEC_IP_CE      3u

#define TOEC_IPPROTO_ICMP 1u
#define TOEC_IPPROTO_TCP  6u
#define TOEC_IPPROTO_UDP  17u

/* UDP header (RFC 768). */
#define TOEC_UDP_SPORT  0
#define TOEC_UDP_DPORT  2
#define TOEC_UDP_LENGTH 4
#define TOEC_UDP_SUM    6 /* 0: the sender computed none */
#define TOEC_UDP_LEN    8

/* Options (RFC 791 3.1) that core/ knows; it skips the others. */
#define TOEC_IP4OPT_END  0u
#define TOEC_IP4OPT_NOP  1u
#define TOEC_IP4OPT_LSRR 131u
#define TOEC_IP4OPT_SSRR 137u

TOEC_INLINE unsigned toec_ip4_version(const toec_u8 *ip)
{
    return ip[TOEC_IP4_VER_IHL] >> 4;
}

/* Header length in bytes, 0..60. */
TOEC_INLINE unsigned toec_ip4_hlen(const toec_u8 *ip)
{
    return (ip[TOEC_IP4_VER_IHL] & 15u) * 4;
}

TOEC_INLINE toec_u16 toec_ip4_total(const toec_u8 *ip)
{
    return toec_get16(ip + TOEC_IP4_TOTAL);
}

TOEC_INLINE toec_u16 toec_ip4_frag(const toec_u8 *ip)
{
    return toec_get16(ip + TOEC_IP4_FRAG);
}

TOEC_INLINE toec_u32 toec_ip4_src(const toec_u8 *ip)
{
    return toec_get32(ip + TOEC_IP4_SRC);
}

TOEC_INLINE toec_u32 toec_ip4_dst(const toec_u8 *ip)
{
    return toec_get32(ip + TOEC_IP4_DST);
}

/* Returns the folded sum of a header without options. */
TOEC_INLINE toec_u16 toec_ip4_sum20(const toec_u8 *ip)
{
    toec_u32 w[5];

    memcpy(w, ip, TOEC_IP4_LEN);
    return toec_fold64((toec_u64)w[0] + w[1] + w[2] + w[3] + w[4]);
}

#endif
