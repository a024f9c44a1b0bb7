/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - payload checksums, with and without a copy, using the CPU's vector instructions. The
 * variant is chosen when the first engine is made. core/ has plain C only (SEEDS S4.1); the port
 * functions use these instead.
 */
#ifndef ENGINE_SUMS_H
#define ENGINE_SUMS_H

#include <stdint.h>

#include <toe/core.h>

struct sums {
    const char *name;
    int (*works)(void); /* this CPU supports it */
    /* Like toec_sum(). */
    toec_u16 (*sum)(const void *data, unsigned long n);
    /* Copies and returns the checksum of the same bytes; dst and src do not overlap. */
    toec_u16 (*copy)(void *dst, const void *src, unsigned long n);
};

/* All variants: plain C first, the widest last; the end has no name. */
extern const struct sums sums_all[];

/* The variant in use. Not changed while engines run. */
extern const struct sums *sums;
void sums_use(const struct sums *one);
/* Chooses the last variant that works, unless one was chosen before. */
void sums_choose(void);

#endif
