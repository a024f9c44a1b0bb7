/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect.c - prefetches the data of sockets that will soon be used (SEEDS S4.5): those with events
 * in a batch of frames, and those that the program announces (toe_prefetch()). With many
 * connections, none of that data is in the cache. Each step yields the addresses for the next one,
 * so each step is done for all sockets, and their cache misses overlap.
 *
 * Prefetching changes nothing, and a wrong guess costs a cache line.
 */
#include "ctx.h"
#include "dispatch.h"
#include "epoll.h"
#include "fdtab.h"
#include "inline.h"
#include "lock.h"
#include "qp.h"
#include "tsock.h"

#define LINE 64u

/* gcc takes a function that only prefetches for pure, and omits calls of it. */
#define FETCHES static inline __attribute__((always_inline))

FETCHES void fetch_sock(const struct tsock *s)
{
    const uint8_t *at = (const uint8_t *)s;

    __builtin_prefetch(at, 1);
    __builtin_prefetch(at + LINE, 1);
}

/* Prefetches the memory for the socket's next bytes to send. */
FETCHES void fetch_room(const struct tsock *s)
{
    __builtin_prefetch(s->tx + (s->tx_pos & s->tx_mask), 1);
}

/* Finds the sockets of the slots. Returns how many have one. */
static unsigned find_socks(const struct tqp *qp, const uint32_t *slots, unsigned n,
                           struct tsock **out)
{
    unsigned i, known = 0;

    for (i = 0; i < n; i++)
        if (slots[i] < qp->cfg.slots)
            __builtin_prefetch(&qp->slots[slots[i]]);
    for (i = 0; i < n; i++) {
        struct tsock *s = slots[i] < qp->cfg.slots ? qp->slots[slots[i]] : NULL;

        if (s && s != TSLOT_CLOSING) {
            out[known++] = s;
            fetch_sock(s);
        }
    }
    return known;
}

FETCHES void fetch_number(int fd)
{
    if ((unsigned)fd < TFD_MAX)
        __builtin_prefetch(&tfd_table[fd]);
    else if (tfd_is_own(fd))
        __builtin_prefetch(&tfd_own_table[(unsigned)fd - TFD_OWN]);
}

/* Prefetches the program's record of a connection, which its epoll data usually points to. If it
 * does not, this has no effect. */
FETCHES void fetch_user(const struct tepitem *i)
{
    const uint8_t *record = (const uint8_t *)(uintptr_t)i->data;

    fetch_number(i->fd);
    __builtin_prefetch(record, 1);
    __builtin_prefetch(record + LINE, 1);
}

void texpect_events(void *arg, const uint32_t *slots, unsigned n, int data)
{
    struct tsock *socks[TOEDEV_EXPECT_MAX];
    unsigned i, known;

    known = find_socks(arg, slots, n < TOEDEV_EXPECT_MAX ? n : TOEDEV_EXPECT_MAX, socks);
    for (i = 0; data && i < known; i++) {
        if (socks[i]->obj.items)
            __builtin_prefetch(socks[i]->obj.items, 1);
        if (socks[i]->tx)
            fetch_room(socks[i]);
    }
    for (i = 0; data && i < known; i++)
        if (socks[i]->obj.items)
            fetch_user(socks[i]->obj.items);
}

/* Prefetches for one batch. */
static void expect_use(const int *fds, unsigned n)
{
    struct tsock *socks[TOEDEV_EXPECT_MAX];
    uint32_t slots[TOEDEV_EXPECT_MAX];
    unsigned i, known = 0, direct = 0;

    for (i = 0; i < n; i++)
        fetch_number(fds[i]);
    for (i = 0; i < n; i++) {
        struct tobj *o = tobj_get(fds[i]);

        if (o) {
            socks[known++] = (struct tsock *)o;
            fetch_sock((struct tsock *)o);
        }
    }
    for (i = 0; i < known; i++) {
        const struct tsock *s = socks[i];

        if (s->obj.kind != TOBJ_SOCK || s->state != TS_OPEN || !s->qp)
            continue;
        fetch_room(s);
        if (s->qp->direct)
            slots[direct++] = s->slot;
    }
    if (direct)
        tinline_expect(tctx.qps[0], slots, direct);
}

void toe_prefetch(const int *fds, unsigned n)
{
    unsigned at, part;

    tctx_lock();
    for (at = 0; at < n; at += part) {
        part = n - at < TOEDEV_EXPECT_MAX ? n - at : TOEDEV_EXPECT_MAX;
        expect_use(fds + at, part);
    }
    tctx_unlock();
}
