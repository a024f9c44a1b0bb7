/* SPDX-License-Identifier: Apache-2.0 */
/*
 * router_set.c - any table of default routers, and one advertised with any lifetime, zero included
 * (RFC 4861 6.3.4): at most one entry changes, it is the right one, none is listed twice, and the
 * timer is set for the earliest expiry.
 */
#include "proof.h"

#include "small_stack.h"

#include "expiry_timer.h"
#include "ip/nd_router.c"

static struct toec_router6 before[TOEC_IP6_ROUTERS];

void proof(void)
{
    struct toec_addr addr;
    toec_u32 lifetime = nondet_u32();
    toec_time now = nondet_u64();
    unsigned i, k, there = 0, room = 0, changed = 0, is_there = 0;

    ASSUME(now < (toec_time)1 << 62);
    any_address(&addr);
    for (i = 0; i < TOEC_IP6_ROUTERS; i++) {
        any_address(&s.ip6.router[i].addr);
        s.ip6.router[i].until = nondet_u64();
        for (k = 0; k < i; k++)
            ASSUME(!s.ip6.router[i].until || !s.ip6.router[k].until ||
                   !toec_addr_eq(&s.ip6.router[i].addr, &s.ip6.router[k].addr));
        before[i] = s.ip6.router[i];
        room += before[i].until == 0;
        there += before[i].until != 0 && toec_addr_eq(&before[i].addr, &addr);
    }
    for (i = 0; i < TOEC_IP6_PREFIXES; i++)
        s.ip6.prefix[i].until = nondet_u64();
    toec_router_set(&s, &addr, lifetime, now);
    for (i = 0; i < TOEC_IP6_ROUTERS; i++) {
        const struct toec_router6 *r = &s.ip6.router[i];

        if (r->until != before[i].until || !toec_addr_eq(&r->addr, &before[i].addr)) {
            PROVE(toec_addr_eq(&r->addr, &addr));
            PROVE(before[i].until == 0 || toec_addr_eq(&before[i].addr, &addr));
            changed++;
        }
        is_there += r->until != 0 && toec_addr_eq(&r->addr, &addr);
        PROVE(timers == 0 || r->until == 0 || timer <= r->until);
    }
    for (i = 0; i < TOEC_IP6_PREFIXES; i++)
        PROVE(timers == 0 || s.ip6.prefix[i].until == 0 || timer <= s.ip6.prefix[i].until);
    PROVE(changed <= 1 && (changed == 0 || timers == 1));
    PROVE(is_there == (lifetime != 0 && (there || room)));
    PROVE(counted == (lifetime != 0 && !there && !room));
}
