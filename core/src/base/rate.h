/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate.h - token bucket without division: stores the time when the bucket will be full again
 * (generic cell rate algorithm, ITU-T I.371).
 */
#ifndef TOEC_RATE_H
#define TOEC_RATE_H

#include "bits.h"

struct toec_rate {
    toec_time full_at;
    toec_time interval; /* ns per token; 0: no limit */
    toec_time depth;    /* interval * (burst - 1) */
};

/* per_second 0xffffffff: no limit. burst: at least 1. */
TOEC_INLINE void toec_rate_init(struct toec_rate *r, toec_u32 per_second, toec_u32 burst)
{
    r->full_at = 0;
    r->interval = per_second == 0xffffffffu ? 0 : toec_div64(TOEC_NS_PER_S, per_second);
    r->depth = r->interval * (burst - 1);
}

/* Takes a token. Returns not 0 when there was one. */
TOEC_INLINE int toec_rate_allow(struct toec_rate *r, toec_time now)
{
    toec_time at = r->full_at > now ? r->full_at : now;

    if (at - now > r->depth)
        return 0;
    r->full_at = at + r->interval;
    return 1;
}

#endif
