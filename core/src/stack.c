/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.c - a stack as a whole: configuration, memory, input and time.
 */
#include "ip/ip4_in.h"
#include "ip/ip4_out.h"
#include "ip/ip6_addr.h"
#include "ip/ip6_in.h"
#include "ip/mld.h"
#include "ip/nd_router.h"
#include "tcp/tcp_if.h"
#include "tcp/tcp_tables.h"

/* ---- configuration ---- */

#define MIN_MTU        576u
#define MAX_FLOWS      (1u << 20)
#define MAX_LISTENERS  65536u
#define MAX_NEIGHBOURS 65536u /* indices have 16 bits: struct toec_path */
#define MAX_UDP        65536u
#define MAX_AO_KEYS    (1u << 20)
#define MAX_DATAGRAMS  1024u
#define MAX_GSO        61440u /* must fit the 16-bit length of IPv4, headers included */

static void default_to(toec_u32 *value, toec_u32 if_zero)
{
    if (*value == 0)
        *value = if_zero;
}

static void fill_defaults(struct toec_config *c)
{
    default_to(&c->mtu, 1500);
    default_to(&c->ttl, 64); /* RFC 1700 "IP TIME TO LIVE PARAMETER"; R1122-07: never 0 */
    default_to(&c->max_flows, 1024);
    default_to(&c->max_records, c->max_flows);
    default_to(&c->max_listeners, 64);
    default_to(&c->max_time_wait, 16384);
    default_to(&c->max_neighbours, 256);
    default_to(&c->max_datagrams, 16);
    default_to(&c->icmp_echo_rate, 10000);
    default_to(&c->icmp_error_rate, 100);
    default_to(&c->home_count, 1);
    if (c->ecn == TOEC_ECN_DEFAULT)
        c->ecn = TOEC_ECN_PASSIVE;
    if (c->mtu_probing == TOEC_MTU_PROBING_DEFAULT)
        c->mtu_probing = TOEC_MTU_PROBING_BLACK_HOLE;
}

static toec_u32 mask_of(unsigned prefix_len)
{
    return prefix_len ? 0xffffffffu << (32 - prefix_len) : 0;
}

/* Returns not 0 when the IPv6 addresses are valid: none, or an address and a router that a host may
 * have. */
static int addresses6_valid(const struct toec_config *c)
{
    struct toec_addr ip, router;

    memcpy(ip.b, c->ip6_addr, 16);
    memcpy(router.b, c->ip6_gateway, 16);
    if (c->ip6 == TOEC_IP6_OFF)
        return toec_addr_is_zero(&ip) && toec_addr_is_zero(&router);
    if (c->mtu < TOEC_IP6_MIN_MTU || c->ip6_prefix_len > 128 || c->ip6 > TOEC_IP6_AUTO)
        return 0; /* R8200-09 */
    return toec_ip6_is_host(&ip) && toec_ip6_is_host(&router) &&
           (toec_addr_is_zero(&ip) || !toec_addr_eq(&ip, &router));
}

/* Returns not 0 when no IPv6 addresses or routers are configured, so that another stack can set
 * them. */
static int given6(const struct toec_config *c)
{
    struct toec_addr ip, router;

    memcpy(ip.b, c->ip6_addr, 16);
    memcpy(router.b, c->ip6_gateway, 16);
    return c->ip6 != TOEC_IP6_AUTO && toec_addr_is_zero(&ip) && toec_addr_is_zero(&router);
}

/* Returns not 0 when the addresses are valid for a host and its gateway. */
static int addresses_valid(const struct toec_config *c)
{
    toec_u32 ip = toec_get32(c->ip), gateway = toec_get32(c->gateway),
             mask = mask_of(c->prefix_len);

    if (toec_mac_is_group(c->mac) || toec_mac_is_zero(c->mac))
        return 0;
    if (c->link && (ip == 0 || c->arp_probe || !given6(c)))
        return 0;
    if (ip == 0 && c->ip6 != TOEC_IP6_OFF)
        return gateway == 0 && addresses6_valid(c);
    if (toec_ip4_is_martian(ip) || toec_ip4_is_broadcast(ip, mask) || !addresses6_valid(c))
        return 0;
    return gateway == 0 || toec_ip4_on_link_host(ip, mask, gateway);
}

#ifdef TOEC_NO_BBR3
#define CC_VALID(cc) ((unsigned)(cc) <= TOEC_CC_BBR1 && (cc) != TOEC_CC_BBR3)
#else
#define CC_VALID(cc) ((unsigned)(cc) <= TOEC_CC_BBR1)
#endif

static int limits_valid(const struct toec_config *c)
{
    return c->prefix_len <= 32 && c->mtu >= MIN_MTU && c->mtu <= 9216 && c->ttl <= 255 &&
           c->max_flows <= MAX_FLOWS && c->max_records <= MAX_FLOWS &&
           c->max_listeners <= MAX_LISTENERS && c->max_time_wait <= MAX_FLOWS &&
           c->max_neighbours <= MAX_NEIGHBOURS && c->max_datagrams <= MAX_DATAGRAMS &&
           c->max_gso <= MAX_GSO && (c->offload & ~TOEC_OFF_TX_CSUM) == 0 && CC_VALID(c->cc) &&
           c->home_index < c->home_count && c->max_udp <= MAX_UDP && (c->max_udp == 0 || c->udp) &&
           c->max_ao_keys <= MAX_AO_KEYS && (c->max_ao_keys == 0 || c->ao) &&
           c->ecn >= TOEC_ECN_OFF && c->ecn <= TOEC_ECN_PASSIVE && c->port_first <= c->port_last &&
           c->mtu_probing >= TOEC_MTU_PROBING_OFF && c->mtu_probing <= TOEC_MTU_PROBING_ALWAYS;
}

/* ---- memory ---- */

/* Offsets of the parts of a stack in its memory, each a multiple of 64. */
struct layout {
    unsigned long neigh, reass, pmtu, udp, tcp, end;
};

static unsigned long align64(unsigned long n)
{
    return (n + 63) & ~63ul;
}

static void lay_out(struct layout *l, const struct toec_config *cfg)
{
    l->neigh = align64(sizeof(struct toec_stack));
    l->reass = align64(l->neigh + toec_neigh_size(cfg));
    l->pmtu = align64(l->reass + toec_reass_size(cfg));
    l->tcp = align64(l->pmtu + toec_pmtu_size());
    l->udp = l->tcp;
    l->tcp = align64(l->udp + toec_udp_size(cfg));
    l->end = align64(l->tcp + toec_tcp_size(cfg));
}

static unsigned long bytes_of(const struct toec_config *c)
{
    struct layout l;

    lay_out(&l, c);
    return l.end;
}

/* Returns the bytes per object of the kind counted by *max of *c, averaged over 1024 objects. */
static unsigned long one_of(const struct toec_config *c, toec_u32 *max)
{
    toec_u32 had = *max;
    unsigned long n;

    *max = 2048;
    n = bytes_of(c);
    *max = 1024;
    n -= bytes_of(c);
    *max = had;
    return n / 1024;
}

/*
 * Returns not 0 when the total size fits half the range of unsigned long, the largest possible
 * block; only relevant with 32 bits. Counts in units of 64 KiB, rounded up, with 64 extra bytes per
 * object because hash tables grow in steps.
 */
static int fits(struct toec_config *c)
{
    toec_u32 *of[8], sum = 0;
    unsigned i;

    if (sizeof(unsigned long) > sizeof(toec_u32))
        return 1;
    of[0] = &c->max_flows;
    of[1] = &c->max_records;
    of[2] = &c->max_listeners;
    of[3] = &c->max_time_wait;
    of[4] = &c->max_neighbours;
    of[5] = &c->max_datagrams;
    of[6] = &c->max_udp;
    of[7] = &c->max_ao_keys;
    for (i = 0; i < 8; i++)
        sum += ((toec_u32)one_of(c, of[i]) + 127) / 64 * ((*of[i] + 1023) / 1024);
    return sum < 0x7fffffffu >> 16;
}

/* Copies the configuration and fills in defaults. Returns 0, or -1 when it is invalid. */
static int configure(struct toec_config *to, const struct toec_config *from)
{
    *to = *from;
    fill_defaults(to);
    return limits_valid(to) && addresses_valid(to) && fits(to) ? 0 : -1;
}

unsigned long toec_size(const struct toec_config *cfg)
{
    struct toec_config filled;

    return configure(&filled, cfg) < 0 ? 0 : bytes_of(&filled);
}

int toec_memory(const struct toec_config *cfg, struct toec_memory *out)
{
    struct toec_config c;

    memset(out, 0, sizeof(*out));
    if (configure(&c, cfg) < 0)
        return TOEC_E_INVAL;
    out->total = bytes_of(&c);
    out->flow = one_of(&c, &c.max_flows);
    out->record = one_of(&c, &c.max_records);
    out->listener = one_of(&c, &c.max_listeners);
    out->time_wait = one_of(&c, &c.max_time_wait);
    out->neighbour = one_of(&c, &c.max_neighbours);
    out->datagram = one_of(&c, &c.max_datagrams);
    out->udp = one_of(&c, &c.max_udp);
    out->ao_key = one_of(&c, &c.max_ao_keys);
    out->fixed = out->total - out->flow * c.max_flows - out->record * c.max_records -
                 out->listener * c.max_listeners - out->time_wait * c.max_time_wait -
                 out->neighbour * c.max_neighbours - out->datagram * c.max_datagrams -
                 out->udp * c.max_udp - out->ao_key * c.max_ao_keys;
    return 0;
}

/* ---- init ---- */

struct toec_stack *toec_init(void *mem, unsigned long size, const struct toec_config *cfg,
                             toec_time now)
{
    struct toec_stack *s = mem;
    unsigned long needed = toec_size(cfg);
    struct layout l;

    if (!mem || needed == 0 || size < needed || ((toec_uptr)mem & 63) != 0)
        return 0;
    memset(s, 0, sizeof(*s));
    (void)configure(&s->cfg, cfg); /* toec_size() has found it valid */
    s->link_mtu = s->cfg.mtu;
    s->ip4 = toec_get32(s->cfg.ip);
    s->mask4 = mask_of(s->cfg.prefix_len);
    s->gateway4 = toec_get32(s->cfg.gateway);
    toec_addr_set4(&s->addr, s->ip4);
    lay_out(&l, &s->cfg);
    toec_derive_keys(s);
    toec_wheel_init(&s->wheel, now);
    toec_icmp4_init(s);
    toec_neigh_init(s, (toec_u8 *)mem + l.neigh);
    toec_reass_init(s, (toec_u8 *)mem + l.reass);
    if (s->ip4 && !s->cfg.link)
        toec_arp_init(s, now);
    toec_ip6_init(s, now);
    toec_pmtu_init(s, (toec_u8 *)mem + l.pmtu);
    toec_udp_init(s, (toec_u8 *)mem + l.udp);
    toec_tcp_init(s, (toec_u8 *)mem + l.tcp, now);
    return s;
}

int toec_set_max_gso(struct toec_stack *s, toec_u32 max_gso)
{
    if (max_gso > MAX_GSO)
        return TOEC_E_INVAL;
    s->cfg.max_gso = max_gso;
    return 0;
}

toec_u32 toec_set_mtu(struct toec_stack *s, toec_u32 mtu)
{
    mtu = TOEC_MAX(TOEC_MIN(mtu, s->cfg.mtu), MIN_MTU);
    if (mtu == s->link_mtu)
        return mtu;
    s->link_mtu = mtu;
    s->ip6.mtu = TOEC_MAX(mtu, TOEC_IP6_MIN_MTU); /* as Linux: forgets what routers advertised */
    s->pmtu.gen++;                                /* toec_pm_sync() */
    return mtu;
}

void toec_set_prefix(struct toec_stack *s, unsigned prefix_len)
{
    s->cfg.prefix_len = (toec_u8)prefix_len;
    s->mask4 = mask_of(prefix_len);
}

void toec_set_ports(struct toec_stack *s, toec_u16 first, toec_u16 last, const toec_u8 *reserved)
{
    s->cfg.port_first = first;
    s->cfg.port_last = last;
    s->cfg.ports_reserved = reserved;
}

void toec_set_defaults(struct toec_stack *s, const struct toec_defaults *d)
{
    s->cfg.cc = d->cc;
    s->cfg.ecn = d->ecn;
    s->cfg.mtu_probing = d->mtu_probing;
    s->cfg.rfc1337 = d->rfc1337;
}

/* ---- events ---- */

/*
 * Skips the priority tags of a frame. As on Linux, VLAN ID 0 means untagged traffic, whatever the
 * type of the tag and the number of tags. Returns the offset of the header behind them, or 0 when
 * the frame is of a VLAN or ends before.
 */
static toec_u32 skip_tags(struct toec_stack *s, const struct toec_packet *p)
{
    toec_u32 l3 = TOEC_ETH_LEN;

    while (toec_eth_is_tag(toec_get16(p->data + l3 - 2))) {
        if (l3 + TOEC_TAG_LEN > p->head_len) {
            TOEC_COUNT(s, eth_short);
            return 0;
        }
        if ((toec_get16(p->data + l3) & TOEC_TAG_ID) != 0) {
            TOEC_COUNT(s, eth_vlan);
            return 0;
        }
        l3 += TOEC_TAG_LEN;
    }
    TOEC_COUNT(s, eth_priority);
    return l3;
}

/* Processes the frame whose type is before offset l3. Returns 0, or -1 when the type is not one of
 * this stack's families. */
TOEC_INLINE int dispatch(struct toec_stack *s, const struct toec_packet *p, toec_u32 l3, int group,
                         toec_time now)
{
    switch (toec_get16(p->data + l3 - 2)) {
    case TOEC_ETHERTYPE_IP4:
        if (s->ip4 == 0)
            return -1;
        toec_ip4_input(s, p, l3, group, now);
        return 0;
    case TOEC_ETHERTYPE_ARP:
        if ((s->ip4 | s->arp.tested) == 0)
            return -1;
        toec_arp_input(s, p, l3, now);
        return 0;
    case TOEC_ETHERTYPE_IP6:
        if (s->cfg.ip6 == TOEC_IP6_OFF)
            return -1;
        toec_ip6_input(s, p, l3, group, now);
        return 0;
    default:
        return -1;
    }
}

/* Processes a frame of another type: one with a tag, or none for this stack. Not inlined: the fast
 * path has no use for it. */
TOEC_NOINLINE void other_type(struct toec_stack *s, const struct toec_packet *p, int group,
                              toec_time now)
{
    toec_u32 l3 = TOEC_ETH_LEN;

    if (toec_eth_is_tag(toec_eth_type(p->data))) {
        l3 = skip_tags(s, p);
        if (l3 == 0 || dispatch(s, p, l3, group, now) == 0)
            return;
    }
    TOEC_COUNT(s, eth_unknown_type);
}

void toec_input(struct toec_stack *s, const struct toec_packet *p, toec_time now)
{
    int group;

    TOEC_COUNT(s, rx_frames);
    TOEC_COUNT_ADD(s, rx_bytes, p->len);
    if (p->head_len < TOEC_ETH_LEN || p->len < p->head_len) {
        TOEC_COUNT(s, eth_short);
        return;
    }
    group = toec_mac_is_group(p->data + TOEC_ETH_DST);
    if (!group && !toec_mac_eq(p->data + TOEC_ETH_DST, s->cfg.mac)) {
        TOEC_COUNT(s, eth_not_ours);
        return;
    }
    if (dispatch(s, p, TOEC_ETH_LEN, group, now) < 0)
        other_type(s, p, group, now);
}

static void expire(void *user, struct toec_timer *t, enum toec_timer_kind kind, toec_time now)
{
    struct toec_stack *s = user;

    switch (kind) {
    case TOEC_TMR_NEIGH:
        toec_neigh_timer(s, t, now);
        return;
    case TOEC_TMR_NEIGH_RETRY:
        toec_neigh_retry_timer(s);
        return;
    case TOEC_TMR_REASS:
        toec_reass_timer(s, t, now);
        return;
    case TOEC_TMR_PMTU:
        toec_pmtu_timer(s, t);
        return;
    case TOEC_TMR_ANNOUNCE:
        toec_arp_announce_timer(s, now);
        return;
    case TOEC_TMR_IP6_OWN:
        toec_own_timer(s, t, now);
        return;
    case TOEC_TMR_IP6_RS:
        toec_rs_timer(s, now);
        return;
    case TOEC_TMR_IP6_EXPIRY:
        toec_ip6_expiry_timer(s, now);
        return;
    case TOEC_TMR_IP6_MLD:
        toec_mld_timer(s, now);
        return;
    default:
        toec_tcp_timer(s, t, kind, now);
    }
}

toec_time toec_poll(struct toec_stack *s, toec_time now)
{
    toec_time timers, tcp;

    s->tx_full = 0;
    toec_wheel_run(&s->wheel, now, expire, s);
    toec_wait_poll(s, now);
    tcp = toec_tcp_poll(s, now);
    if (s->tx_full)
        return now;
    timers = toec_wheel_next(&s->wheel, now);
    return TOEC_MIN(timers, tcp);
}

/* ---- queries ---- */

const toec_u64 *toec_counters(const struct toec_stack *s)
{
    return s->counters;
}

void toec_usage(const struct toec_stack *s, struct toec_usage *out)
{
    memset(out, 0, sizeof(*out));
    out->neighbours = s->neigh.pool.used;
    out->datagrams = s->reass.pool.used;
    toec_tcp_usage(s, out);
}
