/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_bind.c - the users of local ports: each flow and each connection in TIME-WAIT, by local
 * address, and whether it allows others to share the port (SO_REUSEADDR, SO_REUSEPORT). Used to
 * check a bind() as Linux does (inet_csk_bind_conflict()). Listeners are not counted: toec_listen()
 * detects their conflicts (TOEC_E_INUSE).
 */
#include "tcp_bind.h"

#include "tcp_listen.h"
#include "tcp_tables.h"

/* The users of one address and port: their number in total and by TOEC_REUSE_*. */
struct holders {
    struct toec_hnode node; /* hash: port */
    struct toec_addr addr;
    toec_u32 count[TOEC_REUSE_ALL + 1u], all;
    toec_u16 port;
};

unsigned long toec_holders_size(void)
{
    return sizeof(struct holders);
}

/* Returns the size of the pool: as many as there can be connections, so it is never exhausted. */
toec_u32 toec_holders_most(const struct toec_config *cfg)
{
    return cfg->max_flows + cfg->max_time_wait;
}

static toec_u32 hash_of(const struct toec_stack *s, toec_u16 port)
{
    return toec_word_hash(&s->keys.flow, port, 0);
}

static struct holders *find(const struct toec_stack *s, toec_u32 hash, const struct toec_addr *addr,
                            toec_u16 port)
{
    struct toec_hnode *n = toec_htab_first(&s->tcp->holder_tab, hash);

    for (; n; n = toec_htab_next(n)) {
        struct holders *h = TOEC_CONTAINER(n, struct holders, node);

        if (h->port == port && toec_addr_eq(&h->addr, addr))
            return h;
    }
    return 0;
}

void toec_port_hold(struct toec_stack *s, const struct toec_addr *addr, toec_u16 port,
                    unsigned reuse)
{
    toec_u32 hash = hash_of(s, port);
    struct holders *h = find(s, hash, addr, port);

    if (!h) {
        h = toec_pool_get(&s->tcp->holders);
        memset(h, 0, sizeof(*h));
        h->addr = *addr;
        h->port = port;
        toec_htab_add(&s->tcp->holder_tab, &h->node, hash);
    }
    h->all++;
    h->count[reuse]++;
}

void toec_port_leave(struct toec_stack *s, const struct toec_addr *addr, toec_u16 port,
                     unsigned reuse)
{
    struct holders *h = find(s, hash_of(s, port), addr, port);

    h->count[reuse]--;
    if (--h->all)
        return;
    toec_htab_del(&s->tcp->holder_tab, &h->node);
    toec_pool_put(&s->tcp->holders, h);
}

void toec_set_reuse(struct toec_stack *s, struct toec_tcb *t, toec_u32 reuse)
{
    toec_port_hold(s, &t->local, t->local_port, reuse);
    toec_port_leave(s, &t->local, t->local_port, t->pm.reuse);
    t->pm.reuse = (toec_u8)reuse;
}

/* Returns not 0 when a current user conflicts with a new one that allows sharing by `reuse`: each
 * pair must have one way of sharing in common. */
static int conflicts(const struct holders *h, unsigned reuse)
{
    unsigned i;

    for (i = 0; i <= TOEC_REUSE_ALL; i++)
        if (h->count[i] && !(i & reuse))
            return 1;
    return 0;
}

int toec_bind_ok(const struct toec_stack *s, const struct toec_addr *addr, toec_u16 port,
                 unsigned how)
{
    unsigned families = toec_any_families(addr, (how & TOEC_BIND_V6ONLY) != 0);
    struct toec_hnode *n = toec_htab_first(&s->tcp->holder_tab, hash_of(s, port));

    for (; n; n = toec_htab_next(n)) {
        const struct holders *h = TOEC_CONTAINER(n, struct holders, node);
        unsigned its = toec_addr_is4(&h->addr) ? TOEC_L_IP4 : TOEC_L_IP6;
        int there = families ? (families & its) != 0 : toec_addr_eq(&h->addr, addr);

        if (h->port == port && there && conflicts(h, how & TOEC_REUSE_ALL))
            return TOEC_E_INUSE;
    }
    return 0;
}
