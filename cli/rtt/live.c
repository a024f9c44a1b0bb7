/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - checks for the end of a measurement, prints live figures (live.h). */
#include "live.h"
#include "text.h"

bool rtt_over(struct rtt *r)
{
    uint64_t now = rtt_now();

    if (r->hook && !r->hook_failed && !r->hook(r, r->hook_arg))
        r->hook_failed = true;
    if (r->o.every_s && !r->o.json && now - r->reported_ns >= r->o.every_s * 1000000000ull) {
        r->reported_ns = now;
        text_live(r);
    }
    return rtt_stopped || r->hook_failed || now >= r->end_ns;
}
