/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ao.c - the keys of TCP-AO (RFC 5925 3.1): their owners, their peers, the key in use.
 */
#include "tcp_ao.h"

#include "tcp_ao_seg.h"
#include "tcp_tables.h"

/* ---- memory ---- */

struct toec_ao *toec_ao_of(const struct toec_stack *s, const struct toec_tcb *t)
{
    return s->tcp->ao_of[toec_pool_index(&s->tcp->flows, t)];
}

struct toec_ao *toec_ao_new(struct toec_stack *s)
{
    struct toec_ao *ao = toec_pool_get(&s->tcp->aos);

    if (!ao) {
        TOEC_COUNT(s, tcp_ao_no_room);
        return 0;
    }
    memset(ao, 0, sizeof(*ao));
    return ao;
}

struct toec_ao_key *toec_ao_key_new(struct toec_stack *s, struct toec_ao_key **list)
{
    struct toec_ao_key *k = toec_pool_get(&s->tcp->ao_keys);

    if (!k) {
        TOEC_COUNT(s, tcp_ao_no_room);
        return 0;
    }
    memset(k, 0, sizeof(*k));
    while (*list)
        list = &(*list)->next;
    *list = k;
    return k;
}

static void key_free(struct toec_stack *s, struct toec_ao_key **at)
{
    struct toec_ao_key *k = *at;

    *at = k->next;
    memset(k, 0, sizeof(*k)); /* secrets do not outlive their use */
    toec_pool_put(&s->tcp->ao_keys, k);
}

void toec_ao_keys_free(struct toec_stack *s, struct toec_ao_key **list)
{
    while (*list)
        key_free(s, list);
}

void toec_ao_free(struct toec_stack *s, struct toec_ao *ao)
{
    toec_ao_keys_free(s, &ao->keys);
    toec_pool_put(&s->tcp->aos, ao);
}

void toec_ao_attach(struct toec_stack *s, struct toec_tcb *t, struct toec_ao *ao)
{
    t->rare |= TOEC_RARE_AO;
    s->tcp->ao_of[toec_pool_index(&s->tcp->flows, t)] = ao;
}

struct toec_ao *toec_ao_detach(struct toec_stack *s, struct toec_tcb *t)
{
    struct toec_ao *ao = toec_ao_of(s, t);

    t->rare &= (toec_u8)~TOEC_RARE_AO;
    s->tcp->ao_of[toec_pool_index(&s->tcp->flows, t)] = 0;
    return ao;
}

/* ---- lookup ---- */

/* Returns not 0 when both addresses have the same family and the same first n bits. */
static int prefix_eq(const struct toec_addr *a, const struct toec_addr *b, unsigned n)
{
    unsigned i;

    if (toec_addr_is4(a) != toec_addr_is4(b))
        return 0;
    if (toec_addr_is4(a))
        n += 96;
    for (i = 0; i < n / 8; i++)
        if (a->b[i] != b->b[i])
            return 0;
    return n % 8 == 0 || (a->b[i] ^ b->b[i]) >> (8 - n % 8) == 0;
}

/* R5925-03 */
int toec_ao_matches(const struct toec_ao_key *k, const struct toec_tuple *id)
{
    return (k->remote_port == 0 || k->remote_port == id->remote_port) &&
           prefix_eq(&k->remote, id->remote, k->prefix);
}

struct toec_ao_key *toec_ao_find(struct toec_ao_key *list, int send_id, int recv_id)
{
    for (; list; list = list->next)
        if ((send_id < 0 || list->send_id == send_id) && (recv_id < 0 || list->recv_id == recv_id))
            return list;
    return 0;
}

/* RFC 5925 3.1: MKTs for the same connection have different IDs. R5925-04. */
static int id_taken(const struct toec_ao_key *list, const struct toec_ao_mkt *m)
{
    for (; list; list = list->next)
        if ((list->send_id == m->send_id || list->recv_id == m->recv_id) &&
            (list->remote_port == 0 || m->remote_port == 0 ||
             list->remote_port == m->remote_port) &&
            prefix_eq(&list->remote, &m->remote, TOEC_MIN(list->prefix, m->prefix)))
            return 1;
    return 0;
}

static int mkt_valid(const struct toec_ao_mkt *m)
{
    unsigned known = TOEC_AO_NO_OPTIONS | TOEC_AO_SET_CURRENT | TOEC_AO_SET_RNEXT;

    return (m->alg == TOEC_AO_HMAC_SHA1 || m->alg == TOEC_AO_AES_CMAC) && m->secret &&
           m->secret_len >= 1 && m->secret_len <= TOEC_AO_SECRET_MAX && (m->flags & ~known) == 0 &&
           m->prefix <= (toec_addr_is4(&m->remote) ? 32u : 128u);
}

static struct toec_ao_key *add(struct toec_stack *s, struct toec_ao_key **list,
                               const struct toec_ao_mkt *m)
{
    struct toec_ao_key *k = toec_ao_key_new(s, list);

    if (!k)
        return 0;
    k->remote = m->remote;
    k->remote_port = m->remote_port;
    k->prefix = m->prefix;
    k->send_id = m->send_id;
    k->recv_id = m->recv_id;
    k->no_options = (m->flags & TOEC_AO_NO_OPTIONS) != 0;
    k->alg = (toec_u8)m->alg;
    k->len = (toec_u8)m->secret_len;
    memcpy(k->secret, m->secret, m->secret_len);
    return k;
}

/* ---- listeners ---- */

static struct toec_listener *live_listener(struct toec_stack *s, toec_u32 id)
{
    struct toec_listener *l;

    if (id >= s->tcp->listeners.fresh)
        return 0;
    l = toec_pool_at(&s->tcp->listeners, id);
    return l->live ? l : 0;
}

int toec_listen_ao_add(struct toec_stack *s, toec_u32 id, const struct toec_ao_mkt *m)
{
    struct toec_listener *l = live_listener(s, id);

    if (!l || !mkt_valid(m) || (m->flags & (TOEC_AO_SET_CURRENT | TOEC_AO_SET_RNEXT)))
        return TOEC_E_INVAL;
    if (id_taken(l->ao_keys, m))
        return TOEC_E_INUSE;
    return add(s, &l->ao_keys, m) ? 0 : TOEC_E_NOBUFS;
}

int toec_listen_ao_delete(struct toec_stack *s, toec_u32 id, const struct toec_addr *remote,
                          toec_u8 prefix, toec_u8 send_id, toec_u8 recv_id)
{
    struct toec_listener *l = live_listener(s, id);
    struct toec_ao_key **at;

    if (!l)
        return TOEC_E_INVAL;
    for (at = &l->ao_keys; *at; at = &(*at)->next)
        if ((*at)->send_id == send_id && (*at)->recv_id == recv_id && (*at)->prefix == prefix &&
            toec_addr_eq(&(*at)->remote, remote)) {
            key_free(s, at);
            return 0;
        }
    return TOEC_E_INVAL;
}

/* RFC 5925 7.3, 7.4: the connection gets copies of the keys, so later changes at the listener do
 * not affect it. R5925-05. The SYN was signed with the key of its KeyID; its sender requests
 * RNextKeyID for the answer. */
int toec_ao_open(struct toec_stack *s, struct toec_tcb *t, const struct toec_listener *l,
                 const struct toec_seg *g)
{
    struct toec_ao *ao = toec_ao_new(s);
    const struct toec_ao_key *k;

    if (!ao)
        return -1;
    for (k = l->ao_keys; k; k = k->next) {
        struct toec_ao_key *copy;

        if (!toec_ao_matches(k, &g->id))
            continue;
        copy = toec_ao_key_new(s, &ao->keys);
        if (!copy) {
            toec_ao_free(s, ao);
            return -1;
        }
        *copy = *k;
        copy->next = 0;
    }
    ao->rnext = toec_ao_find(ao->keys, -1, g->ao[2]);
    ao->current = toec_ao_find(ao->keys, g->ao[3], -1);
    if (!ao->current)
        ao->current = ao->rnext;
    ao->good = 1;
    toec_ao_attach(s, t, ao);
    return 0;
}

/* ---- connections ---- */

static void derive_one(const struct toec_tcb *t, struct toec_ao_key *k)
{
    struct toec_tuple out, in;

    out.local = in.remote = &t->local;
    out.remote = in.local = &t->remote;
    out.local_port = in.remote_port = t->local_port;
    out.remote_port = in.local_port = t->remote_port;
    toec_ao_traffic_key(k, &out, t->iss, t->irs, k->tx);
    toec_ao_traffic_key(k, &in, t->irs, t->iss, k->rx);
}

/* RFC 5925 5.2, 6.2: the extensions of both ISNs are 0. */
void toec_ao_derive(const struct toec_tcb *t, struct toec_ao *ao)
{
    struct toec_ao_key *k;

    for (k = ao->keys; k; k = k->next)
        derive_one(t, k);
    ao->ready = 1;
    ao->snd.seq = t->iss;
    ao->snd.sne = 0;
    ao->rcv.seq = t->irs;
    ao->rcv.sne = 0;
}

int toec_ao_add(struct toec_stack *s, struct toec_tcb *t, const struct toec_ao_mkt *m)
{
    struct toec_ao *ao = (t->rare & TOEC_RARE_AO) ? toec_ao_of(s, t) : 0;
    struct toec_ao_key *k;
    int first = !ao;

    if (!mkt_valid(m) || !prefix_eq(&m->remote, &t->remote, m->prefix) ||
        (m->remote_port && m->remote_port != t->remote_port))
        return TOEC_E_INVAL;
    /* RFC 5925 7.3: a connection that began without TCP-AO cannot add it later. R5925-06 */
    if (first && (t->state != TOEC_SYN_SENT || t->snd_max != t->iss || t->fo.flags))
        return TOEC_E_INVAL;
    if (ao && id_taken(ao->keys, m))
        return TOEC_E_INUSE;
    if (first)
        ao = toec_ao_new(s);
    k = ao ? add(s, &ao->keys, m) : 0;
    if (!k) {
        if (first && ao)
            toec_ao_free(s, ao);
        return TOEC_E_NOBUFS;
    }
    if (first) {
        ao->current = ao->rnext = k;
        ao->snd.seq = t->iss;
        toec_ao_attach(s, t, ao);
    }
    if (ao->ready)
        derive_one(t, k);
    if (m->flags & TOEC_AO_SET_CURRENT)
        ao->current = k;
    if (m->flags & TOEC_AO_SET_RNEXT)
        ao->rnext = k;
    return 0;
}

int toec_ao_delete(struct toec_stack *s, struct toec_tcb *t, toec_u8 send_id, toec_u8 recv_id)
{
    struct toec_ao_key **at;
    struct toec_ao *ao;

    if (!(t->rare & TOEC_RARE_AO))
        return TOEC_E_INVAL;
    ao = toec_ao_of(s, t);
    for (at = &ao->keys; *at; at = &(*at)->next)
        if ((*at)->send_id == send_id && (*at)->recv_id == recv_id)
            break;
    if (!*at)
        return TOEC_E_INVAL;
    if (*at == ao->current || *at == ao->rnext)
        return TOEC_E_INUSE;
    key_free(s, at);
    return 0;
}

int toec_ao_use(struct toec_stack *s, struct toec_tcb *t, int send_id, int recv_id)
{
    struct toec_ao_key *current, *rnext;
    struct toec_ao *ao;

    if (!(t->rare & TOEC_RARE_AO))
        return TOEC_E_INVAL;
    ao = toec_ao_of(s, t);
    current = send_id < 0 ? ao->current : toec_ao_find(ao->keys, send_id, -1);
    rnext = recv_id < 0 ? ao->rnext : toec_ao_find(ao->keys, -1, recv_id);
    if (!current || !rnext)
        return TOEC_E_INVAL;
    ao->current = current;
    ao->rnext = rnext;
    return 0;
}

int toec_ao_accept_icmp(struct toec_stack *s, struct toec_tcb *t, int accept)
{
    if (!(t->rare & TOEC_RARE_AO))
        return TOEC_E_INVAL;
    toec_ao_of(s, t)->accept_icmp = accept != 0;
    return 0;
}

int toec_ao_info(const struct toec_stack *s, const struct toec_tcb *t, struct toec_ao_info *out)
{
    const struct toec_ao_key *k;
    const struct toec_ao *ao;

    memset(out, 0, sizeof(*out));
    if (!(t->rare & TOEC_RARE_AO))
        return TOEC_E_INVAL;
    ao = toec_ao_of(s, t);
    for (k = ao->keys; k; k = k->next)
        out->keys++;
    out->current = ao->current->send_id;
    out->rnext = ao->rnext->recv_id;
    out->accept_icmp = ao->accept_icmp;
    out->good = ao->good;
    out->bad = ao->bad;
    out->no_key = ao->no_key;
    out->missing = ao->missing;
    out->icmp_ignored = ao->icmp_ignored;
    return 0;
}

/* RFC 5925 7.8: ignores hard errors of IPv4 (type 3, codes 2 to 4) and of IPv6 (type 1, codes 1 and
 * 4; already translated to IPv4's) once the connection is synchronized. R5925-13. */
int toec_ao_ignores(struct toec_stack *s, struct toec_tcb *t, const struct toec_icmp_err *e)
{
    struct toec_ao *ao = toec_ao_of(s, t);
    int four = toec_addr_is4(&t->remote);

    if (ao->accept_icmp || t->state < TOEC_ESTABLISHED || e->type != TOEC_ICMP4_UNREACH)
        return 0;
    if (e->code != TOEC_ICMP4_UNREACH_PORT &&
        (four ? e->code != TOEC_ICMP4_UNREACH_PROTO && e->code != TOEC_ICMP4_UNREACH_FRAG
              : e->code != TOEC_ICMP4_UNREACH_ADMIN))
        return 0;
    TOEC_COUNT(s, tcp_ao_icmp_ignored);
    ao->icmp_ignored++;
    return 1;
}
