/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect.c - prefetching. A batch will access its frames, flows, slots and buffers, and the host's
 * data for them; with many flows none of that is cached. It is prefetched in steps, each for all
 * frames, since the address for each step is read from the data of the step before. A wrong guess
 * costs one cache line.
 */
#include "expect.h"
#include "qp.h"

/* Prefetches the flows' slots, and the buffer addresses of their next bytes. */
static void fetch_slots(const struct toec_expected *x, unsigned n)
{
    unsigned i;

    for (i = 0; i < n; i++)
        if (x[i].owner)
            slot_fetch(x[i].owner);
    for (i = 0; i < n; i++) {
        const struct slot *s = x[i].owner;

        if (s && x[i].len)
            __builtin_prefetch(slot_rx(s) + (x[i].off & (s->qp->cfg.rx_size - 1)), 1);
    }
}

/* The same when all slots belong to one queue pair: the addresses are computed without reading the
 * slots, so nothing waits for them. Then calls the host's expect function. */
static void fetch_direct(const struct qp *qp, const struct toec_expected *x, unsigned n)
{
    uint32_t slots[TOEC_EXPECT_MAX];
    unsigned i, data = 0, others = TOEC_EXPECT_MAX;

    for (i = 0; i < n; i++) {
        const struct slot *s = x[i].owner;
        uint64_t rx;

        if (!s)
            continue;
        slot_fetch(s);
        if (!x[i].len) {
            slots[--others] = (uint32_t)(s - qp->slots);
            continue;
        }
        slots[data] = (uint32_t)(s - qp->slots);
        rx = toedev_rx_offset(&qp->cfg, &qp->layout, slots[data++]);
        __builtin_prefetch(qp->area + rx + (x[i].off & (qp->cfg.rx_size - 1)), 1);
    }
    if (data)
        qp->expect(qp->notify_arg, slots, data, 1);
    if (others < TOEC_EXPECT_MAX)
        qp->expect(qp->notify_arg, slots + others, TOEC_EXPECT_MAX - others, 0);
}

void expect_send(void *user, void *owner, toec_u32 off)
{
    const struct slot *s = owner;
    const uint8_t *at = slot_tx(s) + (off & (slot_tx_size(s) - 1));

    (void)user;
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64); /* it may begin at the end of a cache line */
}

void expect_frames(struct engine *e, const struct netio_frame *f, unsigned n)
{
    struct toec_expected x[TOEC_EXPECT_MAX];
    struct toec_packet p[TOEC_EXPECT_MAX];
    unsigned i;

    for (i = 0; i < n; i++)
        __builtin_prefetch(f[i].data);
    for (i = 0; i < n; i++) {
        p[i].data = f[i].data;
        p[i].len = p[i].head_len = f[i].len;
    }
    toec_expect(e->stack, p, n, x);
    if (e->qp_count == 1 && e->qps[0]->expect)
        fetch_direct(e->qps[0], x, n);
    else
        fetch_slots(x, n);
}
