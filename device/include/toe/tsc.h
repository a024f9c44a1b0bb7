/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsc.h - CLOCK_MONOTONIC for callers that need the time at every command or request. The vDSO's
 * clock waits for all loads before it reads the counter. This clock reads the vDSO's once a
 * millisecond, and in between only the cycle counter, if that counts evenly.
 *
 * A struct toe_tsc belongs to one thread at a time and begins as zeroes. The error of the time is
 * at most some tens of nanoseconds in either direction. It is up to a millisecond after a jump of
 * the counter (another CPU whose counter is not synchronized); larger jumps are detected as out of
 * range.
 */
#ifndef TOE_TSC_H
#define TOE_TSC_H

#include <stdint.h>
#include <time.h>

#define TOE_TSC_RESYNC_NS 1000000u
#define TOE_TSC_APART     10000u /* cycles between two readings of the counter around the clock's */

struct toe_tsc {
    uint64_t base_tsc, base_ns; /* the last reading of the clock */
    uint64_t limit, mult;       /* cycles until the next; ns per cycle, 32.32 */
    int asked, even;            /* whether the counter counts evenly */
};

static inline uint64_t toe_tsc_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

static inline int toe_tsc_even(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

/* Reads the clock, and in *at the counter at the same moment; the caller has read *at before. 0:
 * the two are not of one moment, because the thread was preempted in between at each try. */
static inline int toe_tsc_both(uint64_t *at, uint64_t *ns)
{
    unsigned tries;

    for (tries = 0; tries < 4; tries++) {
        uint64_t after;

        *ns = toe_tsc_clock();
        after = __rdtsc();
        if (after - *at < TOE_TSC_APART)
            return 1;
        *at = after;
    }
    return 0;
}

/* Called once a millisecond, so not inlined. */
static __attribute__((noinline, unused)) uint64_t toe_tsc_resync(struct toe_tsc *c, uint64_t at)
{
    uint64_t ns, cycles, passed;
    int both = toe_tsc_both(&at, &ns);

    cycles = at - c->base_tsc;
    passed = ns - c->base_ns;
    if (!both) {
        c->mult = c->limit = 0;
        return ns;
    }
    if (!c->asked) {
        c->asked = 1;
        c->even = toe_tsc_even();
    } else if (c->even && passed >= TOE_TSC_RESYNC_NS / 2 && passed < 1000000000u &&
               cycles > passed / 4 && cycles < passed * 64) {
        c->mult = (passed << 32) / cycles;
        c->limit = (uint64_t)TOE_TSC_RESYNC_NS * cycles / passed;
    } else if (!c->mult && passed < TOE_TSC_RESYNC_NS / 2) {
        return ns; /* too short for a calibration */
    } else {
        c->mult = c->limit = 0; /* after sleep or on another CPU: calibrate again */
    }
    c->base_tsc = at;
    c->base_ns = ns;
    return ns;
}

/* Returns nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t toe_tsc_now(struct toe_tsc *c)
{
    uint64_t at = __rdtsc(), cycles = at - c->base_tsc;

    if (__builtin_expect(cycles < c->limit, 1))
        return c->base_ns + (cycles * c->mult >> 32);
    return toe_tsc_resync(c, at);
}
#else
static inline uint64_t toe_tsc_now(struct toe_tsc *c)
{
    (void)c;
    return toe_tsc_clock();
}
#endif

#endif
