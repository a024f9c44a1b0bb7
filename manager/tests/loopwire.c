/* SPDX-License-Identifier: Apache-2.0 */
/* loopwire.c - the commands of the TOE for tests, and its wire to itself (looptoe.h). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "looptoe.h"
#include "loopwire.h"

#define WAITING 64

struct qp *loop_qps[QPS];
unsigned loop_engines;
unsigned loop_options, loop_ports_left;
static uint16_t next_port = 40000;
static unsigned next_listener;

/* CONNECTs to a port where all are weak: their SYNs are dropped and retransmitted. */
static struct {
    struct qp *qp;
    struct toe_cmd cmd;
} waiting[WAITING];
static unsigned waiting_n;

/* CONNECTs to LOOPTOE_SILENT, which can only be cancelled. */
static struct {
    struct qp *qp;
    uint32_t cookie;
} silent[WAITING];
static unsigned silent_n;

#define SYN_ROOM 1000   /* bytes that it says a SYN carries */
static bool has_cookie; /* of Fast Open: the first CONNECT with FAST has fetched it */

const uint8_t loop_own6[2][16] = {
    {0xfd, 0x99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
};

static void emit(struct qp *q, uint8_t type, uint8_t flags, uint16_t aux, uint32_t flow,
                 uint32_t arg0, uint32_t arg1)
{
    struct toe_cmd c = toe_cmd_make(type, flags, aux, flow, arg0, arg1);

    while (!toe_ring_has_room(&q->hw) && toe_ring_room(&q->hw) == 0)
        usleep(50);
    toe_ring_put(&q->hw, &c);
    toe_ring_store(&q->st->hw_head, q->hw.head);
    q->dirty = true;
}

/* ---- flows ---- */

static struct flow *flow_new(struct qp *q)
{
    for (uint32_t i = 0; i < q->cfg.slots; i++) {
        struct flow *f = &q->flows[i];

        if (f->used)
            continue;
        memset(f, 0, sizeof(*f));
        f->used = true;
        f->qp = q;
        f->slot = i;
        f->rx_free = q->cfg.rx_size;
        return f;
    }
    return NULL;
}

static void final(struct flow *f, unsigned reason)
{
    f->ready = false;
    if (f->gone)
        return;
    f->gone = true;
    emit(f->qp, TOE_CMD_CLOSE_EVENT, 0, (uint16_t)reason, f->slot, 0, 0);
}

static void reset(struct flow *f, unsigned own_reason)
{
    struct flow *p = f->peer;

    f->peer = NULL;
    final(f, own_reason);
    if (p) {
        p->peer = NULL;
        final(p, TOE_R_RESET);
    }
}

static void pump(struct flow *f)
{
    struct flow *p = f->peer;
    uint32_t total = 0;

    if (f->orphan_peer && f->tx_queued)
        final(f, TOE_R_RESET); /* as a peer in FIN-WAIT-2 without a socket answers data */
    if (!p)
        return;
    while (f->tx_queued && p->rx_free) {
        uint32_t a = f->tx_at & (f->qp->cfg.tx_size - 1), b = p->rx_at & (p->qp->cfg.rx_size - 1);
        uint32_t n = f->tx_queued < p->rx_free ? f->tx_queued : p->rx_free;

        if (n > f->qp->cfg.tx_size - a)
            n = f->qp->cfg.tx_size - a;
        if (n > p->qp->cfg.rx_size - b)
            n = p->qp->cfg.rx_size - b;
        memcpy(p->qp->area + toedev_rx_offset(&p->qp->cfg, &p->qp->l, p->slot) + b,
               f->qp->area + toedev_tx_offset(&f->qp->cfg, &f->qp->l, f->slot) + a, n);
        f->tx_at += n;
        p->rx_at += n;
        f->tx_queued -= n;
        p->rx_free -= n;
        total += n;
    }
    if (total && p->detached) { /* data for a socket that is closed */
        reset(p, TOE_R_ABORTED);
        return;
    }
    if (total) {
        emit(p->qp, TOE_CMD_DATA_RECEIVED, 0, 0, p->slot, total, 0);
        emit(f->qp, TOE_CMD_SEND_COMPLETE, 0, 0, f->slot, total, 0);
    }
    if (f->fin_wanted && !f->fin_sent && !f->tx_queued) {
        f->fin_sent = true;
        if (!p->detached)
            emit(p->qp, TOE_CMD_CLOSE_EVENT, TOE_F_CLOSE_EVENT_HALF, 0, p->slot, 0, 0);
    }
    if (f->fin_sent && p->fin_sent) {
        f->peer = p->peer = NULL;
        final(f, 0);
        final(p, 0);
    }
}

/* ---- commands ---- */

/* Returns the listener that accepts a connection to this port, or NULL; *weak: only a weak one
 * matched. */
static struct qp *listener_for(uint16_t port, bool v6, uint32_t *id, bool *weak)
{
    *weak = false;
    next_listener++;
    for (unsigned k = 0; k < QPS; k++) {
        struct qp *q = loop_qps[(next_listener + k) % QPS];

        for (unsigned i = 0; q && i < q->listeners_n; i++) {
            if (q->listeners[i].port != port || (v6 ? !q->listeners[i].v6 : q->listeners[i].v6only))
                continue;
            if (!q->listeners[i].weak) {
                *id = q->listeners[i].id;
                return q;
            }
            *weak = true;
        }
    }
    return NULL;
}

static void do_connect(struct qp *q, const struct toe_cmd *c);

static void do_listen(struct qp *q, const struct toe_cmd *c)
{
    unsigned i = 0;

    while (i < q->listeners_n && q->listeners[i].id != toe_cmd_flow(c))
        i++;
    if (i == LISTENERS) {
        emit(q, TOE_CMD_ERROR, 0, TOE_R_NOBUFS, toe_cmd_flow(c), q->sw.tail - 1, TOE_CMD_LISTEN);
        return;
    }
    if (i == q->listeners_n)
        q->listeners_n++;
    q->listeners[i] = (struct listener){
        toe_cmd_flow(c), toe_cmd_aux(c), (toe_cmd_flags(c) & TOE_F_LISTEN_WEAK) != 0,
        (toe_cmd_flags(c) & TOE_F_LISTEN_V6) != 0, (toe_cmd_flags(c) & TOE_F_LISTEN_V6ONLY) != 0};
    for (unsigned n = waiting_n; n; n--) {
        struct toe_cmd again = waiting[0].cmd;
        struct qp *from = waiting[0].qp;

        memmove(waiting, waiting + 1, --waiting_n * sizeof(waiting[0]));
        if (from)
            do_connect(from, &again);
    }
}

static bool somebody_listens(uint16_t port)
{
    for (unsigned k = 0; k < QPS; k++)
        for (unsigned i = 0; loop_qps[k] && i < loop_qps[k]->listeners_n; i++)
            if (loop_qps[k]->listeners[i].port == port)
                return true;
    return false;
}

static void do_unlisten(struct qp *q, const struct toe_cmd *c)
{
    for (uint32_t i = 0; i < q->cfg.slots; i++)
        if (q->flows[i].used && q->flows[i].listener == toe_cmd_flow(c))
            reset(&q->flows[i], TOE_R_ABORTED);
    for (unsigned i = 0; i < q->listeners_n; i++)
        if (q->listeners[i].id == toe_cmd_flow(c)) {
            uint16_t port = q->listeners[i].port;

            q->listeners[i] = q->listeners[--q->listeners_n];
            loop_ports_left += !somebody_listens(port);
            return;
        }
}

static void say(struct flow *f, const char *text)
{
    uint32_t n = (uint32_t)strlen(text);

    memcpy(f->qp->area + toedev_rx_offset(&f->qp->cfg, &f->qp->l, f->slot), text, n);
    f->rx_free -= n;
    emit(f->qp, TOE_CMD_DATA_RECEIVED, 0, 0, f->slot, n, 0);
}

/* The ports that misbehave. True when it was one. */
static bool misbehave(struct qp *q, uint16_t port, uint32_t cookie)
{
    struct flow *f;

    if (port < LOOPTOE_SILENT || port > LOOPTOE_OVERACK)
        return false;
    if (port == LOOPTOE_SILENT) {
        if (silent_n < WAITING) {
            silent[silent_n].qp = q;
            silent[silent_n++].cookie = cookie;
        }
        return true;
    }
    if (port == LOOPTOE_UNREACH) {
        emit(q, TOE_CMD_CONNECT_FAILED, 0, TOE_R_HOSTUNREACH, 0, cookie, 0);
        return true;
    }
    if (port == LOOPTOE_UNKNOWN) {
        emit(q, 200, 0, 0, 0, 0, 0);
        return true;
    }
    if (port == LOOPTOE_BADSLOT) {
        emit(q, TOE_CMD_CONNECT_ESTABLISHED, 0, 1, q->cfg.slots, cookie, 0);
        return true;
    }
    f = flow_new(q);
    if (!f)
        return true;
    emit(q, TOE_CMD_CONNECT_ESTABLISHED, 0, next_port++, f->slot, cookie, 0);
    if (port == LOOPTOE_OVERRUN)
        emit(q, TOE_CMD_DATA_RECEIVED, 0, 0, f->slot, q->cfg.rx_size + 1, 0);
    if (port == LOOPTOE_OVERACK)
        emit(q, TOE_CMD_SEND_COMPLETE, 0, 0, f->slot, 1, 0);
    if (port == LOOPTOE_DATA_RST)
        say(f, "last words");
    if (port == LOOPTOE_RESETS || port == LOOPTOE_DATA_RST)
        final(f, TOE_R_RESET);
    return true;
}

static void join(struct flow *f, struct flow *p, uint32_t id, uint16_t port, uint32_t cookie)
{
    f->peer = p;
    p->peer = f;
    p->listener = id;
    emit(f->qp, TOE_CMD_CONNECT_ESTABLISHED, 0, port, f->slot, cookie, 0);
    emit(p->qp, TOE_CMD_LISTEN_ESTABLISHED, 0, port, p->slot, p->v6 ? 0 : 0x0a630001u, id);
}

static void record6(struct flow *f, const uint8_t *local, const uint8_t *remote)
{
    struct toedev_flow_record *r =
        (struct toedev_flow_record *)(f->qp->area + f->qp->l.records) + f->slot;

    f->v6 = true;
    memcpy(r->local, local, 16);
    memcpy(r->remote, remote, 16);
}

/* The local address: the requested one, or one of the scope of the peer's. */
static void names6(struct flow *f, struct flow *p, const struct toedev_address *a)
{
    static const uint8_t none[16];
    const uint8_t *local =
        memcmp(a->local, none, 16) != 0 ? a->local : loop_own6[a->addr[0] == 0xfe];

    record6(f, local, a->addr);
    record6(p, a->addr, local);
}

static bool do_fast(struct qp *q, const struct toe_cmd *c);

static void do_connect(struct qp *q, const struct toe_cmd *c)
{
    uint32_t cookie = toe_cmd_flow(c), id;
    uint16_t port = toe_cmd_arg1(c) ? (uint16_t)toe_cmd_arg1(c) : next_port++;
    bool no_ranges = getenv("LOOPTOE_NO_RANGES") != NULL;
    bool weak, v6 = (toe_cmd_flags(c) & TOE_F_CONNECT_V6) != 0;
    struct toedev_address a;
    struct flow *f, *p;
    struct qp *to;

    if (v6) /* read with the command, as the contract requires */
        memcpy(&a, q->area + q->l.addresses + toe_cmd_arg0(c) * sizeof(a), sizeof(a));
    if (misbehave(q, toe_cmd_aux(c), cookie))
        return;
    if (no_ranges && toe_cmd_arg1(c) > 0xffff) {
        emit(q, TOE_CMD_ERROR, 0, TOE_R_INVAL, cookie, 0, TOE_CMD_CONNECT);
        return;
    }
    if (no_ranges && port % 10 != LOOPTOE_FREE_DIGIT) {
        emit(q, TOE_CMD_CONNECT_FAILED, 0, TOE_R_ADDRINUSE, 0, cookie, port);
        return;
    }
    if (toe_cmd_arg1(c) &&
        port % loop_engines != q->engine) { /* the replies would go to another address */
        emit(q, TOE_CMD_CONNECT_FAILED, 0, TOE_R_ADDRNOTAVAIL, 0, cookie, 0);
        return;
    }
    if (do_fast(q, c))
        return;
    to = listener_for(toe_cmd_aux(c), v6, &id, &weak);
    if (!to && weak && waiting_n < WAITING) {
        waiting[waiting_n].qp = q;
        waiting[waiting_n++].cmd = *c;
        return;
    }
    f = to ? flow_new(q) : NULL;
    p = f ? flow_new(to) : NULL;
    if (!p) {
        if (f)
            f->used = false;
        emit(q, TOE_CMD_CONNECT_FAILED, 0, to ? TOE_R_NOBUFS : TOE_R_REFUSED, 0, cookie, 0);
        return;
    }
    if (v6)
        names6(f, p, &a);
    join(f, p, id, port, cookie);
}

/* A CONNECT with FAST: a slot that waits for data, once there is a cookie. */
static bool do_fast(struct qp *q, const struct toe_cmd *c)
{
    struct flow *f;

    if (!(toe_cmd_flags(c) & TOE_F_CONNECT_FAST))
        return false;
    if (!has_cookie && !(toe_cmd_flags(c) & TOE_F_CONNECT_NOCOOKIE)) {
        has_cookie = true;
        return false;
    }
    f = flow_new(q);
    if (!f)
        return false;
    f->ready = true;
    f->port = toe_cmd_aux(c);
    f->cookie = toe_cmd_flow(c);
    emit(q, TOE_CMD_CONNECT_READY, 0, 0, f->slot, f->cookie, SYN_ROOM);
    return true;
}

/* The first SEND sends the SYN. False: no listener accepts it. */
static bool open_ready(struct flow *f)
{
    uint32_t id;
    bool weak;
    struct qp *to = listener_for(f->port, false, &id, &weak);
    struct flow *p = to ? flow_new(to) : NULL;

    f->ready = false;
    if (!p) {
        final(f, TOE_R_REFUSED);
        return false;
    }
    join(f, p, id, next_port++, f->cookie);
    return true;
}

static void do_cancel(struct qp *q, uint32_t cookie)
{
    for (unsigned i = 0; i < silent_n; i++)
        if (silent[i].qp == q && silent[i].cookie == cookie) {
            silent[i] = silent[--silent_n];
            emit(q, TOE_CMD_CONNECT_FAILED, 0, TOE_R_ABORTED, 0, cookie, 0);
            return;
        }
    for (unsigned i = 0; i < waiting_n; i++)
        if (waiting[i].qp == q && toe_cmd_flow(&waiting[i].cmd) == cookie) {
            waiting[i].qp = NULL;
            emit(q, TOE_CMD_CONNECT_FAILED, 0, TOE_R_ABORTED, 0, cookie, 0);
            return;
        }
}

static void do_close(struct flow *f, unsigned flags)
{
    if (flags & TOE_F_CLOSE_ABORT) {
        reset(f, TOE_R_ABORTED);
        return;
    }
    if (!(flags & TOE_F_CLOSE_HALF)) {
        f->detached = true;
        if (f->rx_free != f->qp->cfg.rx_size) { /* unread data: RST, as Linux does */
            reset(f, TOE_R_ABORTED);
            return;
        }
        if (!f->peer) {
            final(f, 0);
            return;
        }
    }
    f->fin_wanted = true;
    pump(f);
}

static void do_flow(struct qp *q, const struct toe_cmd *c)
{
    uint32_t slot = toe_cmd_flow(c), n = toe_cmd_arg0(c);
    struct flow *f = slot < q->cfg.slots ? &q->flows[slot] : NULL;
    unsigned bad = 0;

    if (!f || !f->used)
        bad = TOE_R_BADF;
    else if (toe_cmd_type(c) == TOE_CMD_RELEASE) {
        bad = f->gone ? 0 : TOE_R_NOTCONN;
        f->used = !f->gone;
    } else if (f->gone)
        bad = TOE_R_NOTCONN;
    else if (toe_cmd_type(c) == TOE_CMD_OPTION)
        loop_options++;
    else if (toe_cmd_type(c) == TOE_CMD_ACCEPT)
        f->listener = 0;
    else if (toe_cmd_type(c) == TOE_CMD_SEND) {
        f->tx_queued += n;
        if (f->tx_queued > q->cfg.tx_size)
            bad = TOE_R_MSGSIZE;
        else if (!f->ready || open_ready(f)) {
            if (f->peer && (toe_cmd_flags(c) & TOE_F_SEND_URGENT))
                emit(f->peer->qp, TOE_CMD_URGENT, 0, 0, f->peer->slot, f->tx_at + f->tx_queued, 0);
            pump(f);
        }
    } else if (toe_cmd_type(c) == TOE_CMD_RECV) {
        f->rx_free += n;
        if (f->rx_free > q->cfg.rx_size)
            bad = TOE_R_MSGSIZE;
        else if (f->peer)
            pump(f->peer);
    } else if (toe_cmd_type(c) == TOE_CMD_CLOSE)
        do_close(f, toe_cmd_flags(c));
    if (bad)
        emit(q, TOE_CMD_ERROR, 0, (uint16_t)bad, slot, q->sw.tail - 1, toe_cmd_type(c));
}

void loop_handle(struct qp *q, const struct toe_cmd *c)
{
    switch (toe_cmd_type(c)) {
    case TOE_CMD_LISTEN:
        do_listen(q, c);
        break;
    case TOE_CMD_UNLISTEN:
        do_unlisten(q, c);
        break;
    case TOE_CMD_CONNECT:
        do_connect(q, c);
        break;
    case TOE_CMD_CANCEL:
        do_cancel(q, toe_cmd_flow(c));
        break;
    case TOE_CMD_BIND: /* it has no TIME-WAIT */
    case TOE_CMD_PORT: /* as a TOE of an earlier release */
        emit(q, TOE_CMD_ERROR, 0, TOE_R_NOSYS, toe_cmd_flow(c), q->sw.tail - 1, toe_cmd_type(c));
        break;
    case TOE_CMD_OPTION:
        if (!(toe_cmd_flags(c) & (TOE_F_OPTION_CONNECT | TOE_F_OPTION_LISTEN)))
            do_flow(q, c);
        break;
    default:
        do_flow(q, c);
    }
}

void loop_forget(struct qp *q)
{
    for (unsigned n = silent_n; n; n--)
        if (silent[n - 1].qp == q)
            silent[n - 1] = silent[--silent_n];
    for (unsigned n = 0; n < waiting_n; n++)
        if (waiting[n].qp == q)
            waiting[n].qp = NULL;
    for (uint32_t s = 0; s < q->cfg.slots; s++)
        if (q->flows[s].used && !q->flows[s].gone && q->flows[s].peer) {
            struct flow *p = q->flows[s].peer;

            p->peer = NULL;
            if (q->flows[s].detached && q->flows[s].fin_sent)
                p->orphan_peer = true;
            else
                final(p, TOE_R_RESET);
        }
}
