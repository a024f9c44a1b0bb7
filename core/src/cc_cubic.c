/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_cubic.c - CUBIC congestion control (RFC 9438) in integers, without 64-bit division.
 *
 * Times are in 1/1024 s, windows in bytes; the cubic itself is computed in segments. C = 0.4 is
 * 410/1024, beta = 0.7 is 717/1024, Reno's alpha at that beta, 9/17, is 542/1024.
 */
#include "bits.h"
#include "tcp.h"

#define CUBIC_C     410u
#define CUBIC_BETA  717u
#define CUBIC_ALPHA 542u

/* 100 s: longer epochs gain nothing, and t^3 stays far from 2^63. */
#define CUBIC_T_MAX (100u << 10)

/* x * num / 1024 without overflow. */
static toec_u32 scale(toec_u32 x, toec_u32 num)
{
    return (toec_u32)(((toec_u64)x * num) >> 10);
}

/* Largest r with r^3 <= x. Bit by bit, as there is no 64-bit division to run Newton with. */
static toec_u32 cube_root(toec_u64 x)
{
    toec_u32 r = 0, bit;

    for (bit = 1u << 20; bit != 0; bit >>= 1) {
        toec_u64 c = r | bit;

        if (c * c * c <= x)
            r |= bit;
    }
    return r;
}

/* Ticks of 2^20 ns to 1/1024 s: a factor of 1.0737. */
static toec_u32 to_1024th(toec_u32 ticks)
{
    return ticks + (toec_u32)(((toec_u64)ticks * 302u) >> 12);
}

static void cubic_init(struct toec_tcb *t, toec_time now)
{
    (void)now;
    t->cc.u.cubic.credit = 0;
    t->cc.u.cubic.w_max = 0;
    t->cc.u.cubic.epoch_set = 0;
}

static void cubic_begin(struct toec_tcb *t, toec_u32 ticks)
{
    toec_u32 behind = t->cc.u.cubic.w_max > t->cwnd ? (t->cc.u.cubic.w_max - t->cwnd) / t->mss : 0;

    t->cc.u.cubic.epoch = ticks;
    t->cc.u.cubic.epoch_set = 1;
    t->cc.u.cubic.credit = 0;
    t->cc.u.cubic.est_credit = 0;
    t->cc.u.cubic.w_est = t->cwnd;
    if (behind == 0)
        t->cc.u.cubic.w_max = t->cwnd;
    /* RFC 9438 (2): K = cbrt((W_max - cwnd_epoch) / C); in 1/1024 s that is times 2^30 inside. */
    t->cc.u.cubic.k = cube_root(((toec_u64)behind << 30) * 5u >> 1);
}

/* RFC 9438 (1): W_cubic(now + RTT), bytes. */
static toec_u32 cubic_window(const struct toec_tcb *t, toec_u32 ticks)
{
    toec_u32 at = to_1024th(ticks - t->cc.u.cubic.epoch) + (t->srtt >> 3 >> 10);
    toec_u32 d, segs;
    toec_u64 bytes;

    if (at > CUBIC_T_MAX)
        at = CUBIC_T_MAX;
    d = at > t->cc.u.cubic.k ? at - t->cc.u.cubic.k : t->cc.u.cubic.k - at;
    if (d > CUBIC_T_MAX)
        d = CUBIC_T_MAX;
    /* C * d^3 / 2^30 segments, kept to 1/16 segment so that short RTTs grow smoothly. */
    segs = (toec_u32)((((toec_u64)d * d * d >> 10) * CUBIC_C) >> 26);
    bytes = ((toec_u64)segs * t->mss) >> 4;
    if (at < t->cc.u.cubic.k)
        return bytes < t->cc.u.cubic.w_max ? t->cc.u.cubic.w_max - (toec_u32)bytes : 0;
    bytes += t->cc.u.cubic.w_max;
    return bytes < TOEC_CWND_MAX ? (toec_u32)bytes : TOEC_CWND_MAX;
}

/* RFC 9438 4.3: the Reno-friendly estimate grows by alpha SMSS per window acknowledged. */
static void cubic_reno(struct toec_tcb *t, toec_u32 acked)
{
    toec_u32 alpha = t->cc.u.cubic.w_est >= t->cc.u.cubic.w_max ? 1024u : CUBIC_ALPHA;

    t->cc.u.cubic.est_credit += scale(acked, alpha);
    if (t->cc.u.cubic.est_credit >= t->cwnd) {
        t->cc.u.cubic.est_credit -= t->cwnd;
        t->cc.u.cubic.w_est += t->mss;
    }
}

static void cubic_acked(struct toec_tcb *t, const struct toec_cc_ack *a)
{
    toec_u32 acked = toec_cc_slow_start(t, a->grow), ticks = toec_ticks(a->now), target, step;
    toec_u64 due;

    if (acked == 0)
        return;
    if (!t->cc.u.cubic.epoch_set)
        cubic_begin(t, ticks);
    cubic_reno(t, acked);
    target = cubic_window(t, ticks);
    if (target < t->cc.u.cubic.w_est)
        target = t->cc.u.cubic.w_est;
    if (target > t->cwnd + (t->cwnd >> 1)) /* RFC 9438 4.2: at most 1.5 cwnd */
        target = t->cwnd + (t->cwnd >> 1);
    if (target <= t->cwnd)
        return;
    /* RFC 9438 4.4: (target - cwnd) / cwnd for each byte acknowledged; the remainder is kept. */
    due = (toec_u64)(target - t->cwnd) * acked + t->cc.u.cubic.credit;
    step = (toec_u32)toec_div64(due, t->cwnd);
    t->cc.u.cubic.credit = (toec_u32)(due - (toec_u64)step * t->cwnd);
    t->cwnd += step;
}

/* RFC 9438 4.6 and 4.7: fast convergence, multiplicative decrease. */
static void cubic_congested(struct toec_tcb *t, enum toec_cc_event why, toec_u32 flight,
                            toec_time now)
{
    toec_u32 floor = 2u * t->mss, cut = scale(flight, CUBIC_BETA);

    (void)why;
    (void)now;
    if (t->cwnd < t->cc.u.cubic.w_max)
        t->cc.u.cubic.w_max = scale(t->cwnd, (1024u + CUBIC_BETA) / 2u);
    else
        t->cc.u.cubic.w_max = t->cwnd;
    t->cc.u.cubic.epoch_set = 0;
    t->cc.ssthresh = cut > floor ? cut : floor;
}

/* RFC 9438 5.8: the clock of an epoch does not run while the sender idles. */
static void cubic_restart(struct toec_tcb *t, toec_u32 idle, toec_time now)
{
    (void)idle;
    (void)now;
    t->cc.u.cubic.epoch_set = 0;
}

const struct toec_cc_ops toec_cc_cubic = {"cubic", 0, cubic_init, cubic_acked,   cubic_congested,
                                          0,       0, 0,          cubic_restart, 0};
