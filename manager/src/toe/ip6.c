/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6.c - IPv6: the TOE's settings (its status page), addresses for commands (the address table)
 * and from flow records.
 */
#include <string.h>

#include "ctx.h"
#include "inline.h"
#include "ip6.h"
#include "name.h"
#include "qp.h"
#include "record.h"
#include "tsock.h"

static bool read_status(struct toedev_ip6 *out)
{
    const struct toedev_ip6 *from;

    if (!tctx.qps_n)
        return tctx.known && tinline_ip6(out);
    from = &tctx.qps[0]->status->ip6;
    for (int tries = 0; tries < 1000; tries++) {
        uint32_t seq = __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE);

        memcpy(out, from, sizeof(*out));
        atomic_thread_fence(memory_order_acquire);
        if (!(seq & 1) && __atomic_load_n(&from->seq, __ATOMIC_RELAXED) == seq)
            return true;
        tpause();
    }
    return false;
}

bool tip6_get(struct toedev_ip6 *out)
{
    return read_status(out) && (out->flags & TOEDEV_IP6_ON) && out->count <= TOEDEV_IP6_ADDRS;
}

uint32_t tip6_interface(void)
{
    struct toedev_ip6 t;

    return read_status(&t) ? t.scope : 0;
}

bool tip6_own(const struct toedev_ip6 *t, const struct tname *n)
{
    if (IN6_IS_ADDR_LINKLOCAL(&n->ip6) && (!t->scope || n->scope != t->scope))
        return false;
    for (uint32_t i = 0; i < t->count; i++)
        if (memcmp(t->addr[i], &n->ip6, 16) == 0)
            return true;
    return false;
}

void tip6_scope(int fd, struct tname *n)
{
    int interface = 0;
    socklen_t len = sizeof(interface);

    if (n->v4 || n->scope || !IN6_IS_ADDR_LINKLOCAL(&n->ip6))
        return;
    if (sys_getsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &interface, &len) == 0)
        n->scope = (uint32_t)interface;
}

static bool match(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    return memcmp(a, b, bits / 8) == 0 &&
           (bits % 8 == 0 || ((a[bits / 8] ^ b[bits / 8]) >> (8 - bits % 8)) == 0);
}

bool tip6_on_link(const struct toedev_ip6 *t, const struct in6_addr *a)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->prefix_len[i] < 128 && match(t->addr[i], a->s6_addr, t->prefix_len[i]))
            return true;
    return false;
}

/* The table has twice as many entries as the ring has commands, so no entry is overwritten that a
 * pending command may refer to. */
uint32_t tip6_entry(struct tqp *qp, const struct in6_addr *a, const struct in6_addr *local)
{
    uint32_t index = qp->addresses++ & (qp->cfg.addresses - 1);
    struct toedev_address *e = (struct toedev_address *)(qp->area + qp->layout.addresses) + index;

    memset(e, 0, sizeof(*e));
    memcpy(e->addr, a, sizeof(e->addr));
    if (local)
        memcpy(e->local, local, sizeof(e->local));
    return index;
}

void tip6_local(struct tsock *s, uint32_t slot)
{
    const struct toedev_flow_record *r =
        (const struct toedev_flow_record *)(s->qp->area + s->qp->layout.records) + slot;

    memcpy(&s->local6, r->local, sizeof(s->local6));
}

void tip6_names(struct tsock *s)
{
    struct toedev_flow_record r;
    struct toedev_ip6 t;

    if (!tsock_record(s, &r))
        return;
    s->ip6 = 1;
    memcpy(&s->local6, r.local, sizeof(s->local6));
    memcpy(&s->remote6, r.remote, sizeof(s->remote6));
    s->scope = IN6_IS_ADDR_LINKLOCAL(&s->remote6) && tip6_get(&t) ? t.scope : 0;
}
