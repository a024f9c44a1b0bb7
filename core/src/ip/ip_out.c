/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip_out.c - the interface of IP for the layers above, for both families: paths, own addresses,
 * output.
 */
#include "ip_out.h"

#include "ip4_out.h"
#include "ip6_addr.h"
#include "ip6_out.h"

int toec_path_to(struct toec_stack *s, const struct toec_addr *dst, struct toec_path *path)
{
    if (toec_addr_is4(dst))
        return toec_ip4_path(s, toec_addr_get4(dst), path);
    return toec_ip6_path(s, dst, path);
}

int toec_ip_output(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                   toec_time now)
{
    if (TOEC_PATH_IP6(path))
        return toec_ip6_output(s, path, o, now);
    return toec_ip4_output(s, path, o, now);
}

int toec_ip_segment(struct toec_stack *s, struct toec_path *path, struct toec_tx_segment *g,
                    toec_time now)
{
    int rc;

    if (path->epoch != s->route_epoch)
        return TOEC_SEGMENT_BUILD; /* the other way routes again */
    rc = toec_neigh_lookup(s, path, &g->mac, now);
    if (rc < 0)
        return rc;
    if (g->mac == s->cfg.mac)
        return TOEC_SEGMENT_BUILD; /* toec_tx.local */
    g->hops = (toec_u8)(TOEC_PATH_IP6(path) ? s->ip6.hops : s->cfg.ttl);
    rc = s->cfg.segments->send(s->cfg.user, g);
    if (rc == 0) {
        TOEC_COUNT(s, tx_frames);
        TOEC_COUNT_ADD(s, tx_bytes,
                       TOEC_ETH_LEN + path->hlen + TOEC_TCP_LEN + (g->stamps ? 12u : 0u) + g->len);
    } else if (rc < 0) {
        s->tx_full = 1;
        TOEC_COUNT(s, tx_full);
        rc = TOEC_SEND_WAIT;
    }
    return rc;
}

/* R1122-29, RFC 4861 7.2.2 */
int toec_ip_post(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o, toec_time now)
{
    int full = s->tx_full, rc;

    s->tx_full = 0;
    rc = toec_ip_output(s, path, o, now);
    if (rc == TOEC_SEND_WAIT && !s->tx_full)
        rc = toec_wait_keep(s, path, o);
    s->tx_full |= full;
    return rc;
}

int toec_addr_is_own(struct toec_stack *s, const struct toec_addr *a)
{
    if (toec_addr_is4(a))
        return toec_addr_eq(a, &s->addr) && s->ip4 != 0;
    return toec_own_find(s, a) != 0;
}

int toec_source_for(struct toec_stack *s, const struct toec_addr *dst, struct toec_addr *src)
{
    const struct toec_addr *own = &s->addr;

    if (!toec_addr_is4(dst))
        own = toec_ip6_source(s, dst);
    else if (s->ip4 == 0)
        own = 0;
    if (!own)
        return TOEC_E_NOTAVAIL;
    *src = *own;
    return 0;
}

toec_u16 toec_ip_pseudo_sum(const toec_u8 *ip, unsigned proto, toec_u32 len)
{
    return toec_ip4_version(ip) == 4 ? toec_ip4_pseudo_sum(ip, proto, len)
                                     : toec_ip6_pseudo_sum(ip, proto, len);
}
