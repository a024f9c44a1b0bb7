/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - the checksum of payload, alone and while it is copied, by what the CPU has: chosen when
 * the first engine is made. core/ has plain C alone (SEEDS S4.1), and these stand before it in the
 * port functions.
 */
#ifndef ENGINE_SUMS_H
#define ENGINE_SUMS_H

#include <stdint.h>

#include <toe/core.h>

struct sums {
    const char *name;
    int (*works)(void); /* on this CPU */
    /* As toec_sum(). */
    toec_u16 (*sum)(const void *data, unsigned long n);
    /* The same of what it copies; dst and src do not overlap. */
    toec_u16 (*copy)(void *dst, const void *src, unsigned long n);
};

/* All there are, plain C first, the widest last; ended by one without a name. */
extern const struct sums sums_all[];

/* The one in use. Not changed while engines run. */
extern const struct sums *sums;
void sums_use(const struct sums *one);
/* The last of them that works, unless one was chosen before. */
void sums_choose(void);

#endif
