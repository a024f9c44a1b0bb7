/* SPDX-License-Identifier: Apache-2.0 */
/* cubic_model.c - core's CUBIC (core/src/cc/cc_cubic.c), its state in an array, for test_cubic.py.
 */
#include "cc/cc_cubic.h"
#include "tcp/tcp.h"

/* The order of fpc_cubic_pkg's cubic_t. */
enum { EPOCH_SET, AFTER_RTO, CWND, W_MAX, CWND_PRIOR, EPOCH, K, W_EST, CREDIT, EST_CREDIT, WORDS };

static void get(struct toec_tcb *t, const toec_u32 *w)
{
    struct toec_cc_cubic *c = &t->cc.u.cubic;

    c->epoch_set = (toec_u8)w[EPOCH_SET];
    c->after_rto = (toec_u8)w[AFTER_RTO];
    t->cwnd = w[CWND];
    c->w_max = w[W_MAX];
    c->cwnd_prior = w[CWND_PRIOR];
    c->now.e.epoch = w[EPOCH];
    c->now.e.k = w[K];
    c->now.e.w_est = w[W_EST];
    c->credit = w[CREDIT];
    c->est_credit = w[EST_CREDIT];
}

static void put(const struct toec_tcb *t, toec_u32 *w)
{
    const struct toec_cc_cubic *c = &t->cc.u.cubic;

    w[EPOCH_SET] = c->epoch_set;
    w[AFTER_RTO] = c->after_rto;
    w[CWND] = t->cwnd;
    w[W_MAX] = c->w_max;
    w[CWND_PRIOR] = c->cwnd_prior;
    w[EPOCH] = c->now.e.epoch;
    w[K] = c->now.e.k;
    w[W_EST] = c->now.e.w_est;
    w[CREDIT] = c->credit;
    w[EST_CREDIT] = c->est_credit;
}

/* In congestion avoidance: `acked` bytes at `stamp`. */
void cubic_model_acked(toec_u32 *w, toec_u32 acked, toec_u32 stamp, toec_u32 srtt, toec_u32 mss)
{
    static struct toec_tcb t;
    struct toec_cc_ack a;

    memset(&t, 0, sizeof(t));
    memset(&a, 0, sizeof(a));
    get(&t, w);
    t.mss = (toec_u16)mss;
    t.srtt = srtt;
    t.cc.hs_phase = TOEC_HS_OVER;
    a.grow = acked;
    a.acked = acked;
    a.now = (toec_time)stamp << 10;
    toec_cc_cubic.acked(&t, &a);
    put(&t, w);
}

/* Loss, or a timeout, with `flight` bytes under way: W_max, and ssthresh, which is returned. */
toec_u32 cubic_model_congested(toec_u32 *w, toec_u32 flight, int timeout, toec_u32 mss)
{
    static struct toec_tcb t;

    memset(&t, 0, sizeof(t));
    get(&t, w);
    t.mss = (toec_u16)mss;
    toec_cc_cubic.congested(&t, timeout ? TOEC_CC_RTO : TOEC_CC_LOSS, flight, 0);
    put(&t, w);
    return t.cc.ssthresh;
}
