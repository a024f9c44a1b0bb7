/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefix_set.c - any table of on-link prefixes, and one of any length advertised with any lifetime,
 * zero included (RFC 4861 6.3.4): at most one entry changes, it is the right one, the prefix is
 * listed if it should be, and the timer is set for the earliest expiry.
 */
#include "proof.h"

#include "small_stack.h"

#include "expiry_timer.h"
#include "ip/nd_router.c"

static struct toec_prefix6 before[TOEC_IP6_PREFIXES];

static int is(const struct toec_prefix6 *p, const struct toec_addr *prefix, unsigned len)
{
    return p->until != 0 && p->len == len && toec_addr_match(&p->prefix, prefix, len);
}

void proof(void)
{
    struct toec_addr prefix;
    toec_u32 lifetime = nondet_u32();
    toec_time now = nondet_u64();
    unsigned len = nondet_u8(), i, there = 0, room = 0, changed = 0, is_there = 0;

    ASSUME(now < (toec_time)1 << 62);
    ASSUME(len <= 128);
    any_address(&prefix);
    for (i = 0; i < TOEC_IP6_PREFIXES; i++) {
        struct toec_prefix6 *p = &s.ip6.prefix[i];

        any_address(&p->prefix);
        p->until = nondet_u64();
        p->len = nondet_u8();
        ASSUME(p->len <= 128);
        before[i] = *p;
        room += p->until == 0;
        there += is(p, &prefix, len);
    }
    ASSUME(there <= 1);
    for (i = 0; i < TOEC_IP6_ROUTERS; i++)
        s.ip6.router[i].until = nondet_u64();
    toec_prefix_set(&s, &prefix, len, lifetime, now);
    for (i = 0; i < TOEC_IP6_PREFIXES; i++) {
        const struct toec_prefix6 *p = &s.ip6.prefix[i];

        if (p->until != before[i].until || p->len != before[i].len ||
            !toec_addr_eq(&p->prefix, &before[i].prefix)) {
            PROVE(toec_addr_eq(&p->prefix, &prefix) && p->len == len);
            PROVE(before[i].until == 0 || is(&before[i], &prefix, len));
            changed++;
        }
        is_there += is(p, &prefix, len);
        PROVE(timers == 0 || p->until == 0 || timer <= p->until);
    }
    for (i = 0; i < TOEC_IP6_ROUTERS; i++)
        PROVE(timers == 0 || s.ip6.router[i].until == 0 || timer <= s.ip6.router[i].until);
    PROVE(changed <= 1 && (changed == 0 || timers == 1));
    PROVE(is_there == (lifetime != 0 && (there || room)));
    PROVE(counted == (lifetime != 0 && !there && !room));
}
