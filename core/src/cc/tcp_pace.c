/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_pace.c - pacing, see tcp_pace.h.
 *
 * Each burst advances the time of the next one by size / rate (draft-ietf-ccwg-bbr 5.6.2). Timers
 * and the sleep of the poll loop are coarse, so a burst may start late. It then grows by the volume
 * missed, at most by most_late().
 */
#include "tcp_pace.h"

#include "../tcp/tcp_tables.h"

#define RATE_MIN 1074u /* 1000 bytes per second */
#define BURST_MAX                                                                                  \
    (1u << 16) /* bytes, and more only where 2^17 ns (131 us) of the rate are more                 \
                */

toec_u64 toec_rate_of_bps(toec_u64 bps)
{
    if (bps >= TOEC_PACE_MAX)
        return TOEC_PACE_MAX;
    return toec_div64(bps << 21, 1953125u);
}

/* Returns the time to send n bytes at the rate, in ns. */
static toec_u64 time_of(toec_u64 rate, toec_u32 n)
{
    toec_u64 scaled = (toec_u64)n << 30;

    while (rate >> 32) {
        rate >>= 1;
        scaled >>= 1;
    }
    return toec_div64(scaled, (toec_u32)rate);
}

struct toec_pace *toec_pace_get(struct toec_stack *s, struct toec_tcb *t)
{
    if (!t->pace) {
        t->pace = toec_pool_get(&s->tcp->paces);
        memset(t->pace, 0, sizeof(*t->pace));
        t->pace->flow = t;
    }
    return t->pace;
}

void toec_pace_put(struct toec_stack *s, struct toec_tcb *t)
{
    if (!t->pace)
        return;
    toec_wheel_cancel(&s->tcp->pace_wheel, &t->pace->timer);
    toec_pool_put(&s->tcp->paces, t->pace);
    t->pace = 0;
}

void toec_pace_set(struct toec_tcb *t, toec_u64 rate)
{
    struct toec_pace *p = t->pace;
    toec_u64 burst;

    if (p->max && (rate == 0 || rate > p->max))
        rate = p->max;
    if (rate && rate < RATE_MIN)
        rate = RATE_MIN;
    if (rate > TOEC_PACE_MAX)
        rate = TOEC_PACE_MAX;
    p->rate = rate;
    /* The volume of one millisecond, at most 64 KiB, at least two segments (draft-ietf-ccwg-bbr
     * 5.6.3). At 4 Gbit/s and more: the volume of 2^17 ns, the time between two polls. */
    burst = TOEC_MIN(rate >> 10, BURST_MAX);
    burst = TOEC_MAX(burst, rate >> 13);
    burst = TOEC_MIN(burst, 1u << 24);
    p->quantum = TOEC_MAX((toec_u32)burst, 2u * t->mss);
    p->quantum -= p->quantum % t->mss;
}

void toec_pace_update(struct toec_stack *s, struct toec_tcb *t)
{
    toec_u32 srtt = t->srtt >> 3;
    toec_u64 rate;

    if (t->cc_ops->flags & TOEC_CC_PACED)
        return;
    if (srtt == 0 || !(t->stage.cwv.restarted || toec_pace_max(t))) {
        if (!t->pace)
            return;
        toec_pace_set(t, 0); /* sets the rate to the limit, if there is one */
        if (t->pace->rate == 0 && !toec_timer_pending(&t->pace->timer))
            toec_pace_put(s, t);
        return;
    }
    (void)toec_pace_get(s, t);
    rate = toec_div64((toec_u64)t->cwnd << 20, srtt);
    rate = t->cwnd < t->cc.ssthresh / 2 ? rate * 2u : rate + toec_div64(rate, 5u);
    toec_pace_set(t, rate);
}

void toec_pace_limit(struct toec_stack *s, struct toec_tcb *t, toec_u64 max)
{
    if (max == toec_pace_max(t))
        return;
    toec_pace_get(s, t)->max = max;
    if (t->state < TOEC_ESTABLISHED)
        return;
    if (t->cc_ops->flags & TOEC_CC_PACED)
        toec_pace_set(t, t->pace->rate);
    toec_pace_update(s, t);
}

/* Returns the largest volume by which a late burst may grow. */
static toec_u32 most_late(const struct toec_pace *p)
{
    return TOEC_MAX(p->quantum, BURST_MAX);
}

/* Returns the volume of a burst that is on time. The initial window needs no pacing (RFC 6928), and
 * the first rate may be that of an RTT of the handshake: as in Linux, it is sent at once. A limit
 * of the application's applies from the first byte. */
static toec_u32 burst_of(const struct toec_tcb *t)
{
    const struct toec_pace *p = t->pace;

    if (t->snd_max == t->iss + 1 && !t->tx_wraps && !p->max)
        return TOEC_MAX(p->quantum, t->cwnd - t->cwnd % t->mss);
    return p->quantum;
}

/* Starts a burst. */
static void begin(const struct toec_tcb *t, toec_time now)
{
    struct toec_pace *p = t->pace;
    toec_u32 extra = 0;
    toec_time late;

    p->began = now;
    if (!p->waiting) {
        p->next = now;
    } else {
        late = now - p->next;
        extra = most_late(p);
        if (late < time_of(p->rate, extra)) /* below 64 bits: rate * late is below extra * 2^30 */
            extra = (toec_u32)(p->rate * late >> 30);
        else
            p->next = now - time_of(p->rate, extra);
    }
    p->waiting = 0;
    /* whole segments only; the rest is carried over */
    p->left = burst_of(t) + (extra - extra % t->mss);
}

int toec_pace_ready(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_pace *p = t->pace;

    if (!p || p->rate == 0)
        return 1;
    if (now >= p->next && now != p->began)
        begin(t, now);
    if (p->left)
        return 1;
    p->waiting = 1;
    toec_wheel_set(&s->tcp->pace_wheel, &p->timer, TOEC_TMR_PACE, p->next << TOEC_PACE_SHIFT);
    return 0;
}

toec_u32 toec_pace_most(const struct toec_tcb *t, toec_u32 max)
{
    toec_u32 left = t->pace->left - t->pace->left % t->mss;

    if (max <= left)
        return max;
    return left ? left : t->mss;
}

void toec_pace_sent(struct toec_tcb *t, toec_u32 n, toec_time now)
{
    struct toec_pace *p = t->pace;

    if (p->next < now && now != p->began)
        p->next = now; /* a retransmission sent without toec_pace_ready() */
    p->next += time_of(p->rate, n);
    p->left = p->left > n ? p->left - n : 0;
}
