/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_isn.c - values an attacker must not guess: initial sequence numbers (RFC 6528), SYN cookies
 * (RFC 4987 3.6), ephemeral ports (RFC 6056), timestamp offsets (RFC 7323 5.4).
 */
#include "tcp_isn.h"

#include "tcp.h"
#include "tcp_listen.h"
#include "tcp_tables.h"
#include "tcp_tw.h"

static toec_u64 tuple_mac(const toec_u64 key[2], const struct toec_tuple *id, toec_u16 local_port,
                          toec_u32 a, toec_u32 b)
{
    toec_u8 m[48];
    unsigned n = 16;

    toec_put32(m, toec_addr_get4(id->remote));
    toec_put16(m + 4, local_port);
    toec_put16(m + 6, id->remote_port);
    toec_put32(m + 8, a);
    toec_put32(m + 12, b);
    if (!toec_addr_is4(id->remote)) { /* IPv4 has a single local address */
        memcpy(m + 16, id->local->b, 16);
        memcpy(m + 32, id->remote->b, 16);
        n = 48;
    }
    return toec_siphash(key, m, n);
}

/* RFC 9293 MUST-8, MUST-9, SHLD-1; R6528-01, R6528-02, R6528-03. */
toec_u32 toec_isn(struct toec_stack *s, const struct toec_tuple *id, toec_time now)
{
    /* RFC 6528 3: M, a clock of about 4 us, plus F(4-tuple, secret) */
    return (toec_u32)(now >> 12) + (toec_u32)tuple_mac(s->keys.isn, id, id->local_port, 0, 0);
}

/* Returns the same offset for all connections of one pair, so that timestamps order its
 * incarnations (RFC 6191). R7323-18. */
toec_u32 toec_ts_offset(struct toec_stack *s, const struct toec_tuple *id)
{
    return (toec_u32)tuple_mac(s->keys.ts, id, id->local_port, 0, 0);
}

/* ---- SYN cookies: 5 bits of period, 3 bits of MSS (both masked), 24 bits of MAC ---- */

static const toec_u16 cookie_mss[8] = {216, 536, 1220, 1360, 1412, 1440, 1460, 8960};

static toec_u32 cookie_value(struct toec_stack *s, const struct toec_seg *g, toec_u32 client_isn,
                             toec_u32 period, toec_u32 mss)
{
    toec_u64 mac =
        tuple_mac(s->keys.cookie, &g->id, g->id.local_port, client_isn, period << 3 | mss);
    toec_u32 mask =
        (toec_u32)tuple_mac(s->keys.cookie, &g->id, g->id.local_port, client_isn, 0xffffffffu);

    return ((((period & 31u) << 3 | mss) ^ (mask & 255u)) << 24) | ((toec_u32)mac & 0xffffffu);
}

/* R4987-01. */
toec_u32 toec_cookie_make(struct toec_stack *s, const struct toec_seg *g, toec_time now)
{
    toec_u32 mss = g->mss, i = 7;

    if (mss == 0)
        mss = toec_addr_is4(g->id.remote) ? TOEC_MSS_DEFAULT4 : TOEC_MSS_DEFAULT6;
    while (i > 0 && cookie_mss[i] > mss)
        i--;
    return cookie_value(s, g, g->seq, toec_ticks(now) >> TOEC_COOKIE_TICK, i);
}

unsigned toec_cookie_check(struct toec_stack *s, const struct toec_seg *g, toec_time now)
{
    toec_u32 cookie = g->ack - 1, client_isn = g->seq - 1;
    toec_u32 period = toec_ticks(now) >> TOEC_COOKIE_TICK;
    toec_u32 mask =
        (toec_u32)tuple_mac(s->keys.cookie, &g->id, g->id.local_port, client_isn, 0xffffffffu);
    toec_u32 top = (cookie >> 24) ^ (mask & 255u), age;

    for (age = 0; age < TOEC_COOKIE_AGES; age++) {
        if (((period - age) & 31u) != top >> 3)
            continue;
        if (cookie_value(s, g, client_isn, period - age, top & 7u) == cookie)
            return cookie_mss[top & 7u];
    }
    return 0;
}

/* ---- ephemeral ports ---- */

int toec_port_is_home(const struct toec_stack *s, const struct toec_tuple *id)
{
    if (s->cfg.home_count < 2)
        return 1;
    return toec_rss_hash(id->local, id->remote, id->local_port, id->remote_port) %
               s->cfg.home_count ==
           s->cfg.home_index;
}

/* Returns not 0 when this 4-tuple is unused and was not used recently (or when timestamps will
 * distinguish old segments from new ones). */
static int port_is_free(struct toec_stack *s, const struct toec_tuple *id, toec_time now)
{
    toec_u32 hash = toec_tuple_hash(s, id);
    const struct toec_tw *w = toec_tw_find(s, hash, id);

    return (!w || toec_tw_reusable(w, now)) && !toec_tcb_find(s, hash, id) &&
           !toec_listener_find(s, id->local, id->local_port);
}

static int port_is_reserved(const struct toec_stack *s, toec_u32 port)
{
    const toec_u8 *map = s->cfg.ports_reserved;

    return map && (map[port / 8] >> port % 8 & 1);
}

/* Returns the number of ports to choose from, and the first of them. */
static toec_u32 port_range(const struct toec_stack *s, toec_u32 within, toec_u32 *first)
{
    toec_u32 low = s->cfg.port_last ? s->cfg.port_first : TOEC_PORT_FIRST;
    toec_u32 high = s->cfg.port_last ? s->cfg.port_last : TOEC_PORT_FIRST + TOEC_PORT_COUNT - 1;

    /* as inet_sk_get_local_port_range() of Linux */
    if (within && (within & 0xffffu) >= low && (within & 0xffffu) <= high)
        low = within & 0xffffu;
    if (within >> 16 >= low && within >> 16 <= high)
        high = within >> 16;
    *first = low;
    return high - low + 1;
}

toec_u16 toec_port_pick(struct toec_stack *s, const struct toec_tuple *id, toec_u32 within,
                        toec_time now)
{
    struct toec_tuple try = *id;
    toec_u32 first, count = port_range(s, within, &first);
    /* RFC 6056 3.3.1, simple port randomization (R6056-01): with a keyed generator a port reveals
     * nothing about other ports. A counter, even one of sixteen selected by a keyed hash (3.3.4),
     * lets a destination count the connections to others (R6056-02). Recently used ports are
     * skipped below. */
    toec_u32 at = toec_rand32(s) % count, i;

    for (i = 0; i < count; i++) {
        try.local_port = (toec_u16)(first + at);
        at = at + 1 < count ? at + 1 : 0;
        if (!port_is_reserved(s, try.local_port) && toec_port_is_home(s, &try) &&
            port_is_free(s, &try, now))
            return try.local_port;
    }
    TOEC_COUNT(s, tcp_no_port);
    return 0;
}
