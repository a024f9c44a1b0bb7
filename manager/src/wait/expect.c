/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect.c - into the cache what is soon used of sockets (SEEDS S4.5): of those that a batch of
 * frames brings something for, and of those that the program says it will use (toe_prefetch()).
 * With many connections nothing of them is there. Each step is made for all, because each says
 * where the next one's memory lies, and so their waits lie beside each other.
 *
 * Nothing is changed, and a wrong guess costs a cache line.
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

/* To gcc a function that does nothing but this is pure, and calls of it are left out. */
#define FETCHES static inline __attribute__((always_inline))

FETCHES void fetch_sock(const struct tsock *s)
{
    const uint8_t *at = (const uint8_t *)s;

    __builtin_prefetch(at, 1);
    __builtin_prefetch(at + LINE, 1);
}

/* Where the socket's next bytes to send go. */
FETCHES void fetch_room(const struct tsock *s)
{
    __builtin_prefetch(s->tx + (s->tx_pos & s->tx_mask), 1);
}

/* Those of the slots that have a socket: how many. */
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

/* What the program will come with, and look at first. What it registers with a connection most
 * often points to its record of it; where it does not, this does nothing. */
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

/* Of one batch. */
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
