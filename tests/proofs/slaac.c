/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slaac.c - any own addresses, and a prefix advertised for autoconfiguration with any lifetimes
 * (RFC 4862 5.5.3): at most one address of that prefix changes or is created; no lifetime above two
 * hours is cut below two hours; a malformed option changes nothing.
 */
#include "proof.h"

#define OWN_ADDRESSES
#include "small_stack.h"

#include "ip/ip6_addr.c"

static struct toec_stack s;
static struct toec_own6 before[TOEC_IP6_ADDRS];

void set_timer(struct toec_stack *stack, struct toec_timer *t, enum toec_timer_kind kind,
               toec_time at)
{
    (void)at;
    PROVE(stack == &s && kind == TOEC_TMR_IP6_OWN);
    WRITABLE(t, sizeof(*t));
}

void stop_timer(struct toec_stack *stack, struct toec_timer *t)
{
    PROVE(stack == &s);
    WRITABLE(t, sizeof(*t));
}

/* make_address() by any identifier. */
void identifier(struct toec_stack *stack, struct toec_addr *a, const struct toec_addr *prefix,
                toec_u8 *dad_counter)
{
    unsigned i;

    (void)stack;
    READABLE(dad_counter, 1);
    for (i = 0; i < 8; i++) {
        a->b[i] = prefix->b[i];
        a->b[i + 8] = nondet_u8();
    }
}

static int same(const struct toec_own6 *a, const struct toec_own6 *b)
{
    return a->state == b->state && a->automatic == b->automatic &&
           a->preferred_until == b->preferred_until && a->valid_until == b->valid_until &&
           toec_addr_eq(&a->addr, &b->addr);
}

void proof(void)
{
    struct toec_addr prefix;
    unsigned len = nondet_u8(), i, made = 0, found = 0;
    toec_u32 valid = nondet_u32(), preferred = nondet_u32();
    toec_time now = nondet_u64();

    ASSUME(now < (toec_time)1 << 62);
    any_address(&prefix);
    for (i = 0; i < TOEC_IP6_ADDRS; i++) {
        struct toec_own6 *own = &s.ip6.own[i];

        any_address(&own->addr);
        own->state = nondet_u8();
        ASSUME(own->state <= TOEC_OWN_DUPLICATE);
        own->automatic = nondet_u8() & 1;
        own->preferred_until = nondet_u64();
        own->valid_until = nondet_u64();
        before[i] = *own;
    }
    toec_slaac(&s, &prefix, len, valid, preferred, now);
    for (i = 0; i < TOEC_IP6_ADDRS; i++) {
        const struct toec_own6 *own = &s.ip6.own[i], *was = &before[i];

        if (was->state != TOEC_OWN_FREE && was->automatic && !found && len == ADDR_PREFIX &&
            toec_addr_match(&was->addr, &prefix, ADDR_PREFIX)) {
            found = 1;
            PROVE(own->state != TOEC_OWN_FREE || was->valid_until <= now);
            PROVE(own->valid_until >= was->valid_until || preferred > valid ||
                  own->valid_until >= now + TWO_HOURS * TOEC_NS_PER_S);
            PROVE(toec_addr_eq(&own->addr, &was->addr));
        } else if (was->state == TOEC_OWN_FREE && own->state != TOEC_OWN_FREE) {
            PROVE(own->state == TOEC_OWN_TENTATIVE && own->automatic);
            PROVE(toec_addr_match(&own->addr, &prefix, ADDR_PREFIX));
            made++;
        } else {
            PROVE(same(own, was));
        }
        PROVE((len == ADDR_PREFIX && preferred <= valid) || same(own, was));
    }
    PROVE(made + found <= 1 && (!made || valid));
}
