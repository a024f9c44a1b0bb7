/* SPDX-License-Identifier: Apache-2.0 */
/* app.c - the programs of a flow (app.h). A sender sends without end, a number of bytes, at a rate
 * or in bursts; a receiver reads at once, at a rate, or stalls. */
#include "app.h"
#include "event.h"

#define TICK MSEC /* interval of senders and readers with a rate */

static uint64_t min64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- sending ---- */

static void send_bytes(struct flow *f, uint64_t want)
{
    uint64_t room = f->tx_buf - (f->written - f->acked);

    want = min64(want, room);
    if (f->bytes)
        want = min64(want, f->bytes - f->written);
    if (want && f->a.tcb && toec_send(f->a.stack, f->a.tcb, (uint32_t)want, 1, f->net->now) == 0)
        f->written += want;
    if (f->bytes && f->written == f->bytes && !f->shut && f->a.tcb) {
        f->shut = 1;
        toec_shutdown(f->a.stack, f->a.tcb, f->net->now);
    }
}

static int limited(const struct flow *f)
{
    return f->app_rate > 0 || f->every;
}

/* Sends at a tick of the rate or at a burst, or ends the stream. */
int app_write(struct flow *f)
{
    struct net *n = f->net;

    if (!f->a.tcb || f->shut)
        return 0;
    if (f->stop && n->now >= f->stop) {
        f->shut = 1;
        toec_shutdown(f->a.stack, f->a.tcb, n->now);
    } else if (f->every) {
        send_bytes(f, f->burst);
        event_push(n, n->now + f->every, EV_APP, f);
    } else if (f->app_rate > 0) {
        f->credit += f->app_rate / 8e9 * TICK;
        send_bytes(f, (uint64_t)f->credit);
        f->credit -= (double)(uint64_t)f->credit;
        event_push(n, n->now + TICK, EV_APP, f);
    } else {
        send_bytes(f, UINT64_MAX);
    }
    return 1;
}

/* ---- reading ---- */

static int stalled(const struct flow *f)
{
    return f->stall_for && f->net->now >= f->stall_at && f->net->now < f->stall_at + f->stall_for;
}

static void read_bytes(struct flow *f, uint64_t n)
{
    n = min64(n, f->unread);
    if (n && f->b.tcb && toec_recv(f->b.stack, f->b.tcb, (uint32_t)n, f->net->now) == 0)
        f->unread -= n;
}

/* Reads at a tick of the reader's rate, or at the end of its stall. */
void app_read(struct flow *f)
{
    struct net *n = f->net;

    if (f->read_rate > 0) {
        f->read_credit += f->read_rate / 8e9 * TICK;
        if (f->read_credit > f->rx_buf)
            f->read_credit = f->rx_buf;
        if (!stalled(f)) {
            uint64_t can = min64((uint64_t)f->read_credit, f->unread);

            read_bytes(f, can);
            f->read_credit -= (double)can;
        }
        if (f->b.tcb)
            event_push(n, n->now + TICK, EV_READ, f);
    } else {
        read_bytes(f, f->unread);
    }
}

static void arrived(struct flow *f, uint32_t len)
{
    toec_time now = f->net->now;

    if (f->received && now - f->last_data > f->gap) {
        f->gap = now - f->last_data;
        f->gap_at = f->last_data;
    }
    f->last_data = now;
    f->received += len;
    f->unread += len;
    f->to_read = f->read_rate <= 0 && !stalled(f);
}

/* Deferred work: the port functions may not call back into core/. */
int app_work(struct flow *f)
{
    int did = f->to_read | f->to_write;

    if (f->to_read)
        read_bytes(f, f->unread);
    if (f->to_write)
        send_bytes(f, UINT64_MAX);
    f->to_read = f->to_write = 0;
    return did;
}

/* ---- events of the stacks ---- */

static void established(struct host *h)
{
    struct flow *f = h->flow;
    struct toec_info info;

    if (!h->sender) {
        if (f->read_rate > 0)
            event_push(f->net, f->net->now + TICK, EV_READ, f);
        if (f->stall_for)
            event_push(f->net, f->stall_at + f->stall_for, EV_READ, f);
        return;
    }
    f->established = f->net->now;
    toec_flow_info(h->stack, h->tcb, &info);
    f->seg = info.mss_send;
    event_push(f->net, f->net->now, EV_APP, f);
    if (f->stop)
        event_push(f->net, f->stop, EV_APP, f);
}

static void gone(struct host *h, uint32_t why)
{
    struct flow *f = h->flow;

    if (!h->sender)
        return;
    f->gone = 1;
    f->gone_reason = why;
}

void app_event(struct host *h, enum toec_event ev, uint32_t arg)
{
    struct flow *f = h->flow;

    switch (ev) {
    case TOEC_EV_ESTABLISHED:
        established(h);
        break;
    case TOEC_EV_DATA:
        arrived(f, arg);
        break;
    case TOEC_EV_ACKED:
        f->acked += arg;
        if (f->bytes && f->acked == f->bytes)
            f->finished = f->net->now;
        f->to_write = !limited(f) && !f->shut;
        break;
    case TOEC_EV_PEER_CLOSED:
        if (!h->sender)
            event_push(f->net, f->net->now, EV_READ, f);
        break;
    case TOEC_EV_GONE:
        gone(h, arg);
        break;
    default:
        break;
    }
}
