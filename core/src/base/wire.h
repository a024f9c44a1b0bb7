/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - reads and writes integers in network byte order, byte by byte: correct on little and big
 * endian machines and at any alignment. Compilers turn these into single loads and stores.
 */
#ifndef TOEC_WIRE_H
#define TOEC_WIRE_H

#include "base.h"

TOEC_INLINE toec_u16 toec_get16(const toec_u8 *p)
{
    return (toec_u16)(p[0] << 8 | p[1]);
}

TOEC_INLINE toec_u32 toec_get32(const toec_u8 *p)
{
    return (toec_u32)p[0] << 24 | (toec_u32)p[1] << 16 | (toec_u32)p[2] << 8 | p[3];
}

TOEC_INLINE void toec_put16(toec_u8 *p, toec_u32 v)
{
    p[0] = (toec_u8)(v >> 8);
    p[1] = (toec_u8)v;
}

TOEC_INLINE void toec_put32(toec_u8 *p, toec_u32 v)
{
    p[0] = (toec_u8)(v >> 24);
    p[1] = (toec_u8)(v >> 16);
    p[2] = (toec_u8)(v >> 8);
    p[3] = (toec_u8)v;
}

/*
 * Checksums are kept as native 16-bit words (RFC 1071 2(B): the sum does not depend on byte order),
 * so they are stored and loaded natively, not by toec_put16().
 */
TOEC_INLINE toec_u16 toec_get_sum(const toec_u8 *p)
{
    toec_u16 v;

    memcpy(&v, p, 2);
    return v;
}

TOEC_INLINE void toec_put_sum(toec_u8 *p, toec_u16 v)
{
    memcpy(p, &v, 2);
}

/* Folds a sum of 32-bit words to 16 bits. */
TOEC_INLINE toec_u16 toec_fold64(toec_u64 x)
{
    x = (x & 0xffffffffu) + (x >> 32); /* 33 bits */
    x = (x & 0xffffu) + (x >> 16);     /* 18 bits */
    x = (x & 0xffffu) + (x >> 16);
    return (toec_u16)((x & 0xffffu) + (x >> 16));
}

/* Returns the native 16-bit word whose bytes in memory are v in network byte order. */
TOEC_INLINE toec_u16 toec_hton16(toec_u16 v)
{
    toec_u8 b[2];

    toec_put16(b, v);
    return toec_get_sum(b);
}

/* ---- addresses ---- */

/* IPv4 addresses inside core/ are toec_u32 values: 10.0.0.1 is 0x0a000001 on every machine. */
TOEC_INLINE void toec_addr_set4(struct toec_addr *a, toec_u32 ip)
{
    memset(a->b, 0, 10);
    a->b[10] = 0xff;
    a->b[11] = 0xff;
    toec_put32(a->b + 12, ip);
}

TOEC_INLINE toec_u32 toec_addr_get4(const struct toec_addr *a)
{
    return toec_get32(a->b + 12);
}

TOEC_INLINE int toec_addr_eq(const struct toec_addr *a, const struct toec_addr *b)
{
    toec_u64 x[2], y[2];

    memcpy(x, a->b, 16);
    memcpy(y, b->b, 16);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}

/* Returns not 0 when a is in ::ffff:0:0/96, an IPv4 address in mapped form. */
TOEC_INLINE int toec_addr_is4(const struct toec_addr *a)
{
    toec_u32 w[3];

    memcpy(w, a->b, 12);
    return (w[0] | w[1]) == 0 && toec_get32(a->b + 8) == 0xffffu;
}

/* Returns not 0 when a is :: (all zero). */
TOEC_INLINE int toec_addr_is_zero(const struct toec_addr *a)
{
    toec_u64 x[2];

    memcpy(x, a->b, 16);
    return (x[0] | x[1]) == 0;
}

#endif
