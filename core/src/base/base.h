/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - the base of every file of core/: inlining, memcpy and memset (the only two names from a
 * C library, because compilers emit calls to them anyway), small arithmetic.
 */
#ifndef TOEC_BASE_H
#define TOEC_BASE_H

#include <toe/core.h>
#include <toe/counters.h>

#ifdef __GNUC__
/* unused: clang warns about unused functions in a single source file (scripts/amalgamate). */
#define TOEC_INLINE static __inline__ __attribute__((unused))
/* For rarely executed code, so that its caller does not reserve registers for it. */
#define TOEC_NOINLINE               __attribute__((noinline)) static
#define TOEC_LIKELY(x)              __builtin_expect(!!(x), 1)
#define TOEC_UNLIKELY(x)            __builtin_expect(!!(x), 0)
#define TOEC_OFFSETOF(type, member) __builtin_offsetof(type, member)
#ifndef TOEC_PREFETCH
#define TOEC_PREFETCH(p) __builtin_prefetch(p)
#endif
typedef __SIZE_TYPE__ toec_size_t;
#else
#define TOEC_INLINE                 static
#define TOEC_NOINLINE               static
#define TOEC_LIKELY(x)              (x)
#define TOEC_UNLIKELY(x)            (x)
#define TOEC_OFFSETOF(type, member) ((toec_uptr) & ((type *)0)->member)
#ifndef TOEC_PREFETCH
#define TOEC_PREFETCH(p) ((void)(p))
#endif
typedef unsigned long toec_size_t;
#endif

/* NOLINTBEGIN(readability-redundant-declaration): tests include string.h too */
void *memcpy(void *dst, const void *src, toec_size_t n);
void *memset(void *dst, int c, toec_size_t n);
/* NOLINTEND(readability-redundant-declaration) */

typedef unsigned long toec_uptr; /* holds a pointer in the data models of types.h */
TOEC_STATIC_ASSERT(uptr, sizeof(toec_uptr) == sizeof(void *));

#define TOEC_NS_PER_MS 1000000u
#define TOEC_NS_PER_S  1000000000ull

/* The structure of type `type` that contains the member `member` at ptr. */
#define TOEC_CONTAINER(ptr, type, member)                                                          \
    ((type *)(void *)((toec_u8 *)(ptr)-TOEC_OFFSETOF(type, member)))

#define TOEC_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TOEC_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
