/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.h - the integer types of core/. Freestanding: no header of the C library is used
 * (SEEDS S4.1), so the widths are taken from the data models core/ supports (ILP32 and LP64)
 * and checked at compile time below.
 */
#ifndef TOE_TYPES_H
#define TOE_TYPES_H

typedef unsigned char toec_u8;
typedef unsigned short toec_u16;
typedef unsigned int toec_u32;
#ifdef __GNUC__
__extension__ typedef unsigned long long toec_u64; /* in C89 with -pedantic too */
#else
typedef unsigned long long toec_u64;
#endif
typedef int toec_i32;

/* Time in nanoseconds since an origin the integrator chooses; monotonic. */
typedef toec_u64 toec_time;

/* "Never": the deadline of a stack without pending work. */
#define TOEC_NEVER ((toec_time)-1)

#define TOEC_STATIC_ASSERT(name, cond) typedef char toec_assert_##name[(cond) ? 1 : -1]

TOEC_STATIC_ASSERT(u8, sizeof(toec_u8) == 1);
TOEC_STATIC_ASSERT(u16, sizeof(toec_u16) == 2);
TOEC_STATIC_ASSERT(u32, sizeof(toec_u32) == 4);
TOEC_STATIC_ASSERT(u64, sizeof(toec_u64) == 8);

/*
 * An IP address, network byte order. IPv4 is carried in its IPv4-mapped form (::ffff:a.b.c.d), so
 * that one type serves both families.
 */
struct toec_addr {
    toec_u8 b[16];
};

#endif
