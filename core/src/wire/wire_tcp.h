/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_tcp.h - TCP header (RFC 9293 3.1) and option formats (RFC 9293 3.2, 7323, 2018): named
 * fields of a header whose length has been checked to be at least TOEC_TCP_LEN.
 */
#ifndef TOEC_WIRE_TCP_H
#define TOEC_WIRE_TCP_H

#include "../base/wire.h"

#define TOEC_TCP_SPORT   0
#define TOEC_TCP_DPORT   2
#define TOEC_TCP_SEQ     4
#define TOEC_TCP_ACK     8
#define TOEC_TCP_OFF     12 /* high four bits: header length in 32-bit words */
#define TOEC_TCP_FLAGS   13
#define TOEC_TCP_WND     14
#define TOEC_TCP_SUM     16
#define TOEC_TCP_URG     18
#define TOEC_TCP_OPTIONS 20
#define TOEC_TCP_LEN     20 /* without options */
#define TOEC_TCP_MAX_LEN 60

#define TOEC_TH_FIN 0x01u
#define TOEC_TH_SYN 0x02u
#define TOEC_TH_RST 0x04u
#define TOEC_TH_PSH 0x08u
#define TOEC_TH_ACK 0x10u
#define TOEC_TH_URG 0x20u
#define TOEC_TH_ECE 0x40u
#define TOEC_TH_CWR 0x80u

/* Option kinds, and lengths including kind and length bytes. */
#define TOEC_TCPOPT_END            0u
#define TOEC_TCPOPT_NOP            1u
#define TOEC_TCPOPT_MSS            2u
#define TOEC_TCPOPT_MSS_LEN        4u
#define TOEC_TCPOPT_WSCALE         3u
#define TOEC_TCPOPT_WSCALE_LEN     3u
#define TOEC_TCPOPT_SACK_PERM      4u
#define TOEC_TCPOPT_SACK_PERM_LEN  2u
#define TOEC_TCPOPT_SACK           5u
#define TOEC_TCPOPT_SACK_BLOCK_LEN 8u /* each block, after the two bytes of kind and length */
#define TOEC_TCPOPT_TS             8u
#define TOEC_TCPOPT_TS_LEN         10u
#define TOEC_TCPOPT_MD5            19u /* RFC 2385: only its presence is checked */
#define TOEC_TCPOPT_UTO            28u /* RFC 5482 */
#define TOEC_TCPOPT_UTO_LEN        4u
#define TOEC_TCPOPT_AO             29u     /* RFC 5925 */
#define TOEC_TCPOPT_FASTOPEN       34u     /* RFC 7413; 2 bytes and the cookie */
#define TOEC_TCPOPT_EXP            254u    /* an experiment, named by its magic number (RFC 6994) */
#define TOEC_TCPOPT_EXP_FASTOPEN   0xf989u /* ... Fast Open before it got its own kind */

TOEC_INLINE toec_u16 toec_tcp_sport(const toec_u8 *t)
{
    return toec_get16(t + TOEC_TCP_SPORT);
}

TOEC_INLINE toec_u16 toec_tcp_dport(const toec_u8 *t)
{
    return toec_get16(t + TOEC_TCP_DPORT);
}

TOEC_INLINE toec_u32 toec_tcp_seq(const toec_u8 *t)
{
    return toec_get32(t + TOEC_TCP_SEQ);
}

TOEC_INLINE toec_u32 toec_tcp_ack(const toec_u8 *t)
{
    return toec_get32(t + TOEC_TCP_ACK);
}

/* Header length in bytes, 0..60. */
TOEC_INLINE unsigned toec_tcp_hlen(const toec_u8 *t)
{
    return (t[TOEC_TCP_OFF] >> 4) * 4u;
}

TOEC_INLINE unsigned toec_tcp_flags(const toec_u8 *t)
{
    return t[TOEC_TCP_FLAGS];
}

TOEC_INLINE toec_u16 toec_tcp_wnd(const toec_u8 *t)
{
    return toec_get16(t + TOEC_TCP_WND);
}

/* Writes the fixed header; hlen (with options) is a multiple of 4; checksum and urgent are 0. */
TOEC_INLINE void toec_tcp_emit(toec_u8 *t, toec_u16 sport, toec_u16 dport, toec_u32 seq,
                               toec_u32 ack, unsigned hlen, unsigned flags, toec_u32 wnd)
{
    toec_put16(t + TOEC_TCP_SPORT, sport);
    toec_put16(t + TOEC_TCP_DPORT, dport);
    toec_put32(t + TOEC_TCP_SEQ, seq);
    toec_put32(t + TOEC_TCP_ACK, ack);
    t[TOEC_TCP_OFF] = (toec_u8)(hlen / 4 << 4);
    t[TOEC_TCP_FLAGS] = (toec_u8)flags;
    toec_put16(t + TOEC_TCP_WND, wnd);
    toec_put32(t + TOEC_TCP_SUM, 0);
}

#endif
