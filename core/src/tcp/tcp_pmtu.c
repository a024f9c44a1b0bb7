/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_pmtu.c - the size of a flow's segments: path MTU discovery by ICMP errors (RFC 1191, RFC
 * 8201), protection against forged ones (RFC 5927 7.2), and discovery without ICMP (RFC 4821 7.7,
 * as net.ipv4.tcp_mtu_probing of Linux).
 */
#include "tcp_pmtu.h"

#include "tcb.h"
#include "tcp.h"
#include "tcp_recover.h"
#include "tcp_runs.h"
#include "tcp_trace.h"

static toec_u32 floor_of(const struct toec_tcb *t)
{
    return TOEC_PATH_IP6(&t->path) ? TOEC_PMTU_MIN6 : TOEC_PMTU_MIN4;
}

static toec_u32 headers(const struct toec_tcb *t)
{
    return t->path.hlen + TOEC_TCP_LEN;
}

toec_u32 toec_pm_payload(const struct toec_tcb *t, toec_u32 size)
{
    toec_u32 mss = size - headers(t);

    if (mss > t->pm.peer_mss)
        mss = t->pm.peer_mss;
    if (t->pm.user_mss && mss > t->pm.user_mss)
        mss = t->pm.user_mss;
    return mss - toec_opt_len(t); /* RFC 6691 3; RFC 5925 7.6, R5925-16 */
}

void toec_pm_sync(struct toec_stack *s, struct toec_tcb *t)
{
    int no_df = 0, own = t->pm.discover >= TOEC_MTU_PROBE; /* IP_PMTUDISC_PROBE and above */
    toec_u32 mtu, known = own ? 0 : toec_pmtu_get(s, &t->remote, &no_df), mss;
    toec_u16 carries;

    t->pm.gen = s->pmtu.gen;
    carries = (toec_u16)(TOEC_PATH_IP6(&t->path) ? s->ip6.mtu : s->link_mtu);
    if (t->path.mtu !=
        carries) { /* the link's MTU has changed, or a router advertised one (RFC 4861) */
        t->path.mtu = carries;
        t->pm.high = (toec_u16)TOEC_MIN(t->pm.high, t->path.mtu);
        t->pm.low = (toec_u16)TOEC_MIN(t->pm.low, t->path.mtu);
        t->pm.carried = (toec_u16)TOEC_MIN(t->pm.carried, t->path.mtu);
        if (t->pm.probe > t->path.mtu)
            t->pm.probe = 0;
    }
    mtu = t->path.mtu;
    if (known && known < mtu)
        mtu = known;
    if (t->pm.low && t->pm.low < mtu)
        mtu = t->pm.low;
    t->pm.mtu = (toec_u16)mtu;
    t->pm.no_df =
        (toec_u8)(no_df || t->pm.discover == TOEC_MTU_DONT || t->pm.discover >= TOEC_MTU_INTERFACE);
    mss = toec_pm_payload(t, mtu);
    if (mss < t->mss) {
        /* Outstanding segments may be too large; an ICMP error about them reports nothing new. */
        t->pm.old_set = t->snd_una != t->snd_max;
        t->pm.old_end = t->snd_max;
        t->pm.watch_size = 0;
    }
    t->mss = (toec_u16)mss;
    /* After a timeout cwnd may be one segment of an earlier size; it must hold one of this size. */
    if (t->cwnd < mss)
        t->cwnd = mss;
}

void toec_pm_start(struct toec_stack *s, struct toec_tcb *t)
{
    toec_u32 base = TOEC_MAX(TOEC_MTU_PROBE_BASE, floor_of(t));

    if (s->cfg.mtu_probing == TOEC_MTU_PROBING_ALWAYS && t->path.mtu > base) {
        t->pm.low = (toec_u16)base;
        t->pm.high = (toec_u16)TOEC_MIN(t->path.mtu, t->pm.peer_mss + headers(t));
        t->pm.search_at = t->rcv_at;
    }
    toec_pm_sync(s, t);
    t->pm.old_set = 0;
}

/* ---- ICMP ---- */

/*
 * Retransmits outstanding segments that were too large, in smaller pieces. Congestion control is
 * not notified (RFC 1191 6.5; RFC 8201 5.4): congestion did not cause the drops.
 */
static void send_all_again(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    t->pm.old_set = 0;
    if (t->state < TOEC_ESTABLISHED || t->snd_una == t->snd_max)
        return;
    toec_lose_all(s, t, now);
    toec_pend(s, t);
}

static void lower(struct toec_stack *s, struct toec_tcb *t, toec_u32 mtu, int no_df, toec_time now)
{
    toec_u32 before = t->mss;

    TOEC_COUNT(s, tcp_pmtu_lowered);
    toec_trace_una(s, t, TOEC_T_PATH_MTU, mtu);
    toec_pmtu_set(s, &t->remote, mtu, no_df, now);
    t->pm.claim = 0;
    if (t->pm.carried > mtu)
        t->pm.carried = (toec_u16)mtu;
    if (t->pm.low) { /* a search continues below this size */
        t->pm.high = (toec_u16)TOEC_MIN(t->pm.high, mtu);
        t->pm.low = (toec_u16)TOEC_MIN(t->pm.low, mtu);
        t->pm.probe = 0;
    }
    if (t->state < TOEC_ESTABLISHED)
        return; /* toec_pm_start() reads it from the cache */
    toec_pm_sync(s, t);
    if (t->mss < before || no_df)
        send_all_again(s, t, now);
}

void toec_pm_too_big(struct toec_stack *s, struct toec_tcb *t, toec_u32 seq, toec_u32 mtu,
                     toec_time now)
{
    toec_u32 least = floor_of(t), current = t->pm.mtu ? t->pm.mtu : t->path.mtu;
    int no_df = 0;

    /* R8201-01: a claim of less than 1280 is ignored. R1191-02: the IPv4 path MTU is not lowered
     * below the floor, which is far above 68; DF is cleared instead. */
    if (mtu < least && TOEC_PATH_IP6(&t->path)) {
        TOEC_COUNT(s, tcp_icmp_ignored);
        return;
    }
    if (mtu < least) {
        mtu = least;
        no_df = 1;
    }
    /* As in Linux: IP_PMTUDISC_INTERFACE and _OMIT ignore the error; with _DONT no router has a
     * reason to send one. */
    if (t->pm.discover >= TOEC_MTU_INTERFACE || t->pm.discover == TOEC_MTU_DONT) {
        TOEC_COUNT(s, tcp_icmp_ignored);
        return;
    }
    /* R8201-02: an error never raises the MTU; one not smaller than the current MTU is redundant.
     */
    if (mtu > current || (mtu == current && !(no_df && !t->pm.no_df))) {
        if (t->pm.probe && seq == t->pm.probe_start && mtu < t->pm.probe) {
            /* R8899-01: the probe was too large, the size in use is not. The loss of the probe is
             * detected as usual; the search then continues below the reported MTU. */
            t->pm.high = (toec_u16)mtu;
            return;
        }
        if (t->pm.old_set && TOEC_SEQ_LT(seq, t->pm.old_end))
            send_all_again(s, t, now);
        else
            TOEC_COUNT(s, tcp_icmp_ignored);
        return;
    }
    /* R5927-03: larger datagrams have arrived, so the error may be forged. It is kept until the
     * segment it quotes is acknowledged (then it was forged) or times out (then it is accepted). */
    if (mtu < t->pm.carried && t->rexmits == 0) {
        TOEC_COUNT(s, tcp_pmtu_doubted);
        t->pm.claim = (toec_u16)mtu;
        t->pm.claim_no_df = (toec_u8)no_df;
        t->pm.claim_seq = seq;
        return;
    }
    lower(s, t, mtu, no_df, now);
}

/* ---- sizes that arrive ---- */

void toec_pm_sent(struct toec_tcb *t, toec_u32 end, toec_u32 len)
{
    toec_u32 size = len + headers(t) + toec_opt_len(t);

    if (t->pm.watch_size || size <= t->pm.carried)
        return;
    t->pm.watch_size = (toec_u16)size;
    t->pm.watch_end = end;
}

/* ---- black holes (R4821-01; RFC 4821 7.7) ---- */

/*
 * Full segments time out repeatedly without an ICMP error: perhaps a router drops large datagrams
 * and its ICMP errors are filtered (RFC 2923 2.1). From the third timeout on, as in Linux, each
 * timeout tries a smaller size. If the cause was different, the search raises the size again.
 */
static void black_hole(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    static const toec_u16 steps[] = {TOEC_MTU_PROBE_BASE, TOEC_PMTU_MIN4, 296};
    toec_u32 least = TOEC_PATH_IP6(&t->path) ? TOEC_PMTU_MIN6 : 296, to = 0;
    unsigned i;

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]) && !to; i++) {
        if (steps[i] < t->pm.mtu)
            to = TOEC_MAX(steps[i], least);
    }
    if (to == 0 || to >= t->pm.mtu)
        return;
    TOEC_COUNT(s, tcp_black_holes);
    if (t->pm.low == 0)
        t->pm.high = t->pm.mtu;
    t->pm.low = (toec_u16)to;
    t->pm.carried = TOEC_MIN(t->pm.carried, t->pm.low);
    t->pm.search_at = toec_ticks(now);
    toec_pm_sync(s, t);
    t->pm.old_set = 0;
}

/* ---- search (RFC 4821 7.3 to 7.6) ---- */

#define SEARCH_END   8u /* bytes: a smaller range ends the search; tcp_probe_threshold of Linux */
#define SEARCH_AGAIN TOEC_MS(600000) /* R4821-04: at least five minutes */
#define AFTER_PROBE  4u              /* R4821-05: segments after a probe, to detect its loss */

toec_u32 toec_pm_probe(const struct toec_tcb *t, toec_u32 ready, toec_u32 room, toec_u32 wnd,
                       toec_time now)
{
    const struct toec_pm *p = &t->pm;
    toec_u32 len, need;

    if (p->low == 0 || p->probe || !(t->flags & TOEC_F_SACK) || p->high < p->low + SEARCH_END ||
        (t->flags & (TOEC_F_FAST | TOEC_F_LOSS | TOEC_F_SACKED | TOEC_F_RTX_HEAD)) ||
        TOEC_SEQ_LT(toec_ticks(now), p->search_at))
        return 0;
    len = toec_pm_payload(t, (p->low + p->high + 1u) / 2u);
    need = len + AFTER_PROBE * t->mss;
    return len > t->mss && ready >= need && room >= need && wnd >= need ? len : 0;
}

void toec_pm_probed(struct toec_stack *s, struct toec_tcb *t, toec_u32 len)
{
    TOEC_COUNT(s, tcp_mtu_probes);
    t->pm.probe = (toec_u16)((t->pm.low + t->pm.high + 1u) / 2u);
    t->pm.probe_end = t->snd_max;
    t->pm.probe_start = t->snd_max - len;
}

/* Handles a narrowed search range. When the search is complete, stores the result in the cache, for
 * all flows to this destination. */
static void narrowed(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_pm *p = &t->pm;
    toec_u32 most = TOEC_MIN(t->path.mtu, p->peer_mss + headers(t));
    int no_df;
    toec_u32 known = toec_pmtu_get(s, &t->remote, &no_df);

    p->probe = 0;
    if (known && known < p->low)
        toec_pmtu_set(s, &t->remote, p->low, 0, now);
    if (p->high < p->low + SEARCH_END) {
        if (p->low + SEARCH_END <= most)
            toec_pmtu_set(s, &t->remote, p->low, 0, now);
        p->search_at = toec_ticks(now) + SEARCH_AGAIN;
        p->high = (toec_u16)most;
    }
    toec_pm_sync(s, t);
}

static toec_u32 headway(const struct toec_tcb *t)
{
    toec_u32 segments = t->cwnd / t->mss + 1, rtt = (t->srtt >> 13) + 1;

    return segments < SEARCH_AGAIN / rtt ? segments * rtt : SEARCH_AGAIN;
}

static void too_large(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    TOEC_COUNT(s, tcp_mtu_probes_lost);
    t->pm.high = (toec_u16)TOEC_MIN(t->pm.high, t->pm.probe - 1u);
    /* R4821-03: lost probes, which do not reduce the window, must stay rarer than real losses. The
     * next probe waits one round trip per segment of the window. A completed search waits longer.
     */
    t->pm.search_at = toec_ticks(now) + headway(t);
    narrowed(s, t, now);
}

void toec_pm_acked(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_pm *p = &t->pm;

    if (p->probe && TOEC_SEQ_GE(t->snd_una, p->probe_end)) {
        p->low = p->probe;
        narrowed(s, t, now);
    }
    if (p->watch_size && TOEC_SEQ_GE(t->snd_una, p->watch_end)) {
        p->carried = p->watch_size;
        p->watch_size = 0;
    }
    if (p->claim && TOEC_SEQ_GT(t->snd_una, p->claim_seq)) {
        TOEC_COUNT(s, tcp_pmtu_refuted);
        p->claim = 0;
    }
    if (p->old_set && TOEC_SEQ_GE(t->snd_una, p->old_end))
        p->old_set = 0;
}

int toec_pm_probe_lost(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_pm *p = &t->pm;
    toec_u32 start, end;

    if (!p->probe)
        return 0;
    if (t->rack.lost == p->probe_end - p->probe_start &&
        toec_runs_first(t, TOEC_RUN_LOST, TOEC_RUN_SACKED, &start, &end) &&
        start == p->probe_start) {
        too_large(s, t, now);
        return 1; /* R4821-02: not a sign of congestion */
    }
    p->probe = 0; /* more was lost: inconclusive about the size */
    return 0;
}

void toec_pm_timeout(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    t->pm.watch_size = 0; /* retransmissions may have other sizes */
    if (t->pm.probe)
        too_large(s, t, now);
    if (t->pm.claim) { /* RFC 5927 7.2 with MAXSEGRTO 1 */
        lower(s, t, t->pm.claim, t->pm.claim_no_df, now);
        return;
    }
    if (s->cfg.mtu_probing == TOEC_MTU_PROBING_OFF || t->rexmits < TOEC_R1 ||
        t->snd_max - t->snd_una < t->mss || t->pm.discover >= TOEC_MTU_INTERFACE)
        return;
    black_hole(s, t, now);
}
