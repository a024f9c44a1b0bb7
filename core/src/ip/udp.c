/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp.c - UDP: endpoints, input, ICMP errors. Sending is in udp_out.c.
 */
#include "udp.h"

#include "ip4_in.h"
#include "ip_out.h"
#include "stack.h"

#ifdef TOEC_NO_UDP
unsigned long toec_udp_size(const struct toec_config *cfg)
{
    (void)cfg;
    return 0;
}
void toec_udp_init(struct toec_stack *s, void *mem)
{
    (void)s;
    (void)mem;
}
#else

#define PORT_FIRST 32768u
#define PORT_COUNT 28232u

static unsigned long round64(unsigned long n)
{
    return (n + 63ul) & ~63ul;
}

static unsigned long tab_size(toec_u32 items)
{
    return round64(toec_htab_buckets(items) * sizeof(struct toec_hnode *));
}

unsigned long toec_udp_size(const struct toec_config *cfg)
{
    if (cfg->max_udp == 0)
        return 0;
    return round64(sizeof(struct toec_udp)) * cfg->max_udp + 2 * tab_size(cfg->max_udp);
}

void toec_udp_init(struct toec_stack *s, void *mem)
{
    struct toec_udp_state *u = &s->udp;
    toec_u32 n = s->cfg.max_udp, buckets = toec_htab_buckets(n);
    unsigned long size = round64(sizeof(struct toec_udp));
    toec_u8 *tabs = (toec_u8 *)mem + size * n;

    memset(u, 0, sizeof(*u));
    if (n == 0)
        return;
    toec_pool_init(&u->pool, mem, (toec_u32)size, n);
    toec_htab_init(&u->bound, (struct toec_hnode **)(void *)tabs, buckets);
    toec_htab_init(&u->connected, (struct toec_hnode **)(void *)(tabs + tab_size(n)), buckets);
}

/* ---- finding ---- */

static toec_u32 bound_hash(const struct toec_stack *s, toec_u16 port)
{
    return toec_word_hash(&s->keys.flow, port, 3);
}

static struct toec_udp *find_connected(struct toec_stack *s, const struct toec_addr *local,
                                       const struct toec_addr *remote, toec_u16 lport,
                                       toec_u16 rport)
{
    struct toec_hnode *n = toec_htab_first(
        &s->udp.connected, toec_flow_hash(&s->keys.flow, local, remote, lport, rport));

    for (; n; n = toec_htab_next(n)) {
        struct toec_udp *u = TOEC_CONTAINER(n, struct toec_udp, node);

        if (u->local_port == lport && u->remote_port == rport && toec_addr_eq(&u->remote, remote) &&
            toec_addr_eq(&u->local, local))
            return u;
    }
    return 0;
}

/* Finds the endpoint bound to exactly this address, or (addr 0) to any address of one of these
 * families. */
static struct toec_udp *find_bound(struct toec_stack *s, const struct toec_addr *addr,
                                   unsigned families, toec_u16 port)
{
    struct toec_hnode *n = toec_htab_first(&s->udp.bound, bound_hash(s, port));

    for (; n; n = toec_htab_next(n)) {
        struct toec_udp *u = TOEC_CONTAINER(n, struct toec_udp, node);

        if (u->local_port == port &&
            (addr ? !u->families && toec_addr_eq(&u->local, addr) : (u->families & families) != 0))
            return u;
    }
    return 0;
}

static unsigned family_of(const struct toec_addr *a)
{
    return toec_addr_is4(a) ? TOEC_UDP_IP4 : TOEC_UDP_IP6;
}

/* RFC 1122 4.1.3.5: finds the most specific match. */
static struct toec_udp *find(struct toec_stack *s, const struct toec_addr *local,
                             const struct toec_addr *remote, toec_u16 lport, toec_u16 rport)
{
    struct toec_udp *u = 0;

    if (s->udp.connected.used)
        u = find_connected(s, local, remote, lport, rport);
    if (!u)
        u = find_bound(s, local, 0, lport);
    return u ? u : find_bound(s, 0, family_of(local), lport);
}

/* ---- open, close ---- */

static int in_use(struct toec_stack *s, const struct toec_udp *u)
{
    if (u->connected)
        return find_connected(s, &u->local, &u->remote, u->local_port, u->remote_port) != 0;
    return find_bound(s, u->families ? 0 : &u->local, u->families, u->local_port) != 0;
}

/* RFC 6056 3.3.1: starts at a random port, takes the next free one. */
static int pick_port(struct toec_stack *s, struct toec_udp *u)
{
    toec_u32 at = toec_rand32(s) % PORT_COUNT, i;

    for (i = 0; i < PORT_COUNT; i++) {
        u->local_port = (toec_u16)(PORT_FIRST + (at + i) % PORT_COUNT);
        if (!in_use(s, u) && !find_bound(s, 0, TOEC_UDP_IP4 | TOEC_UDP_IP6, u->local_port))
            return 0;
    }
    return TOEC_E_NOTAVAIL;
}

static int take_local(struct toec_stack *s, struct toec_udp *u, const struct toec_udp_bind *b)
{
    struct toec_addr any4;

    toec_addr_set4(&any4, 0);
    u->local = b->local;
    if (toec_addr_is_zero(&b->local))
        u->families = b->v6only ? TOEC_UDP_IP6 : TOEC_UDP_IP4 | TOEC_UDP_IP6;
    else if (toec_addr_eq(&b->local, &any4))
        u->families = TOEC_UDP_IP4;
    else if (!toec_addr_is_own(s, &b->local))
        return TOEC_E_NOTAVAIL;
    return 0;
}

static int take_remote(struct toec_stack *s, struct toec_udp *u, const struct toec_udp_bind *b)
{
    struct toec_path path;

    if (b->remote_port == 0)
        return toec_addr_is_zero(&b->remote) ? 0 : TOEC_E_INVAL;
    if (u->families && !(u->families & family_of(&b->remote)))
        return TOEC_E_INVAL;
    if (!u->families && family_of(&u->local) != family_of(&b->remote))
        return TOEC_E_INVAL;
    if (toec_path_to(s, &b->remote, &path) < 0)
        return TOEC_E_UNREACH; /* also for multicast and broadcast */
    if (u->families && toec_source_for(s, &b->remote, &u->local) < 0)
        return TOEC_E_NOTAVAIL;
    u->families = 0;
    u->remote = b->remote;
    u->remote_port = b->remote_port;
    u->connected = 1;
    return 0;
}

int toec_udp_open(struct toec_stack *s, const struct toec_udp_bind *b, void *owner,
                  struct toec_udp **out)
{
    struct toec_udp want, *u;
    int r;

    if (!b || !out || s->cfg.max_udp == 0 || !s->cfg.udp)
        return TOEC_E_INVAL;
    memset(&want, 0, sizeof(want));
    want.owner = owner;
    want.local_port = b->local_port;
    r = take_local(s, &want, b);
    if (r == 0)
        r = take_remote(s, &want, b);
    if (r == 0 && want.local_port == 0)
        r = pick_port(s, &want);
    else if (r == 0 && in_use(s, &want))
        r = TOEC_E_INUSE;
    if (r)
        return r;
    u = toec_pool_get(&s->udp.pool);
    if (!u) {
        TOEC_COUNT(s, udp_full);
        return TOEC_E_NOBUFS;
    }
    *u = want;
    if (u->connected)
        toec_htab_add(
            &s->udp.connected, &u->node,
            toec_flow_hash(&s->keys.flow, &u->local, &u->remote, u->local_port, u->remote_port));
    else
        toec_htab_add(&s->udp.bound, &u->node, bound_hash(s, u->local_port));
    *out = u;
    return 0;
}

void toec_udp_close(struct toec_stack *s, struct toec_udp *u)
{
    toec_htab_del(u->connected ? &s->udp.connected : &s->udp.bound, &u->node);
    toec_pool_put(&s->udp.pool, u);
}

void toec_udp_name(const struct toec_udp *u, struct toec_addr *local, toec_u16 *port)
{
    *local = u->local;
    *port = u->local_port;
}

/* ---- ICMP ---- */

/* Returns the endpoint that sent the quoted datagram. Others must not see the error (RFC 5927,
 * applied to UDP). */
static struct toec_udp *quoted(struct toec_stack *s, const struct toec_icmp_err *e)
{
    struct toec_udp *u = find(s, &e->local, &e->remote, e->local_port, e->remote_port);

    if (!u || u->connected)
        return u;
    return u->has_last && u->last_port == e->remote_port && toec_addr_eq(&u->last, &e->remote) ? u
                                                                                               : 0;
}

void toec_udp_icmp_error(struct toec_stack *s, const struct toec_icmp_err *e, toec_time now)
{
    struct toec_udp *u = s->cfg.max_udp ? quoted(s, e) : 0;
    toec_u32 least = toec_addr_is4(&e->remote) ? TOEC_PMTU_MIN4 : TOEC_PMTU_MIN6;
    struct toec_udp_err err;
    int no_df;

    if (!u) {
        TOEC_COUNT(s, udp_icmp_ignored);
        return;
    }
    memset(&err, 0, sizeof(err));
    err.remote = e->remote;
    err.remote_port = e->remote_port;
    err.type = e->type;
    err.code = e->code;
    /* R792-01 (RFC 1122 4.1.3.3): reported to the user, with its meaning. */
    err.reason = toec_icmp_reason(e);
    if (e->type == TOEC_ICMP4_UNREACH && e->code == TOEC_ICMP4_UNREACH_FRAG) {
        toec_u32 mtu = TOEC_MAX(e->mtu, least), known = toec_pmtu_get_udp(s, &e->remote, &no_df);
        struct toec_path path;

        /* Only a datagram larger than the claimed MTU can have caused the error (R8201-03). The
         * claim matters only if it is below the known path MTU, which starts as the MTU of the
         * link. */
        if (toec_path_to(s, &e->remote, &path) < 0 || e->quoted_len <= e->mtu || mtu >= path.mtu ||
            (known && mtu >= known)) {
            TOEC_COUNT(s, udp_icmp_ignored);
            return;
        }
        toec_pmtu_set_udp(s, &e->remote, mtu, e->mtu < least, now);
        err.reason = TOEC_R_MSGSIZE;
        err.mtu = mtu;
    }
    s->cfg.udp->error(s->cfg.user, u->owner, &err);
}
#endif

/* ---- input ---- */

/* Checks length and checksum (RFC 768, R1122-23); R8200-10: over IPv6 the checksum is mandatory. */
static int intact(struct toec_stack *s, const struct toec_ip_in *in, struct toec_ip_in *udp)
{
    int is6 = toec_ip4_version(in->ip) == 6;

    *udp = *in;
    if (in->l4_head < TOEC_UDP_LEN)
        return 0;
    udp->l4_len = toec_get16(in->l4 + TOEC_UDP_LENGTH);
    if (udp->l4_len < TOEC_UDP_LEN || udp->l4_len > in->l4_len)
        return 0;
    if (toec_get16(in->l4 + TOEC_UDP_SUM) == 0)
        return !is6;
    return toec_ip_l4_sum_ok(s, udp);
}

int toec_udp_input(struct toec_stack *s, const struct toec_ip_in *in)
{
    struct toec_ip_in udp;

    /* R1122-24: IP has rejected invalid sources; a multicast destination or an unspecified source
     * is rejected here. */
    if (!intact(s, in, &udp) || toec_addr_is_multicast(&in->dst) || toec_addr_is_zero(&in->src)) {
        TOEC_COUNT(s, udp_bad);
        return 0;
    }
#ifndef TOEC_NO_UDP
    if (s->cfg.max_udp) {
        struct toec_udp_in d;
        struct toec_udp *u;

        d.src = in->src;
        d.dst = in->dst;
        d.sport = toec_get16(in->l4 + TOEC_UDP_SPORT);
        d.dport = toec_get16(in->l4 + TOEC_UDP_DPORT);
        d.tos = in->tos;
        d.ttl = in->ttl;
        d.mtu = s->link_mtu;
        d.pkt = in->pkt;
        d.off = in->l4_off + TOEC_UDP_LEN;
        d.len = udp.l4_len - TOEC_UDP_LEN;
        u = d.dport ? find(s, &d.dst, &d.src, d.dport, d.sport) : 0;
        if (u) {
            TOEC_COUNT(s, udp_rx);
            s->cfg.udp->receive(s->cfg.user, u->owner, &d);
            return 0;
        }
    }
#endif
    TOEC_COUNT(s, udp_no_port);
    return -1;
}
