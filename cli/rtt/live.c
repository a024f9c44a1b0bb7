/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - decides whether a measurement goes on; prints live figures (live.h). */
#include "live.h"
#include "text.h"

bool rtt_over(struct rtt *r)
{
    uint64_t now = rtt_now();

    if (r->beside && !r->broken && !r->beside(r, r->beside_arg))
        r->broken = true;
    if (r->o.every_s && !r->o.json && now - r->told_ns >= r->o.every_s * 1000000000ull) {
        r->told_ns = now;
        text_live(r);
    }
    return rtt_stopped || r->broken || now >= r->end_ns;
}
