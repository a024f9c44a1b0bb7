/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c - see wait.h. A frame is copied completely, with its checksum, so its source need not be
 * kept; the ring bounds the memory that a flood can use.
 */
#include "wait.h"

#include "ip4_in.h"
#include "ip4_out.h"
#include "ip6_out.h"
#include "ip_out.h"
#include "stack.h"

static struct toec_waiting *at(struct toec_wait *w, toec_u32 i)
{
    return &w->item[i % TOEC_WAIT_MAX];
}

int toec_wait_keep(struct toec_stack *s, const struct toec_path *path, struct toec_outbuf *o)
{
    static const toec_u8 unresolved[6] = {0, 0, 0, 0, 0, 0};
    struct toec_wait *w = &s->wait;
    struct toec_waiting *x;
    struct toec_tx tx;

    if (TOEC_PATH_IP6(path))
        toec_ip6_frame(s, unresolved, s->ip6.hops, o, &tx);
    else
        toec_ip4_frame(s, unresolved, o, &tx);
    if (tx.hdr_len + tx.len > TOEC_WAIT_ROOM || (tx.len && !tx.src))
        return -1;
    if (w->end - w->begin == TOEC_WAIT_MAX) {
        if (at(w, w->begin)->len)
            /* RFC 4861 7.2.2: the new packet replaces the oldest */
            TOEC_COUNT(s, tx_unresolved_drop);
        w->begin++;
    }
    x = at(w, w->end++);
    x->path = *path;
    x->dst = *o->dst;
    x->len = (toec_u16)(tx.hdr_len + tx.len);
    memcpy(x->frame, tx.hdr, tx.hdr_len);
    if (tx.len)
        toec_pkt_copy(s, x->frame + tx.hdr_len, tx.src, tx.off, tx.len);
    toec_tx_finish(&tx, x->frame, x->len);
    return 0;
}

/* As toec_ip_output(), for a stored frame. */
static int try_again(struct toec_stack *s, struct toec_waiting *x, toec_time now)
{
    const toec_u8 *mac = 0;
    struct toec_tx tx;
    int rc;

    if (x->path.epoch != s->route_epoch && toec_path_to(s, &x->dst, &x->path) < 0)
        return TOEC_SEND_UNREACH;
    rc = toec_neigh_lookup(s, &x->path, &mac, now);
    if (rc < 0)
        return rc;
    memcpy(x->frame + TOEC_ETH_DST, mac, 6);
    memset(&tx, 0, sizeof(tx));
    tx.hdr = x->frame;
    tx.hdr_len = x->len;
    tx.local = mac == s->cfg.mac;
    return toec_transmit(s, &tx);
}

void toec_wait_poll(struct toec_stack *s, toec_time now)
{
    struct toec_wait *w = &s->wait;
    toec_u32 i;
    int rc;

    if (w->begin == w->end || (w->epoch == s->send_epoch && !w->again))
        return;
    w->epoch = s->send_epoch;
    for (i = w->begin; i != w->end && !s->tx_full; i++) {
        if (at(w, i)->len == 0)
            continue;
        rc = try_again(s, at(w, i), now);
        if (rc == TOEC_SEND_WAIT)
            continue;
        if (rc < 0)
            TOEC_COUNT(s, tx_unresolved_drop);
        at(w, i)->len = 0;
    }
    w->again = s->tx_full != 0;
    while (w->begin != w->end && at(w, w->begin)->len == 0)
        w->begin++;
}
