/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6.c - reports the stack's IPv6 configuration: to the back end, the addresses to receive for; to
 * hosts, in their status pages, the sources and destinations that the TOE serves.
 */
#include <string.h>

#include "ip6.h"
#include "qp.h"

_Static_assert(TOEDEV_IP6_ADDRS <= NETIO_IP6_MAX, "as many addresses as the back end takes");

void ip6_notify(struct engine *e, struct qp *qp)
{
    struct toedev_ip6 *to = &qp->status->ip6;
    struct toec_own_addr own[TOEDEV_IP6_ADDRS];
    unsigned n = toec_own_addresses(e->stack, own, TOEDEV_IP6_ADDRS), i;

    qp->ip6_seq += 2; /* private copy: the host may have overwritten the shared one */
    __atomic_store_n(&to->seq, qp->ip6_seq - 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    to->flags = (e->cfg.core.ip6 != TOEC_IP6_OFF ? TOEDEV_IP6_ON : 0) |
                (toec_has_router(e->stack) ? TOEDEV_IP6_ROUTER : 0);
    to->scope = e->cfg.scope;
    to->count = 0;
    for (i = 0; i < n; i++) {
        if (!own[i].usable)
            continue;
        memcpy(to->addr[to->count], own[i].addr.b, 16);
        to->prefix_len[to->count] = own[i].on_link;
        to->count++;
    }
    __atomic_store_n(&to->seq, qp->ip6_seq, __ATOMIC_RELEASE);
}

/* Cheap when nothing has changed. */
void ip6_update(struct engine *e)
{
    struct toec_own_addr own[NETIO_IP6_MAX];
    uint8_t addrs[NETIO_IP6_MAX][16];
    uint32_t epoch = toec_own_epoch(e->stack), i;
    unsigned n;

    if (epoch == e->ip6_epoch)
        return;
    e->ip6_epoch = epoch;
    n = toec_own_addresses(e->stack, own, NETIO_IP6_MAX);
    for (i = 0; i < n; i++)
        memcpy(addrs[i], own[i].addr.b, 16);
    netio_set_ip6(e->netio, (const uint8_t(*)[16])addrs, n);
    for (i = 0; i < e->qp_count; i++)
        ip6_notify(e, e->qps[i]);
}
