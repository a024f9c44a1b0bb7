/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmtu.c - see pmtu.h. The callers, tcp_pmtu.c and udp.c, decide whether to lower a path's MTU,
 * because they know what they have sent (RFC 5927 7.2).
 */
#include "pmtu.h"

#include "stack.h"

/* R1191-03, R8201-04: not raised earlier than 5 minutes after it was lowered, 10 recommended. */
#define LIFE (600 * TOEC_NS_PER_S)

static unsigned long entries_size(void)
{
    return (TOEC_PMTU_ENTRIES * sizeof(struct toec_pmtu_entry) + 63) & ~63ul;
}

unsigned long toec_pmtu_size(void)
{
    return entries_size() + toec_htab_buckets(TOEC_PMTU_ENTRIES) * sizeof(struct toec_hnode *);
}

void toec_pmtu_init(struct toec_stack *s, void *mem)
{
    struct toec_pmtu *p = &s->pmtu;
    toec_u8 *buckets = (toec_u8 *)mem + entries_size();

    memset(p, 0, sizeof(*p));
    toec_pool_init(&p->pool, mem, sizeof(struct toec_pmtu_entry), TOEC_PMTU_ENTRIES);
    toec_htab_init(&p->by_dst, (struct toec_hnode **)(void *)buckets,
                   toec_htab_buckets(TOEC_PMTU_ENTRIES));
}

static struct toec_pmtu_entry *find(struct toec_stack *s, const struct toec_addr *dst)
{
    struct toec_hnode *n = toec_htab_first(&s->pmtu.by_dst, toec_addr_hash(&s->keys.flow, dst, 2));

    for (; n; n = toec_htab_next(n)) {
        struct toec_pmtu_entry *e = TOEC_CONTAINER(n, struct toec_pmtu_entry, node);

        if (toec_addr_eq(&e->dst, dst))
            return e;
    }
    return 0;
}

static void list_add(struct toec_pmtu *p, struct toec_pmtu_entry *e)
{
    e->newer = 0;
    e->older = p->newest;
    if (p->newest)
        p->newest->newer = e;
    else
        p->oldest = e;
    p->newest = e;
}

static void list_del(struct toec_pmtu *p, struct toec_pmtu_entry *e)
{
    if (e->older)
        e->older->newer = e->newer;
    else
        p->oldest = e->newer;
    if (e->newer)
        e->newer->older = e->older;
    else
        p->newest = e->older;
}

static void forget(struct toec_stack *s, struct toec_pmtu_entry *e)
{
    toec_timer_cancel(s, &e->timer);
    list_del(&s->pmtu, e);
    toec_htab_del(&s->pmtu.by_dst, &e->node);
    toec_pool_put(&s->pmtu.pool, e);
}

static struct toec_pmtu_entry *add(struct toec_stack *s, const struct toec_addr *dst)
{
    struct toec_pmtu *p = &s->pmtu;
    struct toec_pmtu_entry *e = toec_pool_get(&p->pool);

    if (!e) {
        TOEC_COUNT(s, pmtu_evicted);
        forget(s, p->oldest);
        e = toec_pool_get(&p->pool);
    }
    memset(e, 0, sizeof(*e));
    e->dst = *dst;
    toec_htab_add(&p->by_dst, &e->node, toec_addr_hash(&s->keys.flow, dst, 2));
    list_add(p, e);
    return e;
}

toec_u32 toec_pmtu_get(struct toec_stack *s, const struct toec_addr *dst, int *no_df)
{
    struct toec_pmtu_entry *e = s->pmtu.by_dst.used ? find(s, dst) : 0;

    *no_df = e ? e->no_df : 0;
    return e ? e->mtu : 0;
}

toec_u32 toec_pmtu_get_udp(struct toec_stack *s, const struct toec_addr *dst, int *no_df)
{
    struct toec_pmtu_entry *e = s->pmtu.by_dst.used ? find(s, dst) : 0;
    int ours = e && e->udp_mtu && (!e->mtu || e->udp_mtu <= e->mtu);

    if (!ours)
        return toec_pmtu_get(s, dst, no_df);
    *no_df = e->udp_no_df;
    return e->udp_mtu;
}

void toec_pmtu_set(struct toec_stack *s, const struct toec_addr *dst, toec_u32 mtu, int no_df,
                   toec_time now)
{
    struct toec_pmtu_entry *e = find(s, dst);

    if (!e) {
        e = add(s, dst);
    } else {
        list_del(&s->pmtu, e);
        list_add(&s->pmtu, e);
    }
    if (e->mtu != mtu || e->no_df != no_df)
        s->pmtu.gen++;
    e->mtu = (toec_u16)mtu;
    e->no_df = (toec_u8)no_df;
    toec_timer_set(s, &e->timer, TOEC_TMR_PMTU, now + LIFE);
}

/* An existing entry keeps its expiry: a possibly forged error must not extend the life of TCP's
 * value. */
void toec_pmtu_set_udp(struct toec_stack *s, const struct toec_addr *dst, toec_u32 mtu, int no_df,
                       toec_time now)
{
    struct toec_pmtu_entry *e = find(s, dst);

    if (!e) {
        e = add(s, dst);
        toec_timer_set(s, &e->timer, TOEC_TMR_PMTU, now + LIFE);
    }
    e->udp_mtu = (toec_u16)mtu;
    e->udp_no_df = (toec_u8)no_df;
}

void toec_pmtu_again(struct toec_stack *s, const struct toec_pmtu_entry *is, toec_time deadline)
{
    struct toec_pmtu_entry *e = find(s, &is->dst);

    if (!e)
        e = add(s, &is->dst);
    e->mtu = is->mtu;
    e->no_df = is->no_df;
    e->udp_mtu = is->udp_mtu;
    e->udp_no_df = is->udp_no_df;
    toec_timer_set(s, &e->timer, TOEC_TMR_PMTU, deadline);
}

void toec_pmtu_timer(struct toec_stack *s, struct toec_timer *t)
{
    TOEC_COUNT(s, pmtu_expired);
    forget(s, TOEC_CONTAINER(t, struct toec_pmtu_entry, timer));
    s->pmtu.gen++;
}
