/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_tfo.c - Fast Open (RFC 7413): data on the SYN, from peers whose address a cookie has
 * verified. Without TCP_FASTOPEN on the listener the option is ignored (R7413-01).
 *
 * With the same key, cookies are equal to Linux's: SipHash of source and destination address, 8
 * bytes. The stack's own keys are derived from its secret and change every TOEC_FO_PERIOD. A cookie
 * of the previous key is valid until the next change and is answered with a new one. The keys set
 * for a listener (TCP_FASTOPEN_KEY) stay until they are replaced.
 */
#include "tcp_tfo.h"

#include "tcp.h"
#include "tcp_emit.h"
#include "tcp_eor.h"
#include "tcp_in.h"
#include "tcp_listen.h"
#include "tcp_open.h"
#include "tcp_tables.h"
#include "tcp_text.h"
#include "tcp_timer.h"

#define TOEC_FO_PERIOD 46 /* 2^46 ns: 19.5 hours */
#define RESET_TIME     TOEC_MS(60000)
#define BLOCK_TIME     TOEC_MS(60000) /* as Linux: doubled with each loss after the second */
#define BLOCK_MAX      6u

/* ---- issued cookies ---- */

static void make_cookie(const toec_u64 key[2], const struct toec_addr *remote,
                        const struct toec_addr *local, toec_u8 out[TOEC_FO_COOKIE_LEN])
{
    unsigned from = toec_addr_is4(remote) ? 12 : 0, n = 16 - from, i;
    toec_u8 m[32];
    toec_u64 mac;

    memcpy(m, remote->b + from, n);
    memcpy(m + n, local->b + from, n);
    mac = toec_siphash(key, m, 2ul * n);
    for (i = 0; i < 4; i++) {
        out[i] = (toec_u8)((toec_u32)mac >> 8 * i);
        out[i + 4] = (toec_u8)((toec_u32)(mac >> 32) >> 8 * i);
    }
}

/* Gets the listener's current key (age 0) or an earlier one; returns 0 when there is none. */
static int get_key(const struct toec_stack *s, const struct toec_listener *l, unsigned age,
                   toec_time now, toec_u64 key[2])
{
    toec_u64 m[2];

    if (l->fo.n_keys) {
        if (age >= l->fo.n_keys)
            return 0;
        key[0] = l->fo.key[age][0];
        key[1] = l->fo.key[age][1];
        return 1;
    }
    m[0] = (now >> TOEC_FO_PERIOD) - age;
    m[1] = 0;
    key[0] = toec_siphash(s->keys.tfo, m, sizeof(m));
    m[1] = 1;
    key[1] = toec_siphash(s->keys.tfo, m, sizeof(m));
    return 1;
}

/* Returns 1 when the cookie was made with the current key, 2 with the previous key, 0 when it is
 * not valid. R7413-02. */
static int check_cookie(const struct toec_stack *s, const struct toec_listener *l,
                        const struct toec_seg *g, toec_time now)
{
    toec_u8 want[TOEC_FO_COOKIE_LEN];
    toec_u64 key[2];
    unsigned age, i, differ;

    if (g->fo_len != TOEC_FO_COOKIE_LEN)
        return 0;
    for (age = 0; age < 2 && get_key(s, l, age, now, key); age++) {
        make_cookie(key, g->id.remote, g->id.local, want);
        for (i = differ = 0; i < TOEC_FO_COOKIE_LEN; i++) /* in constant time */
            differ |= (unsigned)(want[i] ^ g->fo[i]);
        if (!differ)
            return 1 + (int)age;
    }
    return 0;
}

static struct toec_listener *listener_of(struct toec_stack *s, const struct toec_tcb *t)
{
    struct toec_listener *l;

    if (t->rare & TOEC_RARE_HALF)
        return t->stage.half.listener;
    l = toec_pool_at(&s->tcp->listeners, t->fo.listener);
    return l->live && l->fo.serial == t->fo.serial ? l : 0;
}

/* R7413-03. */
int toec_listen_fastopen(struct toec_stack *s, toec_u32 id, toec_u32 max)
{
    struct toec_listener *l;

    if (id >= s->tcp->listeners.fresh)
        return TOEC_E_INVAL;
    l = toec_pool_at(&s->tcp->listeners, id);
    if (!l->live)
        return TOEC_E_INVAL;
    if (l->fo.serial == 0)
        l->fo.serial = ++s->tcp->tfo.serial ? s->tcp->tfo.serial : ++s->tcp->tfo.serial;
    l->fo.max = max & ~TOEC_FASTOPEN_NOCOOKIE;
    l->fo.no_cookie = (max & TOEC_FASTOPEN_NOCOOKIE) != 0;
    return 0;
}

int toec_listen_fastopen_key(struct toec_stack *s, toec_u32 id, const toec_u8 *keys, unsigned n)
{
    struct toec_listener *l;
    unsigned i, j;

    if (id >= s->tcp->listeners.fresh || n > 2 || (n && !keys))
        return TOEC_E_INVAL;
    l = toec_pool_at(&s->tcp->listeners, id);
    if (!l->live)
        return TOEC_E_INVAL;
    for (i = 0; i < 2 * n; i++) { /* 8 bytes each, little endian, as Linux's siphash_key_t */
        toec_u64 half = 0;

        for (j = 8; j > 0; j--)
            half = half << 8 | keys[8 * i + j - 1];
        l->fo.key[i / 2][i % 2] = half;
    }
    l->fo.n_keys = n;
    return 0;
}

/* ---- cached cookies ---- */

/* Returns the cache entry of the flow's peer, or 0; make: creates one in place of the least
 * recently used entry of its set. R7413-06. */
static struct toec_tfo_peer *find_peer(struct toec_stack *s, const struct toec_tcb *t, int make)
{
    struct toec_tfo_cache *c = &s->tcp->tfo;
    struct toec_tfo_peer *p, *oldest;
    const struct toec_addr *a = &t->remote;
    unsigned i;

    p = oldest = c->peer[toec_siphash(s->keys.tfo, a, sizeof(*a)) % TOEC_FO_SETS];
    for (i = 0; i < TOEC_FO_WAYS; i++, p++) {
        if (p->used && toec_addr_eq(&p->addr, a)) {
            p->used = ++c->uses;
            return p;
        }
        if (!p->used || (oldest->used && c->uses - p->used > c->uses - oldest->used))
            oldest = p;
    }
    if (!make)
        return 0;
    memset(oldest, 0, sizeof(*oldest));
    oldest->addr = *a;
    oldest->used = ++c->uses;
    return oldest;
}

/* Returns not 0 when the path drops SYNs with the option or data (RFC 7413 7.1); plain SYNs are
 * then used for a while. R7413-07. */
static int is_blocked(const struct toec_tfo_peer *p, toec_time now)
{
    unsigned n = p->losses < BLOCK_MAX ? p->losses : BLOCK_MAX;

    return p->losses > 1 && toec_ticks(now) - p->lost_at < BLOCK_TIME << n;
}

/* Returns the bytes of data that a SYN may carry: an MSS of the peer's last SYN-ACK, less 40 bytes
 * for options that a middlebox may add, as in Linux (tcp_send_syn_data()). MUST-16 of RFC 9293. */
static toec_u32 syn_room(const struct toec_tcb *t, const struct toec_tfo_peer *p)
{
    toec_u32 mss = TOEC_PATH_IP6(&t->path) ? TOEC_MSS_DEFAULT6 : TOEC_MSS_DEFAULT4;
    toec_u32 own = toec_own_mss(&t->path);

    if (p && p->mss >= TOEC_MSS_MIN)
        mss = p->mss;
    if (t->pm.user_mss && mss > t->pm.user_mss)
        mss = t->pm.user_mss;
    if (mss > own)
        mss = own;
    return mss > TOEC_TCP_MAX_LEN - TOEC_TCP_LEN ? mss - (TOEC_TCP_MAX_LEN - TOEC_TCP_LEN) : 0;
}

int toec_fastopen(struct toec_stack *s, struct toec_tcb *t, int no_cookie, toec_time now)
{
    const struct toec_tfo_peer *p = find_peer(s, t, 0);
    toec_u32 room = syn_room(t, p);

    if (t->state != TOEC_SYN_SENT || t->snd_max != t->iss)
        return TOEC_E_INVAL;
    if (t->rare & TOEC_RARE_AO) /* no room for the option beside that of TCP-AO */
        return 0;
    if (p && is_blocked(p, now)) {
        TOEC_COUNT(s, tcp_fastopen_blocked);
        return 0;
    }
    t->fo.flags |= no_cookie ? TOEC_FO_NOCOOKIE : TOEC_FO_ASK;
    if (room == 0 || (!no_cookie && (!p || p->len == 0)))
        return 0; /* RFC 7413 4.1.2: the SYN requests a cookie */
    t->fo.flags |= TOEC_FO_DATA | TOEC_FO_HOLD;
    return (int)room;
}

/* ---- the option ---- */

/* Writes the option with its cookie, or returns 0 when it does not fit into room. */
static unsigned put_option(toec_u8 *o, unsigned room, const toec_u8 *cookie, unsigned len, int exp)
{
    unsigned head = exp ? TOEC_FO_EXP_HEAD : TOEC_FO_HEAD, size = (head + len + 3) & ~3u;

    if (size > room)
        return 0;
    memset(o, TOEC_TCPOPT_NOP, size); /* padding after the option, as in Linux */
    o[0] = (toec_u8)(exp ? TOEC_TCPOPT_EXP : TOEC_TCPOPT_FASTOPEN);
    o[1] = (toec_u8)(head + len);
    if (exp)
        toec_put16(o + 2, TOEC_TCPOPT_EXP_FASTOPEN);
    if (len)
        memcpy(o + head, cookie, len);
    return size;
}

/* R7413-08: t->rexmits. */
unsigned toec_tfo_option(struct toec_stack *s, struct toec_tcb *t, toec_u8 *o, unsigned room,
                         toec_time now)
{
    const struct toec_tfo_peer *p;
    struct toec_listener *l;
    toec_u8 cookie[TOEC_FO_COOKIE_MAX];
    unsigned len = 0, size;
    int exp;

    if (t->state == TOEC_SYN_SENT) {
        if (!(t->fo.flags & TOEC_FO_ASK) || t->rexmits)
            return 0;
        p = find_peer(s, t, 0);
        if (p && (t->fo.flags & TOEC_FO_DATA)) {
            len = p->len;
            memcpy(cookie, p->cookie, len);
        }
        exp = p && (len ? p->exp : p->try_exp == TOEC_FO_TRY_EXP);
        t->fo.flags &= (toec_u8)~TOEC_FO_ASK_EXP;
        if (exp)
            t->fo.flags |= TOEC_FO_ASK_EXP;
    } else {
        toec_u64 key[2];

        l = (t->fo.flags & TOEC_FO_COOKIE) ? listener_of(s, t) : 0;
        if (!l || !get_key(s, l, 0, now, key))
            return 0;
        make_cookie(key, &t->remote, &t->local, cookie);
        len = TOEC_FO_COOKIE_LEN;
        exp = (t->fo.flags & TOEC_FO_COOKIE_EXP) != 0;
        TOEC_COUNT(s, tcp_fastopen_cookies_given);
    }
    size = put_option(o, room, cookie, len, exp);
    if (size == 0 && t->state == TOEC_SYN_SENT)
        t->fo.flags &= (toec_u8)~TOEC_FO_DATA; /* no data without its cookie */
    return size;
}

toec_u32 toec_tfo_syn_len(struct toec_stack *s, struct toec_tcb *t)
{
    toec_u32 n = t->snd_end - t->iss - 1, room;

    if (t->state != TOEC_SYN_SENT || !(t->fo.flags & TOEC_FO_DATA) || t->rexmits)
        return 0;
    room = syn_room(t, find_peer(s, t, 0));
    if (n > room)
        n = room;
    if (t->rare & TOEC_RARE_EOR)
        n = toec_eor_end(s, t, t->iss + 1, t->iss + 1 + n) - t->iss - 1;
    if (n)
        TOEC_COUNT(s, tcp_fastopen_sent);
    t->fo.syn_len = (toec_u16)n;
    return n;
}

/* ---- as client ---- */

void toec_tfo_lost(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_tfo_peer *p;

    if (t->rexmits || !(t->fo.flags & (TOEC_FO_ASK | TOEC_FO_NOCOOKIE)))
        return;
    p = find_peer(s, t, 1);
    if (p->losses < 255)
        p->losses++;
    p->lost_at = toec_ticks(now);
    TOEC_COUNT(s, tcp_fastopen_lost);
}

/* Keeps what the SYN-ACK says of the peer, as tcp_rcv_fastopen_synack() of Linux. It may have a
 * cookie also after the SYN was sent again without the option: the path then carries both. */
static void keep(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    struct toec_tfo_peer *p = find_peer(s, t, 1);
    unsigned exp;

    if (g->mss)
        p->mss = g->mss;
    if (g->fo_len && (t->fo.flags & TOEC_FO_ASK)) {
        p->len = g->fo_len;
        p->exp = g->fo_exp;
        memcpy(p->cookie, g->fo, g->fo_len);
    } else if ((t->fo.flags & TOEC_FO_ASK) && t->rexmits == 0 && t->fo.syn_len == 0 && !g->has_fo &&
               p->len == 0) {
        exp = t->fo.flags & TOEC_FO_ASK_EXP ? TOEC_FO_TRIED : TOEC_FO_TRY_EXP;
        if (p->try_exp < exp)
            p->try_exp = (toec_u8)exp;
    }
    if (t->rexmits == 0 || g->fo_len)
        p->losses = 0;
}

/* R7413-06, R7413-09. */
toec_u32 toec_tfo_synack(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    toec_u32 acked;

    if (t->fo.flags & (TOEC_FO_ASK | TOEC_FO_NOCOOKIE))
        keep(s, t, g);
    if (t->fo.syn_len == 0)
        return 0;
    /* Data that is not acknowledged was not accepted: send it at once, as if never sent (4.2.1). */
    acked = g->ack - t->iss - 1;
    t->snd_una += acked;
    t->snd_nxt = t->snd_max = t->snd_una;
    t->fo.syn_len = 0;
    if (acked) {
        t->fo.flags |= TOEC_FO_ACKED;
        TOEC_COUNT(s, tcp_fastopen_acked);
    }
    return acked;
}

/* ---- as server ---- */

/* Returns not 0 when the listener may open another flow. RFC 7413 5.1: a flow that was reset still
 * counts for a while; otherwise a flood from an address that resets its flows would be unbounded.
 * R7413-05. */
static int has_room(struct toec_listener *l, toec_time now)
{
    if (l->fo.resets && toec_ticks(now) - l->fo.reset_at >= RESET_TIME)
        l->fo.resets = 0;
    return l->fo.pending + l->fo.resets < l->fo.max;
}

static int cookie_good(struct toec_stack *s, struct toec_listener *l, struct toec_tcb *t,
                       const struct toec_seg *g, toec_time now)
{
    int good;

    if (g->fo_exp)
        t->fo.flags |= TOEC_FO_COOKIE_EXP;
    if (g->fo_len == 0) {
        t->fo.flags |= TOEC_FO_COOKIE;
        return 0;
    }
    good = check_cookie(s, l, g, now);
    if (good != 1)
        t->fo.flags |= TOEC_FO_COOKIE; /* a valid cookie, or the next one */
    if (!good)
        TOEC_COUNT(s, tcp_fastopen_bad_cookie);
    return good;
}

/* Returns not 0 when the flow may be used before the handshake is complete. */
static int may_open(struct toec_stack *s, struct toec_listener *l, struct toec_tcb *t,
                    const struct toec_seg *g, toec_time now)
{
    if (!l->fo.no_cookie && !cookie_good(s, l, t, g, now))
        return 0;
    if (!has_room(l, now)) {
        TOEC_COUNT(s, tcp_fastopen_limited);
        return 0;
    }
    return 1;
}

/* R7413-01: if Fast Open is off or the cookie is invalid, the option and the data are ignored.
 * R7413-04, R7413-10: the initial window bounds what the flow sends. */
void toec_tfo_open(struct toec_stack *s, struct toec_listener *l, struct toec_tcb *t,
                   struct toec_seg *g, toec_time now)
{
    if (l->fo.max == 0 || !(g->has_fo || (l->fo.no_cookie && g->len)) || !may_open(s, l, t, g, now))
        return;
    TOEC_COUNT(s, tcp_fastopen_taken);
    toec_half_open_del(s, t);
    t->fo.listener = toec_pool_index(&s->tcp->listeners, l);
    t->fo.serial = l->fo.serial;
    l->fo.pending++;
    t->fo.flags |= TOEC_FO_SYN | TOEC_FO_SYNACK;
    if (g->len)
        t->fo.flags |= TOEC_FO_ACKED;
    t->state = TOEC_ESTABLISHED;
    t->snd_nxt = t->snd_max = t->iss + 1;
    t->max_wnd = t->snd_wnd;
    t->rtt_start = (toec_u32)(now >> 10);
    toec_cc_start(s, t, now);
    toec_event(s, t, TOEC_EV_ESTABLISHED, 0);
    g->seq++;
    g->flags &= ~TOEC_TH_SYN;
    toec_trim(t, g);
    if (g->len)
        toec_text(s, t, g, now);
}

int toec_tfo_syn_again(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    if ((g->flags & (TOEC_TH_SYN | TOEC_TH_ACK | TOEC_TH_RST)) != TOEC_TH_SYN || g->seq != t->irs)
        return 0;
    TOEC_COUNT(s, tcp_syn_again);
    toec_ecn_take_syn(s, t, g);
    t->rtt_start = 0; /* as in output_syn(): an RTT sample would be ambiguous */
    t->fo.flags |= TOEC_FO_SYNACK;
    toec_pend(s, t);
    return 1;
}

void toec_tfo_acked(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_tfo_end(s, t, 0, now);
    t->snd_una = t->iss + 1;
    if (t->rexmits == 0 && t->rtt_start)
        toec_rtt_timed(s, t, (toec_u32)(now >> 10) - t->rtt_start);
    else if (t->rexmits)
        t->rto = (toec_u16)(TOEC_MS(3000) / 4u); /* RFC 6298 5.7 */
    t->rexmits = 0;
    t->backoff = 0;
    if (t->snd_una == t->snd_max)
        t->flags &= ~TOEC_F_RTX;
    else
        toec_rtx_start(s, t, now);
    TOEC_COUNT(s, tcp_established);
    toec_pend(s, t);
}

void toec_tfo_end(struct toec_stack *s, struct toec_tcb *t, int reset, toec_time now)
{
    struct toec_listener *l = listener_of(s, t);

    t->fo.flags &= (toec_u8) ~(TOEC_FO_SYN | TOEC_FO_SYNACK);
    if (!l)
        return;
    l->fo.pending--;
    if (reset) {
        l->fo.resets++;
        l->fo.reset_at = toec_ticks(now);
    }
}

int toec_tfo_timeout(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (t->rexmits++ >= TOEC_R2_SYNACK) {
        TOEC_COUNT(s, tcp_timed_out);
        toec_tcb_reset(s, t, TOEC_R_TIMEDOUT, now);
        return 1;
    }
    TOEC_COUNT(s, tcp_timeouts);
    t->tally.retransmits++;
    t->backoff++;
    t->flags &= ~(TOEC_F_RTT | TOEC_F_RTX); /* the next one begins with the SYN-ACK */
    t->fo.flags |= TOEC_FO_SYNACK;
    toec_pend(s, t);
    return 0;
}

int toec_tfo_output(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    int r;

    /* Until the SYN-ACK is acknowledged, only the SYN-ACK is retransmitted. */
    t->snd_nxt = t->snd_max;
    t->flags &= ~(TOEC_F_FAST | TOEC_F_LOSS | TOEC_F_RTX_HEAD | TOEC_F_ZWIN | TOEC_F_RTT);
    if (!(t->fo.flags & TOEC_FO_SYNACK))
        return 0;
    r = toec_emit_syn(s, t, now);
    if (r)
        return r;
    t->fo.flags &= (toec_u8)~TOEC_FO_SYNACK;
    toec_rtx_start(s, t, now);
    return 0;
}
