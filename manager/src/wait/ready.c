/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ready.c - readiness of sockets, and its notification (SEEDS S1.14; tcp_poll() of Linux).
 */
#include "ready.h"
#include "epoll.h"
#include "fdtab.h"
#include "notsent.h"
#include "tsock.h"
#include "tzc.h"
#include "wait.h"

static bool readable(const struct tsock *s)
{
    uint32_t want = s->lowat > 1 ? (uint32_t)s->lowat : 1;
    uint32_t half = (s->rx_mask + 1) >> 1; /* a peer with a closed window could not send more */

    return s->rx_avail - (unlikely(s->oob) ? tsock_urgent_skip(s) : 0) >=
           (want < half ? want : half);
}

static uint32_t open_events(const struct tsock *s)
{
    uint32_t e = 0;

    if (s->rx_avail && readable(s))
        e |= EPOLLIN | EPOLLRDNORM;
    if (unlikely(s->eof || (s->shut & TSHUT_RD)))
        e |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
    if (tnotsent_writable(s) || (s->shut & TSHUT_WR))
        e |= EPOLLOUT | EPOLLWRNORM;
    if (unlikely((s->eof || (s->shut & TSHUT_RD)) && (s->shut & TSHUT_WR)))
        e |= EPOLLHUP;
    if (unlikely(s->error || tzc_waits(s)))
        e |= EPOLLERR;
    if (unlikely(s->oob == TOOB_VALID))
        e |= EPOLLPRI;
    return e;
}

uint32_t tsock_events(const struct tsock *s)
{
    switch ((enum tsock_state)s->state) {
    case TS_OPEN:
        return open_events(s);
    case TS_LISTEN:
        return (s->accept_head ? EPOLLIN | EPOLLRDNORM : 0u) | (s->error ? EPOLLERR : 0u);
    case TS_DEAD:
        if (s->unconnected) /* as the kernel reports a socket that was never connected */
            return EPOLLOUT | EPOLLWRNORM | EPOLLHUP | (s->error ? EPOLLERR : 0u) |
                   (s->shut & TSHUT_RD ? EPOLLIN | EPOLLRDNORM | EPOLLRDHUP : 0u);
        /* fall through */
    case TS_FOREIGN:
        return EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM | EPOLLHUP | EPOLLRDHUP |
               (s->oob == TOOB_VALID ? EPOLLPRI : 0u) | (s->error || tzc_waits(s) ? EPOLLERR : 0u);
    case TS_CONNECTING: /* Fast Open: written data is sent with the SYN */
        return s->fast && !s->fast_sent ? EPOLLOUT | EPOLLWRNORM : 0u;
    case TS_NEW:
    case TS_SHARED:
        break;
    }
    return 0;
}

uint32_t tobj_events(struct tobj *o)
{
    if (likely(o->kind == TOBJ_SOCK))
        return tsock_events((struct tsock *)o);
    if (o->kind == TOBJ_EPOLL && tepoll_ready((struct tepoll *)o))
        return EPOLLIN | EPOLLRDNORM;
    return 0;
}

bool tobj_kernel_too(const struct tobj *o)
{
    const struct tsock *s = (const struct tsock *)o;

    if (o->kind == TOBJ_EPOLL)
        return true;
    return tsock_kernels(s) || (s->state == TS_LISTEN && s->dual);
}

void tobj_notify(struct tobj *o, uint32_t events)
{
    if (likely(o->items))
        tepoll_mark(o, events);
    for (struct twnode *n = o->waiters; unlikely(n); n = n->next) {
        struct twaiter *w = n->waiter;
        uint64_t one = 1;

        if (w->kicked)
            continue;
        w->kicked = true;
        if (w->asleep)
            (void)!sys_write(w->kick_fd, &one, sizeof(one));
    }
}
