/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_addr.c - our own addresses: duplicate address detection and autoconfiguration (RFC 4862) with
 * stable, opaque interface identifiers (RFC 7217); source address selection (RFC 6724).
 */
#include "ip6_addr.h"

#include "icmp6.h"
#include "mld.h"
#include "nd_router.h"

#define DAD_TRANSMITS 1 /* RFC 4862 5.1 */
#define DAD_DELAY_MS  1000u
#define IDGEN_RETRIES 3 /* RFC 7217 6 */
#define TWO_HOURS     7200u
#define LIFE_FOR_EVER 0xffffffffu
#define REACHABLE_MS  30000u /* RFC 4861 10 */
#define ADDR_PREFIX   64

/* Returns not 0 when the address may be used as source and destination (R4862-06). */
static int usable(const struct toec_own6 *own)
{
    return own->state == TOEC_OWN_PREFERRED || own->state == TOEC_OWN_DEPRECATED;
}

struct toec_own6 *toec_own_any(struct toec_stack *s, const struct toec_addr *a)
{
    unsigned i;

    for (i = 0; i < TOEC_IP6_ADDRS; i++)
        if (s->ip6.own[i].state != TOEC_OWN_FREE && toec_addr_eq(&s->ip6.own[i].addr, a))
            return &s->ip6.own[i];
    return 0;
}

struct toec_own6 *toec_own_find(struct toec_stack *s, const struct toec_addr *a)
{
    struct toec_own6 *own = toec_own_any(s, a);

    return own && usable(own) ? own : 0;
}

struct toec_own6 *toec_own_link_local(struct toec_stack *s)
{
    unsigned i;

    for (i = 0; i < TOEC_IP6_ADDRS; i++)
        if (usable(&s->ip6.own[i]) && toec_addr_is_link_local(&s->ip6.own[i].addr))
            return &s->ip6.own[i];
    return 0;
}

int toec_own_group(struct toec_stack *s, const struct toec_addr *dst)
{
    struct toec_addr group;
    unsigned i;

    toec_addr_group(&group, TOEC_GROUP_NODES);
    if (toec_addr_eq(dst, &group))
        return 1;
    for (i = 0; i < TOEC_IP6_ADDRS; i++) {
        if (s->ip6.own[i].state == TOEC_OWN_FREE || s->ip6.own[i].state == TOEC_OWN_DUPLICATE)
            continue;
        toec_addr_solicited(&group, &s->ip6.own[i].addr);
        if (toec_addr_eq(dst, &group))
            return 1;
    }
    return 0;
}

/* ---- interface identifiers ---- */

/* Returns not 0 for a reserved interface identifier (RFC 5453). */
static int is_reserved(const toec_u8 iid[8])
{
    toec_u32 high = toec_get32(iid), low = toec_get32(iid + 4);

    return (high | low) == 0 || (high == 0xfdffffffu && low >= 0xffffff80u) ||
           (high == 0x02005effu && low >> 24 == 0xfe);
}

/* R7217-01: F(Prefix, Net_Iface, DAD_Counter, secret_key). */
static void make_address(struct toec_stack *s, struct toec_addr *a, const struct toec_addr *prefix,
                         toec_u8 *dad_counter)
{
    toec_u8 m[15], iid[8];
    toec_u64 f;

    for (;; (*dad_counter)++) {
        memcpy(m, prefix->b, 8);
        memcpy(m + 8, s->cfg.mac, 6);
        m[14] = *dad_counter;
        f = toec_siphash(s->ip6.iid_key, m, sizeof(m));
        toec_put32(iid, (toec_u32)(f >> 32));
        toec_put32(iid + 4, (toec_u32)f);
        if (!is_reserved(iid))
            break;
    }
    memcpy(a->b, prefix->b, 8);
    memcpy(a->b + 8, iid, 8);
}

/* ---- assigning an address ---- */

/* R4862-01: the address is tentative until detection ends without a conflict. */
static void start_dad(struct toec_stack *s, struct toec_own6 *own, toec_time now)
{
    toec_u32 r[2];

    own->state = TOEC_OWN_TENTATIVE;
    s->ip6.own_epoch++;
    own->dad_sent = 0;
    r[0] = toec_rand32(s);
    r[1] = toec_rand32(s);
    memcpy(own->nonce, r, sizeof(own->nonce));
    toec_mld_join(s, (unsigned)(own - s->ip6.own), now);
    /* R4862-02: a random delay, since all hosts may start at once */
    toec_timer_set(s, &own->timer, TOEC_TMR_IP6_OWN,
                   now + (toec_time)(toec_rand32(s) % DAD_DELAY_MS) * TOEC_NS_PER_MS);
}

static struct toec_own6 *free_own(struct toec_stack *s)
{
    unsigned i;

    for (i = 0; i < TOEC_IP6_ADDRS; i++)
        if (s->ip6.own[i].state == TOEC_OWN_FREE)
            return &s->ip6.own[i];
    TOEC_COUNT(s, nd_tables_full);
    return 0;
}

void toec_own_add(struct toec_stack *s, const struct toec_addr *addr, unsigned len, int automatic,
                  toec_time preferred, toec_time valid, toec_time now)
{
    struct toec_own6 *own = free_own(s);

    if (!own)
        return;
    memset(own, 0, sizeof(*own));
    own->addr = *addr;
    if (automatic)
        make_address(s, &own->addr, addr, &own->dad_counter);
    own->prefix_len = (toec_u8)len;
    own->automatic = (toec_u8)automatic;
    own->preferred_until = preferred;
    own->valid_until = valid;
    start_dad(s, own, now);
}

static void own_free(struct toec_stack *s, struct toec_own6 *own)
{
    toec_timer_cancel(s, &own->timer);
    own->state = TOEC_OWN_FREE;
    toec_mld_leave(s, &own->addr);
    s->ip6.own_epoch++;
}

/* Sets the state, and the timer to the next end of a lifetime. */
static void settle(struct toec_stack *s, struct toec_own6 *own, toec_time now)
{
    toec_time next = now < own->preferred_until ? own->preferred_until : own->valid_until;
    int state = now < own->preferred_until ? TOEC_OWN_PREFERRED : TOEC_OWN_DEPRECATED;

    if (own->valid_until <= now) { /* RFC 4862 5.5.4 */
        own_free(s, own);
        return;
    }
    own->state = (toec_u8)state;
    s->ip6.own_epoch++;
    if (next != TOEC_NEVER)
        toec_timer_set(s, &own->timer, TOEC_TMR_IP6_OWN, next);
    else
        toec_timer_cancel(s, &own->timer);
}

void toec_own_timer(struct toec_stack *s, struct toec_timer *t, toec_time now)
{
    struct toec_own6 *own = TOEC_CONTAINER(t, struct toec_own6, timer);

    if (own->state != TOEC_OWN_TENTATIVE) {
        settle(s, own, now);
        return;
    }
    if (own->dad_sent < DAD_TRANSMITS) {
        own->dad_sent++;
        toec_nd_probe(s, own);
        toec_timer_set(s, t, TOEC_TMR_IP6_OWN, now + s->ip6.retrans);
        return;
    }
    /* No host objected: the address is ours. Senders that wait for it may try again. */
    settle(s, own, now);
    s->send_epoch++;
    toec_nd_advertise(s, own); /* RFC 4861 7.2.6: others may have cached an older owner */
    if (toec_addr_is_link_local(&own->addr))
        toec_rs_start(s, now);
}

void toec_dad_conflict(struct toec_stack *s, struct toec_own6 *own, toec_time now)
{
    struct toec_addr prefix = own->addr;

    TOEC_COUNT(s, nd_dad_failed);
    toec_timer_cancel(s, &own->timer);
    own->state = TOEC_OWN_DUPLICATE;
    s->ip6.own_epoch++;
    toec_mld_leave(s, &own->addr);
    if (!own->automatic || own->dad_counter >= IDGEN_RETRIES)
        return;         /* RFC 4862 5.4.5: not used */
    own->dad_counter++; /* RFC 7217 6 */
    make_address(s, &own->addr, &prefix, &own->dad_counter);
    start_dad(s, own, now);
}

/* ---- addresses that another stack manages ---- */

TOEC_STATIC_ASSERT(given_max, TOEC_GIVEN_MAX == TOEC_IP6_ADDRS);

static int is_given(const struct toec_addr *a, const struct toec_given *given, unsigned n)
{
    unsigned i;

    for (i = 0; i < n; i++)
        if (toec_addr_eq(a, &given[i].addr))
            return 1;
    return 0;
}

/* Sets no timers, runs no duplicate detection, joins no groups: the other stack does. */
void toec_set_addresses6(struct toec_stack *s, const struct toec_given *given, unsigned n)
{
    struct toec_own6 *own;
    unsigned i;

    for (i = 0; i < TOEC_IP6_ADDRS; i++)
        if (!is_given(&s->ip6.own[i].addr, given, n))
            s->ip6.own[i].state = TOEC_OWN_FREE;
    for (i = 0; i < n; i++) {
        own = toec_own_any(s, &given[i].addr);
        if (!own)
            own = free_own(s);
        if (!own)
            break;
        own->addr = given[i].addr;
        own->prefix_len = given[i].prefix_len;
        own->preferred_until = own->valid_until = TOEC_NEVER;
        own->state = given[i].deprecated ? TOEC_OWN_DEPRECATED : TOEC_OWN_PREFERRED;
    }
    s->ip6.own_epoch++;
    s->send_epoch++; /* senders that wait for an address may try again */
}

/* ---- autoconfiguration ---- */

static toec_time end_of(toec_u32 seconds, toec_time now)
{
    return seconds == LIFE_FOR_EVER ? TOEC_NEVER : now + seconds * TOEC_NS_PER_S;
}

/* R4862-05: an advertisement cannot end the lifetime of an address at once. */
static toec_time new_valid(const struct toec_own6 *own, toec_u32 valid, toec_time now)
{
    toec_time lifetime = end_of(valid, now), two_hours = now + TWO_HOURS * TOEC_NS_PER_S;

    if (valid > TWO_HOURS || lifetime > own->valid_until)
        return lifetime;
    return TOEC_MIN(own->valid_until, two_hours);
}

void toec_slaac(struct toec_stack *s, const struct toec_addr *prefix, unsigned len, toec_u32 valid,
                toec_u32 preferred, toec_time now)
{
    struct toec_own6 *own;
    unsigned i;

    if (preferred > valid || len != ADDR_PREFIX) { /* R4862-04, RFC 2464 4 */
        TOEC_COUNT(s, nd_bad_prefix);
        return;
    }
    for (i = 0; i < TOEC_IP6_ADDRS; i++) {
        own = &s->ip6.own[i];
        if (own->state == TOEC_OWN_FREE || !own->automatic ||
            !toec_addr_match(&own->addr, prefix, ADDR_PREFIX))
            continue;
        own->preferred_until = end_of(preferred, now);
        own->valid_until = new_valid(own, valid, now);
        if (usable(own))
            settle(s, own, now);
        return;
    }
    if (valid)
        toec_own_add(s, prefix, len, 1, end_of(preferred, now), end_of(valid, now), now);
}

/* ---- source addresses ---- */

static unsigned common_bits(const struct toec_addr *a, const struct toec_addr *b)
{
    unsigned n = 0;

    while (n < ADDR_PREFIX && toec_addr_match(a, b, n + 1))
        n++;
    return n;
}

/* Ranks own as a source for dst: higher is better; 0: unusable. */
static unsigned score(const struct toec_own6 *own, const struct toec_addr *dst)
{
    int local = toec_addr_is_link_local(dst) || toec_addr_is_multicast(dst);

    if (!usable(own))
        return 0;
    /* rule 2: prefer the scope of the destination */
    if (toec_addr_is_link_local(&own->addr) != local)
        return local ? 1 : 0; /* a link-local source is unreachable from beyond the link */
    /* rule 3: avoid deprecated addresses (R4862-06); rule 8: longest common prefix */
    return 2 + (own->state == TOEC_OWN_PREFERRED ? 256 : 0) + common_bits(&own->addr, dst);
}

const struct toec_addr *toec_ip6_source(struct toec_stack *s, const struct toec_addr *dst)
{
    const struct toec_own6 *best = 0;
    unsigned i, most = 0, n;

    for (i = 0; i < TOEC_IP6_ADDRS; i++) {
        n = score(&s->ip6.own[i], dst);
        if (n > most) {
            most = n;
            best = &s->ip6.own[i];
        }
    }
    return best ? &best->addr : 0;
}

/* ---- start ---- */

/* With home_count stacks behind one address, each detects duplicates. All derive the same
 * addresses, because these follow from the configuration. */
void toec_ip6_init(struct toec_stack *s, toec_time now)
{
    struct toec_addr a;

    s->ip6.mtu = s->cfg.mtu;
    s->ip6.hops = (toec_u8)s->cfg.ttl; /* RFC 9293 MUST-49 */
    s->ip6.retrans = TOEC_NS_PER_S;
    s->ip6.base_reachable = REACHABLE_MS;
    s->ip6.reachable = REACHABLE_MS * (toec_time)TOEC_NS_PER_MS;
    toec_icmp6_init(s);
    if (s->cfg.ip6 == TOEC_IP6_OFF || s->cfg.link)
        return;
    memset(&a, 0, sizeof(a));
    a.b[0] = 0xfe;
    a.b[1] = 0x80;
    toec_own_add(s, &a, ADDR_PREFIX, 1, TOEC_NEVER, TOEC_NEVER, now);
    memcpy(a.b, s->cfg.ip6_addr, 16);
    if (!toec_addr_is_zero(&a)) {
        toec_own_add(s, &a, s->cfg.ip6_prefix_len, 0, TOEC_NEVER, TOEC_NEVER, now);
        if (s->cfg.ip6_prefix_len)
            toec_prefix_set(s, &a, s->cfg.ip6_prefix_len, LIFE_FOR_EVER, now);
    }
    memcpy(a.b, s->cfg.ip6_gateway, 16);
    if (!toec_addr_is_zero(&a))
        toec_router_set(s, &a, LIFE_FOR_EVER, now);
}

unsigned toec_own_addresses(const struct toec_stack *s, struct toec_own_addr *out, unsigned max)
{
    unsigned i, n = 0;

    for (i = 0; i < TOEC_IP6_ADDRS && n < max; i++) {
        const struct toec_own6 *own = &s->ip6.own[i];

        if (own->state == TOEC_OWN_FREE)
            continue;
        out[n].addr = own->addr;
        out[n].prefix_len = own->prefix_len;
        out[n].usable = (toec_u8)usable(own);
        out[n].tentative = own->state == TOEC_OWN_TENTATIVE;
        out[n].on_link = toec_ip6_on_link(s, &own->addr) ? own->prefix_len : 128;
        n++;
    }
    return n;
}

toec_u32 toec_own_epoch(const struct toec_stack *s)
{
    return s->ip6.own_epoch + s->route_epoch;
}

int toec_has_router(const struct toec_stack *s)
{
    unsigned i;

    for (i = 0; i < TOEC_IP6_ROUTERS; i++)
        if (s->ip6.router[i].until)
            return 1;
    return 0;
}
