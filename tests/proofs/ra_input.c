/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ra_input.c - any router advertisement with as many prefixes as are read: reads stay within the
 * message (nd_options.c proves it for the options), nothing is learned from a sender that is not on
 * the link, parameters stay within their bounds. The tables are not included.
 */
#include "proof.h"

#include "ip/nd_router.c"

static toec_u8 message[TOEC_RA_LEN], prefix[TOEC_IP6_PREFIXES][TOEC_NDOPT_PREFIX_LEN], mtu[4],
    mac[6];
static struct toec_stack s;
static struct toec_addr from;
static unsigned learned;

void router(struct toec_stack *stack, const struct toec_addr *addr, toec_u32 lifetime,
            toec_time now)
{
    (void)stack;
    (void)now;
    READABLE(addr, sizeof(*addr));
    PROVE(lifetime <= 0xffff);
    learned++;
}

void on_link(struct toec_stack *stack, const struct toec_addr *addr, unsigned len,
             toec_u32 lifetime, toec_time now)
{
    (void)stack;
    (void)lifetime;
    (void)now;
    READABLE(addr, sizeof(*addr));
    PROVE(len <= 128);
    PROVE(!toec_addr_is_link_local(addr) && !toec_addr_is_multicast(addr));
    learned++;
}

void automatic(struct toec_stack *stack, const struct toec_addr *addr, unsigned len, toec_u32 valid,
               toec_u32 preferred, toec_time now)
{
    (void)preferred;
    on_link(stack, addr, len, valid, now);
}

void neighbour(struct toec_stack *stack, const struct toec_addr *addr, const toec_u8 *source,
               toec_time now)
{
    (void)stack;
    (void)now;
    READABLE(addr, sizeof(*addr));
    if (source)
        READABLE(source, 6);
    learned++;
}

void proof(void)
{
    struct toec_nd_options o;
    struct toec_ip_in in;
    unsigned i;

    ANYTHING(message);
    ANYTHING(prefix);
    ANYTHING(mtu);
    ANYTHING(mac);
    ANYTHING(from);
    in.l4 = message;
    in.src = from;
    o.prefixes = nondet_u8();
    ASSUME(o.prefixes <= TOEC_IP6_PREFIXES);
    for (i = 0; i < TOEC_IP6_PREFIXES; i++)
        o.prefix[i] = prefix[i];
    o.mtu = nondet_u8() & 1 ? &mtu[0] : 0;
    o.source_mac = nondet_u8() & 1 ? &mac[0] : 0;
    s.cfg.ip6 = nondet_u8();
    s.cfg.mtu = nondet_u32();
    ASSUME(s.cfg.mtu >= TOEC_IP6_MIN_MTU && s.cfg.mtu <= 65535);
    s.ip6.mtu = s.cfg.mtu;
    s.ip6.hops = 64;
    s.ip6.retrans = TOEC_NS_PER_S;
    s.ip6.base_reachable = 30000;
    toec_ra_input(&s, &in, &o, nondet_u64());
    PROVE(s.ip6.mtu >= TOEC_IP6_MIN_MTU && s.ip6.mtu <= s.cfg.mtu);
    PROVE(s.ip6.hops > 0);
    PROVE(s.ip6.retrans >= MIN_RETRANS * (toec_time)TOEC_NS_PER_MS &&
          s.ip6.retrans <= MAX_RETRANS * (toec_time)TOEC_NS_PER_MS);
    PROVE(s.ip6.base_reachable > 0 && s.ip6.base_reachable <= MAX_REACHABLE);
    PROVE(learned == 0 || (toec_addr_is_link_local(&from) && s.cfg.ip6 == TOEC_IP6_AUTO));
}
