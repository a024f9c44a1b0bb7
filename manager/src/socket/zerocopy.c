/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zerocopy.c - sending from the application's memory (SEEDS S4.4): MSG_ZEROCOPY as on Linux
 * (Documentation/networking/msg_zerocopy.rst), and toe_send_ref().
 *
 * Only a TOE in our own thread can read the application's memory. For any other TOE the bytes are
 * copied, and the completion reports it, as on Linux over a device that cannot gather.
 */
#include <time.h> /* before errqueue.h, which needs it */

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "ancillary.h"
#include "ctx.h"
#include "inline.h"
#include "io.h"
#include "lent_buffers.h"
#include "lock.h"
#include "ready.h"
#include "send.h"
#include "tsock.h"
#include "tzc.h"
#include "zerocopy.h"

#define SENDS_FIRST 16u
#define SENDS_MAX   1024u            /* calls with tokens; a power of two */
#define FLYING_MAX  (2u * SENDS_MAX) /* ... and the shared entries of MSG_ZEROCOPY */

/* ---- queues ---- */

static struct tzc_send *entry(const struct tzc_queue *q, uint32_t i)
{
    return &q->ring[(q->head + i) & (q->size - 1)];
}

/* Makes space for n entries, `most` at most. */
static bool make_room(struct tzc_queue *q, uint32_t n, uint32_t most)
{
    uint32_t size = q->size ? q->size : SENDS_FIRST;
    struct tzc_send *ring;

    if (n > most)
        return false;
    if (n <= q->size)
        return true;
    while (size < n)
        size *= 2;
    ring = malloc(size * sizeof(*ring));
    if (!ring)
        return false;
    for (uint32_t i = 0; i < q->count; i++)
        ring[i] = *entry(q, i);
    free(q->ring);
    *q = (struct tzc_queue){.count = q->count, .size = size, .ring = ring};
    return true;
}

void tzc_free(struct tzc *zc)
{
    free(zc->flying.ring);
    free(zc->done.ring);
    free(zc);
}

/* ---- completion ---- */

/* Linux merges consecutive ranges, whatever their codes (skb_zerocopy_notify_extend()). */
static void report_numbers(struct tzc *zc, const struct tzc_send *e)
{
    if (zc->notify_pending) {
        zc->notify.hi = e->hi;
        return;
    }
    zc->notify = *e;
    zc->notify_pending = true;
}

static void complete(struct tzc *zc)
{
    const struct tzc_send *e = entry(&zc->flying, 0);

    if (e->numbered)
        report_numbers(zc, e);
    else
        *entry(&zc->done, zc->done.count++) = *e; /* tzc_may() has made space */
    zc->flying.head++;
    zc->flying.count--;
}

void tzc_acked(struct tsock *s)
{
    struct tzc *zc = s->zc;
    uint32_t una = s->tx_pos - (s->tx_mask + 1 - s->tx_free), before = zc->flying.count;

    while (zc->flying.count && (int32_t)(una - entry(&zc->flying, 0)->end) >= 0)
        complete(zc);
    if (zc->flying.count != before)
        tobj_notify(&s->obj, EPOLLERR);
}

void tzc_gone(struct tsock *s)
{
    while (s->zc && s->zc->flying.count)
        complete(s->zc);
}

void tzc_settle(struct tsock *s)
{
    if (s->zc && s->zc->flying.count)
        tinline_settle(s->qp, s->slot);
}

/* ---- sending ---- */

int tzc_may(struct tsock *s, bool numbered)
{
    struct tzc *zc = tzc_get(s);
    uint32_t calls;

    if (!zc)
        return -1;
    /* includes calls of other threads that wait for space in the send buffer */
    calls = zc->flying.count + zc->begun + 1;
    if (!make_room(&zc->flying, calls, FLYING_MAX) ||
        (!numbered && !make_room(&zc->done, calls + zc->done.count, SENDS_MAX)))
        return terr(ENOBUFS);
    zc->begun++;
    return 0;
}

/* Joins a numbered call to the last entry when there are many. */
static bool joins(struct tzc *zc, bool numbered, uint32_t end, bool copied)
{
    struct tzc_send *last;

    if (likely(!numbered || zc->flying.count < SENDS_MAX))
        return false;
    last = entry(&zc->flying, zc->flying.count - 1);
    if (!last->numbered)
        return false;
    last->hi = zc->next_number++;
    last->end = end;
    last->copied |= copied;
    return true;
}

void tzc_sent(struct tsock *s, bool any, bool numbered, uint64_t token, bool copied)
{
    struct tzc *zc;

    s = tflow_of(s); /* it may have become shared in the meantime */
    zc = s->zc;
    if (unlikely(!zc))
        return; /* and the flow has ended */
    zc->begun--;
    if (!any || joins(zc, numbered, s->tx_pos, copied))
        return;
    *entry(&zc->flying, zc->flying.count++) = (struct tzc_send){.token = token,
                                                                .lo = zc->next_number,
                                                                .hi = zc->next_number,
                                                                .end = s->tx_pos,
                                                                .numbered = numbered,
                                                                .copied = copied};
    zc->next_number += numbered;
    if (unlikely(s->state == TS_DEAD)) {
        tzc_gone(s);
        tobj_notify(&s->obj, EPOLLERR);
    } else {
        tzc_acked(s); /* the call may have waited for space, so all may be acknowledged already */
    }
}

bool tzc_put(struct tsock *s, uint32_t n, struct tio_cursor *c)
{
    uint32_t pos = s->tx_pos;
    bool copied = false;

    while (n) {
        uint32_t k;
        const uint8_t *from;

        while (c->done == c->v->iov_len) {
            c->v++;
            c->done = 0;
        }
        from = (const uint8_t *)c->v->iov_base + c->done;
        k = c->v->iov_len - c->done < n ? (uint32_t)(c->v->iov_len - c->done) : n;
        /* also for the parts of a large piece for which there was space one by one: they join */
        if (c->v->iov_len >= tctx.cfg.zerocopy_min && s->state == TS_OPEN &&
            tinline_refer(s->qp, s->slot, pos, from, k)) {
            c->done += k;
        } else {
            (void)tsend_copy(s, pos, k, c); /* put() has touched all of it */
            copied = true;
        }
        pos += k;
        n -= k;
    }
    return copied;
}

ssize_t toe_send_ref(int fd, const struct iovec *iov, int count, int flags, uint64_t token)
{
    if (flags & ~(MSG_DONTWAIT | MSG_MORE | MSG_NOSIGNAL))
        return terr(EINVAL);
    if (count < 0 || (count && !iov))
        return terr(count < 0 ? EINVAL : EFAULT);
    return tsend_ref(fd, iov, (size_t)count, flags, token);
}

/* ---- notifications ---- */

int toe_send_completions(int fd, struct toe_completion *out, int max)
{
    struct tsock *s;
    int n = -1;

    if (max < 0 || (max && !out))
        return terr(max < 0 ? EINVAL : EFAULT);
    tctx_lock();
    s = tflow_of(tsock_of_toe(fd));
    if (s) {
        struct tzc_queue *q = s->zc ? &s->zc->done : NULL;

        tctx_progress();
        for (n = 0; s->zc && n < max && q->count; n++, q->head++, q->count--)
            out[n] = (struct toe_completion){.token = entry(q, 0)->token,
                                             .flags = entry(q, 0)->copied ? TOE_COPIED : 0};
    }
    tctx_unlock();
    return n;
}

/* As ip_recv_error() and ipv6_recv_error(): the report, with an empty address as the offender. */
ssize_t tzc_errqueue(struct tsock *s, struct msghdr *msg)
{
    struct {
        struct sock_extended_err e;
        struct sockaddr_in6 offender;
    } err = {.e = {.ee_origin = SO_EE_ORIGIN_ZEROCOPY}};
    size_t used = 0;

    tctx_progress();
    if (!s->zc || !s->zc->notify_pending)
        return terr(EAGAIN);
    s->zc->notify_pending = false;
    if (!msg)
        return 0;
    err.e.ee_code = s->zc->notify.copied ? SO_EE_CODE_ZEROCOPY_COPIED : 0;
    err.e.ee_info = s->zc->notify.lo;
    err.e.ee_data = s->zc->notify.hi;
    msg->msg_flags = MSG_ERRQUEUE;
    msg->msg_namelen = 0;
    if (s->v6)
        tancillary_append(msg, &used, SOL_IPV6, IPV6_RECVERR, &err, sizeof(err));
    else
        tancillary_append(msg, &used, SOL_IP, IP_RECVERR, &err,
                          sizeof(err.e) + sizeof(struct sockaddr_in));
    msg->msg_controllen = used;
    return 0;
}
