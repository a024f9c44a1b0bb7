/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looptoe.c - the TOE for tests: attach, rings, and a wire to itself (looptoe.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <toe/attach.h>
#include <toe/ring.h>

#include "looptoe.h"

#define QPS       16
#define LISTENERS 64
#define WAITING   64
#define SPINS     200 /* empty rounds before it sleeps */

struct flow {
    bool ready; /* CONNECT_READY said: opens with its first SEND */
    uint16_t port;
    uint32_t cookie;
    bool used, fin_wanted, fin_sent, detached, gone;
    bool v6;
    struct flow *peer; /* NULL: none, or gone */
    struct qp *qp;
    uint32_t slot, listener; /* listener: its id, until accepted */
    uint32_t tx_at, tx_queued, rx_at, rx_free;
};

struct listener {
    uint32_t id;
    uint16_t port;
    bool weak, v6, v6only;
};

struct qp {
    int ctl, irq, bell;
    uint8_t *area;
    struct toedev_qp_config cfg;
    struct toedev_layout l;
    struct toe_ring_tx hw;
    struct toe_ring_rx sw;
    struct toedev_doorbells *db;
    struct toedev_status *st;
    struct flow *flows;
    struct listener listeners[LISTENERS];
    unsigned listeners_n;
    uint32_t irq_seen, engine;
    bool dirty;
};

static struct qp *qps[QPS];
static unsigned engines_n;
static uint16_t next_port = 40000;
static unsigned next_listener, options_n, ports_left;

/* CONNECTs to a port where all are weak: their SYNs are dropped and come again. */
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

static bool has_cookie; /* of Fast Open: the first CONNECT with FAST has fetched it */

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

static void interrupt(struct qp *q)
{
    uint64_t one = 1;
    uint32_t seq;

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    seq = toe_ring_load(&q->db->irq_seq);
    if (!q->dirty || seq == q->irq_seen)
        return;
    q->irq_seen = seq;
    q->dirty = false;
    (void)!write(q->irq, &one, sizeof(one));
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

/* Who takes a connection to this port. NULL: nobody; *weak: somebody would, were he not weak. */
static struct qp *listener_for(uint16_t port, bool v6, uint32_t *id, bool *weak)
{
    *weak = false;
    next_listener++;
    for (unsigned k = 0; k < QPS; k++) {
        struct qp *q = qps[(next_listener + k) % QPS];

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
        for (unsigned i = 0; qps[k] && i < qps[k]->listeners_n; i++)
            if (qps[k]->listeners[i].port == port)
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
            ports_left += !somebody_listens(port);
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

static const uint8_t own6[2][16] = {
    {0xfd, 0x99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
    {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
};

static void record6(struct flow *f, const uint8_t *local, const uint8_t *remote)
{
    struct toedev_flow_record *r =
        (struct toedev_flow_record *)(f->qp->area + f->qp->l.records) + f->slot;

    f->v6 = true;
    memcpy(r->local, local, 16);
    memcpy(r->remote, remote, 16);
}

/* Its own address as asked for, or of the scope of the peer's. */
static void names6(struct flow *f, struct flow *p, const struct toedev_address *a)
{
    static const uint8_t none[16];
    const uint8_t *local = memcmp(a->local, none, 16) != 0 ? a->local : own6[a->addr[0] == 0xfe];

    record6(f, local, a->addr);
    record6(p, a->addr, local);
}

static void tell_ip6(struct qp *q)
{
    struct toedev_ip6 *p = &q->st->ip6;

    if (!getenv("LOOPTOE_IP6"))
        return;
    p->flags = TOEDEV_IP6_ON;
    p->count = 2;
    p->scope = 1; /* lo of its namespace */
    memcpy(p->addr, own6, sizeof(own6));
    p->prefix_len[0] = p->prefix_len[1] = 64;
}

static bool do_fast(struct qp *q, const struct toe_cmd *c);

static void do_connect(struct qp *q, const struct toe_cmd *c)
{
    uint32_t cookie = toe_cmd_flow(c), id;
    uint16_t port = toe_cmd_arg1(c) ? (uint16_t)toe_cmd_arg1(c) : next_port++;
    bool weak, v6 = (toe_cmd_flags(c) & TOE_F_CONNECT_V6) != 0;
    struct toedev_address a;
    struct flow *f, *p;
    struct qp *to;

    if (v6) /* read with the command, as the contract has it */
        memcpy(&a, q->area + q->l.addresses + toe_cmd_arg0(c) * sizeof(a), sizeof(a));
    if (misbehave(q, toe_cmd_aux(c), cookie))
        return;
    if (toe_cmd_arg1(c) && port % engines_n != q->engine) { /* the answers would go elsewhere */
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
    emit(q, TOE_CMD_CONNECT_READY, 0, 0, f->slot, f->cookie, 0);
    return true;
}

/* The first SEND: its SYN goes. False: nobody takes it. */
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
        options_n++;
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

static void handle(struct qp *q, const struct toe_cmd *c)
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
    case TOE_CMD_OPTION:
        if (!(toe_cmd_flags(c) & (TOE_F_OPTION_CONNECT | TOE_F_OPTION_LISTEN)))
            do_flow(q, c);
        break;
    default:
        do_flow(q, c);
    }
}

/* ---- attaching ---- */

static void refuse(int fd, unsigned reason, const char *why)
{
    struct toedev_welcome w = {
        .magic = TOEDEV_MAGIC, .version = TOEDEV_CONTRACT_VERSION, .reason = reason};

    snprintf(w.message, sizeof(w.message), "%s", why);
    (void)!send(fd, &w, sizeof(w), MSG_NOSIGNAL);
    close(fd);
}

static void answer_query(int fd)
{
    struct looptoe_usage u = {0};
    char text[128];

    for (unsigned i = 0; i < QPS; i++) {
        if (!qps[i])
            continue;
        u.queue_pairs++;
        u.listeners += qps[i]->listeners_n;
        for (uint32_t s = 0; s < qps[i]->cfg.slots; s++)
            u.slots_used += qps[i]->flows[s].used;
    }
    snprintf(text, sizeof(text), "%u %u %u %u %u", u.slots_used, u.listeners, u.queue_pairs,
             options_n, ports_left);
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
    close(fd);
}

static void welcome(struct qp *q)
{
    struct toedev_welcome w = {.magic = TOEDEV_MAGIC,
                               .version = TOEDEV_CONTRACT_VERSION,
                               .qp_id = 1,
                               .engines = engines_n,
                               .mtu = 1500,
                               .ip = {10, 99, 0, 2},
                               .prefix_len = 24};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    struct iovec v = {&w, sizeof(w)};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int fds[2] = {memfd_create("page0", MFD_CLOEXEC), q->bell};

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(fds));
    memcpy(CMSG_DATA(c), fds, sizeof(fds));
    (void)!sendmsg(q->ctl, &m, MSG_NOSIGNAL);
    close(fds[0]);
}

static void attach(int fd)
{
    struct toedev_hello h;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec v = {&h, sizeof(h)};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    struct cmsghdr *rights;
    int fds[2];
    unsigned i = 0;
    struct qp *q;

    if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) != sizeof(h)) {
        close(fd);
        return;
    }
    if (h.kind == TOEDEV_HELLO_QUERY) {
        answer_query(fd);
        return;
    }
    while (i < QPS && qps[i])
        i++;
    if (i == QPS) {
        refuse(fd, TOE_R_NOBUFS, "no queue pair left");
        return;
    }
    rights = CMSG_FIRSTHDR(&m);
    if (!rights) {
        refuse(fd, TOE_R_INVAL, "no descriptors came with the greeting");
        return;
    }
    memcpy(fds, CMSG_DATA(rights), sizeof(fds));
    q = calloc(1, sizeof(*q));
    q->ctl = fd;
    q->irq = fds[1];
    q->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    q->cfg = h.qp;
    q->engine = h.engine;
    if (toedev_layout(&q->cfg, &q->l) < 0) {
        refuse(fd, TOE_R_INVAL, "bad sizes");
        free(q);
        return;
    }
    q->area = mmap(NULL, q->l.total, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
    close(fds[0]);
    q->db = (void *)(q->area + q->l.doorbells);
    q->st = (void *)(q->area + q->l.status);
    toe_ring_tx_init(&q->hw, q->area + q->l.hw_ring, q->cfg.hw_entries, &q->db->hw_tail);
    toe_ring_rx_init(&q->sw, q->area + q->l.sw_ring, q->cfg.sw_entries);
    q->flows = calloc(q->cfg.slots, sizeof(*q->flows));
    qps[i] = q;
    tell_ip6(q);
    welcome(q);
}

static void detach(unsigned i)
{
    struct qp *q = qps[i];

    qps[i] = NULL;
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
            final(p, TOE_R_RESET);
        }
    munmap(q->area, q->l.total);
    close(q->ctl);
    close(q->irq);
    close(q->bell);
    free(q->flows);
    free(q);
}

/* ---- the loop ---- */

static unsigned serve(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < QPS; i++) {
        struct toe_cmd c;

        while (qps[i] && toe_ring_get(&qps[i]->sw, &c)) {
            handle(qps[i], &c);
            toe_ring_store(&qps[i]->st->sw_tail, qps[i]->sw.tail);
            n++;
        }
    }
    for (unsigned i = 0; i < QPS; i++)
        if (qps[i])
            interrupt(qps[i]);
    return n;
}

static void set_sleeping(uint32_t on)
{
    for (unsigned i = 0; i < QPS; i++)
        if (qps[i])
            toe_ring_store(&qps[i]->st->sleeping, on);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void doze(int listen_fd, int timeout)
{
    struct pollfd p[1 + 2 * QPS] = {{.fd = listen_fd, .events = POLLIN}};
    uint64_t count;

    for (unsigned i = 0; i < QPS; i++) {
        p[1 + 2 * i] = (struct pollfd){.fd = qps[i] ? qps[i]->ctl : -1, .events = POLLIN};
        p[2 + 2 * i] = (struct pollfd){.fd = qps[i] ? qps[i]->bell : -1, .events = POLLIN};
    }
    if (poll(p, 1 + 2 * QPS, timeout) <= 0)
        return;
    for (unsigned i = 0; i < QPS; i++) {
        if (p[2 + 2 * i].revents)
            (void)!read(qps[i]->bell, &count, sizeof(count));
        if (p[1 + 2 * i].revents) {
            serve(); /* what a dying process has put before */
            detach(i);
        }
    }
    if (p[0].revents) {
        int fd = accept(listen_fd, NULL, NULL);

        if (fd >= 0)
            attach(fd);
    }
}

static void run(int listen_fd)
{
    unsigned idle = 0;

    for (;;) {
        if (serve()) {
            idle = 0;
            continue;
        }
        if (++idle < SPINS) {
            if (idle % 32 == 0)
                doze(listen_fd, 0);
            continue;
        }
        set_sleeping(1);
        if (!serve())
            doze(listen_fd, -1);
        set_sleeping(0);
        idle = 0;
    }
}

pid_t looptoe_start(const char *path, unsigned engines)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    pid_t pid;

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 16) < 0) {
        perror("looptoe");
        exit(1);
    }
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        engines_n = engines;
        run(fd);
    }
    close(fd);
    return pid;
}

void looptoe_kill(pid_t pid)
{
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

void looptoe_freeze(pid_t pid, int frozen)
{
    int status;

    kill(pid, frozen ? SIGSTOP : SIGCONT);
    if (frozen)
        waitpid(pid, &status, WUNTRACED);
}

int looptoe_usage(const char *path, struct looptoe_usage *out)
{
    struct toedev_hello h = {
        .magic = TOEDEV_MAGIC, .version = TOEDEV_CONTRACT_VERSION, .kind = TOEDEV_HELLO_QUERY};
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char text[128] = "";
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), r = -1;

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
        send(fd, &h, sizeof(h), MSG_NOSIGNAL) == sizeof(h) &&
        recv(fd, text, sizeof(text) - 1, 0) > 0 &&
        sscanf(text, "%u %u %u %u %u", &out->slots_used, &out->listeners, &out->queue_pairs,
               &out->options, &out->ports_left) == 5)
        r = 0;
    close(fd);
    return r;
}
