/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_cubic.c - CUBIC congestion control (RFC 9438) in integers.
 *
 * Times are stamps of 2^10 ns, windows in bytes. The cubic is computed to 1/1024 segment, growth of
 * cwnd and of W_est to 2^-32 byte. One division per ACK.
 */
#include "cc_cubic.h"

#include "cc_hystart.h"

/* 137 s: longer epochs gain nothing, and t^3 stays below 2^81. */
#define T_MAX ((1u << 27) - 1)

/* C = 0.4 segments / s^3 (R9438-01) in units of (2^10 ns)^3, times 2^92: 0.4 * 2^122 / 10^27. */
#define C_2_92 2126764793u

/* beta = 0.7; Reno's alpha at that beta is 3 (1 - beta) / (1 + beta) = 9/17. */
#define BETA(x)     ((toec_u32)toec_div64((toec_u64)(x)*7u, 10u))
#define CONVERGE(x) ((toec_u32)toec_div64((toec_u64)(x)*17u, 20u)) /* (1 + beta) / 2 */
#define ALPHA_NUM   9u
#define ALPHA_DEN   17u

/* C * d^3 in 1/1024 segment, d <= T_MAX. */
static toec_u32 cubic(toec_u32 d)
{
    toec_u64 cube = ((toec_u64)d * d >> 18) * d; /* d^3 / 2^18, below 2^63 */

    return (toec_u32)(((cube >> 32) * C_2_92) >> 32);
}

/* Computes K = cbrt((W_max - cwnd_epoch) / C), RFC 9438 (2), rounded down: the largest K for which
 * C * K^3 is not above. The curve then begins exactly at cwnd_epoch. */
static toec_u32 cubic_k(toec_u32 behind, toec_u32 mss)
{
    toec_u64 segs = toec_div64((toec_u64)behind << 10, mss);
    toec_u32 k = 0, bit;

    for (bit = 1u << 26; bit != 0; bit >>= 1) {
        if (cubic(k | bit) <= segs)
            k |= bit;
    }
    return k;
}

static void cubic_init(struct toec_tcb *t, toec_time now)
{
    t->cc.u.cubic.seen_at = toec_stamp(now);
    toec_hystart_begin(t, &t->cc.u.cubic.now.hs);
}

static void cubic_begin(struct toec_tcb *t, toec_u32 stamp)
{
    struct toec_cc_cubic *c = &t->cc.u.cubic;

    c->now.e.epoch = stamp;
    c->epoch_set = 1;
    c->credit = 0;
    c->now.e.w_est = t->cwnd;
    c->est_credit = 0;
    /* After a timeout (R9438-06) or a slow start that ended without loss (RFC 9438 4.10), W_max is
     * the window at the start of congestion avoidance and K is 0. */
    if (c->after_rto || c->w_max <= t->cwnd) {
        if (c->w_max == 0)
            c->cwnd_prior = t->cwnd;
        c->w_max = t->cwnd;
        c->now.e.k = 0;
    } else {
        c->now.e.k = cubic_k(c->w_max - t->cwnd, t->mss);
    }
    c->after_rto = 0;
}

/* Returns W_cubic at time `at` of the epoch, RFC 9438 (1), in bytes. */
static toec_u32 cubic_window(const struct toec_tcb *t, toec_u32 at)
{
    const struct toec_cc_cubic *c = &t->cc.u.cubic;
    toec_u32 k = c->now.e.k, d = at > k ? at - k : k - at;
    toec_u64 bytes = (toec_u64)cubic(d > T_MAX ? T_MAX : d) * t->mss >> 10;

    if (at < k)
        return bytes < c->w_max ? c->w_max - (toec_u32)bytes : 0;
    bytes += c->w_max;
    return bytes < TOEC_CWND_MAX ? (toec_u32)bytes : TOEC_CWND_MAX;
}

/* Returns the part of `room` to add when `share`/2^32 of a window is acknowledged; *credit holds
 * the remainder in 2^-32 bytes. */
static toec_u32 take_share(toec_u32 room, toec_u64 share, toec_u32 *credit)
{
    toec_u64 hi = (toec_u64)room * (toec_u32)(share >> 32);
    toec_u64 lo = (toec_u64)room * (toec_u32)share + *credit;

    *credit = (toec_u32)lo;
    return (toec_u32)(hi + (lo >> 32));
}

/* Updates W_est, RFC 9438 (4), 4.3: alpha segments per acknowledged window; alpha is 1, as in Reno,
 * once W_est has reached the window before the reduction. */
static void cubic_reno(struct toec_tcb *t, toec_u64 share)
{
    struct toec_cc_cubic *c = &t->cc.u.cubic;

    if (c->now.e.w_est < c->cwnd_prior)
        share = toec_div64(share * ALPHA_NUM, ALPHA_DEN);
    c->now.e.w_est += take_share(t->mss, share, &c->est_credit);
    if (c->now.e.w_est > TOEC_CWND_MAX)
        c->now.e.w_est = TOEC_CWND_MAX;
}

static void cubic_grow(struct toec_tcb *t, toec_u32 acked, toec_u32 stamp)
{
    struct toec_cc_cubic *c = &t->cc.u.cubic;
    toec_u32 at = stamp - c->now.e.epoch, target;
    toec_u64 share;

    if (at > T_MAX) { /* the epoch's clock stops at T_MAX */
        c->now.e.epoch = stamp - T_MAX;
        at = T_MAX;
    }
    /* the acknowledged share of the window, times 2^32 */
    share = acked < t->cwnd ? toec_div64((toec_u64)acked << 32, t->cwnd) : (toec_u64)1 << 32;
    cubic_reno(t, share);
    if (cubic_window(t, at) < c->now.e.w_est) { /* R9438-02: the Reno-friendly region */
        if (t->cwnd < c->now.e.w_est)
            t->cwnd = c->now.e.w_est;
        return;
    }
    /* R9438-03: the target is the curve's value one round trip ahead, within [cwnd, 1.5 cwnd] */
    target = cubic_window(t, at + (t->srtt >> 3));
    if (target <= t->cwnd)
        return;
    if (target > t->cwnd + t->cwnd / 2)
        target = t->cwnd + t->cwnd / 2;
    /* RFC 9438 4.4, 4.5: (target - cwnd) / cwnd for each byte acknowledged */
    t->cwnd += take_share(target - t->cwnd, share, &c->credit);
}

static void cubic_acked(struct toec_tcb *t, const struct toec_cc_ack *a)
{
    struct toec_cc_cubic *c = &t->cc.u.cubic;
    toec_u32 stamp = toec_stamp(a->now), since = stamp - c->seen_at, acked;

    c->seen_at = stamp;
    if (a->grow == 0) {
        /* R9438-09: time in which the window was not used does not count (RFC 9438 4.2) */
        if (c->epoch_set)
            c->now.e.epoch += since;
        return;
    }
    acked = toec_cc_slow_start(t, &c->now.hs, a);
    toec_hystart_train(t, &c->now.hs, stamp, since);
    if (acked == 0)
        return;
    if (!c->epoch_set)
        cubic_begin(t, stamp);
    cubic_grow(t, acked, stamp);
}

static void cubic_congested(struct toec_tcb *t, enum toec_cc_event why, toec_u32 flight,
                            toec_time now)
{
    struct toec_cc_cubic *c = &t->cc.u.cubic;
    toec_u32 floor = 2u * t->mss, cut = BETA(flight);

    (void)now;
    c->cwnd_prior = t->cwnd;
    /* R9438-05: fast convergence */
    c->w_max = t->cwnd < c->w_max ? CONVERGE(t->cwnd) : t->cwnd;
    c->epoch_set = 0;
    c->after_rto = why == TOEC_CC_RTO;
    t->cc.ssthresh = cut > floor ? cut : floor; /* R9438-04 */
}

/* R9438-07: RFC 9438 4.9.2. */
static void cubic_save(struct toec_tcb *t)
{
    const struct toec_cc_cubic *c = &t->cc.u.cubic;
    struct toec_episode *kept = t->rack.episode;
    struct toec_cubic_kept *was = &kept->cubic;

    was->w_max = c->w_max;
    was->cwnd_prior = c->cwnd_prior;
    kept->epoch_set = c->epoch_set;
    if (c->epoch_set)
        was->e = c->now.e;
}

static void cubic_undo(struct toec_tcb *t, toec_time now)
{
    const struct toec_episode *kept = t->rack.episode;
    const struct toec_cubic_kept *was = &kept->cubic;
    struct toec_cc_cubic *c = &t->cc.u.cubic;

    (void)now;
    c->w_max = was->w_max;
    c->cwnd_prior = was->cwnd_prior;
    c->epoch_set = kept->epoch_set;
    if (c->epoch_set)
        c->now.e = was->e;
    c->after_rto = 0;
}

/* R9438-09: the clock of an epoch does not run while the sender idles. */
static void cubic_restart(struct toec_tcb *t, toec_u32 idle, toec_time now)
{
    struct toec_cc_cubic *c = &t->cc.u.cubic;

    (void)idle;
    if (c->epoch_set)
        c->now.e.epoch += toec_stamp(now) - c->seen_at;
    c->seen_at = toec_stamp(now);
}

const struct toec_cc_ops toec_cc_cubic = {"cubic",         0,          cubic_init, cubic_acked,
                                          cubic_congested, cubic_save, cubic_undo, 0,
                                          cubic_restart,   0};
