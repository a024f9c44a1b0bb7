/* SPDX-License-Identifier: Apache-2.0 */
/* easy.c - see toe/easy.h. */
#include <toe/easy.h>

#ifdef __GNUC__
typedef __SIZE_TYPE__ easy_size;
#else
typedef unsigned long easy_size;
#endif
/* NOLINTBEGIN(readability-redundant-declaration) */
void *memcpy(void *dst, const void *src, easy_size n);
void *memset(void *dst, int c, easy_size n);
/* NOLINTEND(readability-redundant-declaration) */

#define RING_SIZE  16384u
#define HEADER_MAX 192u /* Ethernet, IP, TCP with options: less than that */
#define LARGEST    ((unsigned long)-1 / 2 - 65536) /* in one piece, beside the rest */

#define C_END     1u  /* the peer has closed */
#define C_SHUT    2u  /* so have we */
#define C_FULL    4u  /* a write had too little room: its owner waits */
#define C_QUEUED  8u  /* is in the queue of events */
#define C_SILENT  16u /* its owner is done with it */
#define C_PASSIVE 32u /* not announced before OPEN */

struct toec_conn {
    struct toec_easy *easy;
    struct toec_tcb *flow;  /* 0: not open yet (passive), or gone */
    struct toec_conn *next; /* free, or in the queue of events */
    void *arg;
    toec_u8 *tx, *rx;
    toec_u32 tx_end, tx_used; /* stream offset behind what was written; bytes not acknowledged */
    toec_u32 rx_at, rx_ready; /* stream offset to read next; bytes there */
    toec_u32 reason;
    unsigned flags, events;
};

struct toec_easy {
    struct toec_easy_config cfg;
    struct toec_stack *stack;
    toec_time now;
    toec_u8 *frame;
    struct toec_conn *unused, *first, *last; /* free ones; queue of events */
    toec_u32 queued;
};

/* ---- memory ---- */

struct easy_layout {
    unsigned long frame, conns, rings, stack, end;
};

static int power_of_two(toec_u32 n)
{
    return n >= 4096u && n <= (1u << 24) && (n & (n - 1)) == 0;
}

static unsigned long up64(unsigned long n)
{
    return (n + 63) & ~63ul;
}

/* ---- payload for TCP-AO ---- */

static void show_sent(void *user, void *owner, toec_u32 off, toec_u32 len, struct toec_mac *mac)
{
    const struct toec_easy *e = user;
    const struct toec_conn *c = owner;
    toec_u32 at = off & (e->cfg.tx_size - 1);
    toec_u32 first = e->cfg.tx_size - at < len ? e->cfg.tx_size - at : len;

    toec_ao_feed(mac, c->tx + at, first);
    toec_ao_feed(mac, c->tx, len - first);
}

static void show_received(void *user, const struct toec_packet *p, toec_u32 off, toec_u32 len,
                          struct toec_mac *mac)
{
    (void)user;
    toec_ao_feed(mac, p->data + off, len);
}

static const struct toec_ao_ops easy_ao = {show_sent, show_received};

/* ---- layout ---- */

/* Defaults filled in, and where everything stands; -1: invalid. */
static int lay_out_easy(struct toec_easy_config *c, struct easy_layout *l)
{
    unsigned long stack, each, mtu = c->core.mtu ? c->core.mtu : 1500;

    if (c->tx_size == 0)
        c->tx_size = RING_SIZE;
    if (c->rx_size == 0)
        c->rx_size = RING_SIZE;
    if (c->core.max_flows == 0)
        c->core.max_flows = 1024;
    c->core.ao = &easy_ao;
    stack = toec_size(&c->core);
    if (stack == 0 || !power_of_two(c->tx_size) || !power_of_two(c->rx_size) || !c->send ||
        !c->event || c->core.max_gso || c->core.max_udp)
        return -1;
    each = sizeof(struct toec_conn) + c->tx_size + c->rx_size;
    if (stack > LARGEST || c->core.max_flows > (LARGEST - stack) / each)
        return -1;
    l->frame = up64(sizeof(struct toec_easy));
    l->conns = l->frame + up64(mtu + HEADER_MAX);
    l->rings = l->conns + up64(sizeof(struct toec_conn) * (unsigned long)c->core.max_flows);
    l->stack = l->rings + ((unsigned long)c->tx_size + c->rx_size) * c->core.max_flows;
    l->end = l->stack + stack;
    return 0;
}

unsigned long toec_easy_size(const struct toec_easy_config *cfg)
{
    struct toec_easy_config c = *cfg;
    struct easy_layout l;

    return lay_out_easy(&c, &l) < 0 ? 0 : l.end;
}

struct toec_easy *toec_easy_init(void *mem, unsigned long size, const struct toec_easy_config *cfg,
                                 toec_time now)
{
    struct toec_easy *e = mem;
    struct toec_easy_config c = *cfg;
    struct easy_layout l;
    struct toec_config core;
    toec_u8 *at = mem;
    toec_u32 i;

    if (!mem || lay_out_easy(&c, &l) < 0 || size < l.end || ((unsigned long)mem & 63))
        return 0;
    memset(e, 0, sizeof(*e));
    e->cfg = c;
    e->now = now;
    e->frame = at + l.frame;
    core = c.core;
    core.user = e;
    e->stack = toec_init(at + l.stack, size - l.stack, &core, now);
    for (i = c.core.max_flows; i-- > 0;) {
        struct toec_conn *one = (struct toec_conn *)(void *)(at + l.conns) + i;

        memset(one, 0, sizeof(*one));
        one->easy = e;
        one->tx = at + l.rings + ((unsigned long)c.tx_size + c.rx_size) * i;
        one->rx = one->tx + c.tx_size;
        one->next = e->unused;
        e->unused = one;
    }
    return e;
}

static struct toec_conn *conn_get(struct toec_easy *e, void *arg, unsigned flags)
{
    struct toec_conn *c = e->unused;

    if (!c)
        return 0;
    e->unused = c->next;
    c->next = 0;
    c->flow = 0;
    c->arg = arg;
    c->tx_end = c->tx_used = c->rx_at = c->rx_ready = c->reason = 0;
    c->events = 0;
    c->flags = flags;
    return c;
}

static void conn_put(struct toec_conn *c)
{
    c->next = c->easy->unused;
    c->easy->unused = c;
}

/* ---- events ---- */

static void report(struct toec_conn *c, unsigned what)
{
    struct toec_easy *e = c->easy;

    c->events |= what;
    if (c->flags & C_QUEUED)
        return;
    c->flags |= C_QUEUED;
    c->next = 0;
    if (e->first)
        e->last->next = c;
    else
        e->first = c;
    e->last = c;
    e->queued++;
}

/* Reports the events that are queued now; those that callbacks cause are reported next time. */
static void deliver(struct toec_easy *e)
{
    toec_u32 n;

    for (n = e->queued; n > 0; n--) {
        struct toec_conn *c = e->first;
        unsigned what = c->events;

        e->first = c->next;
        e->queued--;
        c->events = 0;
        c->flags &= ~C_QUEUED;
        if (!(c->flags & C_SILENT))
            e->cfg.event(e->cfg.core.user, c, what);
        if (what & TOEC_EASY_GONE)
            conn_put(c);
    }
}

void toec_easy_input(struct toec_easy *e, const void *frame, toec_u32 len, toec_u32 flags,
                     toec_time now)
{
    struct toec_packet p;

    e->now = now;
    p.data = frame;
    p.head_len = p.len = len;
    p.flags = flags;
    p.opaque = 0;
    toec_input(e->stack, &p, now);
}

toec_time toec_easy_poll(struct toec_easy *e, toec_time now)
{
    toec_time next;

    e->now = now;
    next = toec_poll(e->stack, now);
    if (e->first) {
        deliver(e);
        next = toec_poll(e->stack, now);
    }
    return e->first ? now : next;
}

/* ---- the functions of port.h ---- */

/* len bytes from stream offset off of a ring. */
static void ring_get(toec_u8 *to, const toec_u8 *ring, toec_u32 size, toec_u32 off, toec_u32 len)
{
    toec_u32 at = off & (size - 1), first = size - at < len ? size - at : len;

    memcpy(to, ring + at, first);
    memcpy(to + first, ring, len - first);
}

static void ring_put(toec_u8 *ring, toec_u32 size, toec_u32 off, const toec_u8 *from, toec_u32 len)
{
    toec_u32 at = off & (size - 1), first = size - at < len ? size - at : len;

    memcpy(ring + at, from, first);
    memcpy(ring, from + first, len - first);
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    struct toec_easy *e = user;
    toec_u8 *at = e->frame + tx->hdr_len;

    memcpy(e->frame, tx->hdr, tx->hdr_len);
    if (tx->src) {
        memcpy(at, tx->src->data + tx->off, tx->len);
    } else if (tx->len) {
        const struct toec_conn *c = tx->owner;

        ring_get(at, c->tx, e->cfg.tx_size, tx->off, tx->len);
    }
    toec_tx_finish(tx, e->frame, tx->hdr_len + tx->len);
    return e->cfg.send(e->cfg.core.user, e->frame, tx->hdr_len + tx->len);
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    const struct toec_easy *e = user;
    const struct toec_conn *c = owner;

    ring_put(c->rx, e->cfg.rx_size, off, p->data + p_off, len);
}

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    (void)user;
    return toec_sum(p->data + p_off, len);
}

void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len)
{
    (void)user;
    memcpy(dst, p->data + p_off, len);
}

int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out)
{
    struct toec_easy *e = user;

    (void)info;
    out->owner = conn_get(e, listener_owner, C_PASSIVE);
    out->tx_size = e->cfg.tx_size;
    out->rx_size = e->cfg.rx_size;
    return out->owner ? 0 : -1;
}

static void gone(struct toec_conn *c, toec_u32 reason)
{
    c->flow = 0;
    c->reason = reason;
    if (c->flags & C_PASSIVE) /* a handshake that was not announced */
        c->flags |= C_SILENT;
    report(c, TOEC_EASY_GONE);
}

void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg)
{
    struct toec_conn *c = owner;

    (void)user;
    switch (ev) {
    case TOEC_EV_ESTABLISHED:
        c->flow = flow;
        c->flags &= ~C_PASSIVE;
        report(c, TOEC_EASY_OPEN);
        return;
    case TOEC_EV_DATA:
        c->rx_ready += arg;
        report(c, TOEC_EASY_READ);
        return;
    case TOEC_EV_ACKED:
        c->tx_used -= arg;
        if (c->flags & C_FULL) {
            c->flags &= ~C_FULL;
            report(c, TOEC_EASY_WRITE);
        }
        return;
    case TOEC_EV_PEER_CLOSED:
        c->flags |= C_END;
        report(c, TOEC_EASY_END);
        return;
    case TOEC_EV_ERROR:
        c->reason = arg;
        return;
    case TOEC_EV_URGENT: /* stays in the stream, as with SO_OOBINLINE */
        return;
    case TOEC_EV_GONE:
        gone(c, arg);
        return;
    }
}

/* ---- open ---- */

int toec_easy_listen(struct toec_easy *e, const struct toec_addr *addr, toec_u16 port, void *arg,
                     toec_u32 *id)
{
    struct toec_addr any;
    toec_u32 unused;

    memset(&any, 0, sizeof(any));
    return toec_listen(e->stack, addr ? addr : &any, port, arg, 0, id ? id : &unused);
}

int toec_easy_connect(struct toec_easy *e, const struct toec_addr *remote, toec_u16 port, void *arg,
                      toec_time now, struct toec_conn **c)
{
    struct toec_buffers b;
    struct toec_conn *new = conn_get(e, arg, 0);
    int r;

    if (!new)
        return TOEC_E_NOBUFS;
    e->now = now;
    b.owner = new;
    b.tx_size = e->cfg.tx_size;
    b.rx_size = e->cfg.rx_size;
    r = toec_connect(e->stack, remote, port, 0, &b, now, &new->flow);
    if (r)
        conn_put(new);
    else
        *c = new;
    return r;
}

/* ---- read and write ---- */

toec_u32 toec_easy_peek(const struct toec_conn *c, const toec_u8 **p)
{
    toec_u32 size = c->easy->cfg.rx_size, at = c->rx_at & (size - 1);

    *p = c->rx + at;
    return size - at < c->rx_ready ? size - at : c->rx_ready;
}

void toec_easy_skip(struct toec_conn *c, toec_u32 n)
{
    if (n > c->rx_ready)
        n = c->rx_ready;
    c->rx_at += n;
    c->rx_ready -= n;
    if (c->flow)
        (void)toec_recv(c->easy->stack, c->flow, n, c->easy->now);
}

toec_u32 toec_easy_read(struct toec_conn *c, void *buf, toec_u32 n)
{
    if (n > c->rx_ready)
        n = c->rx_ready;
    ring_get(buf, c->rx, c->easy->cfg.rx_size, c->rx_at, n);
    toec_easy_skip(c, n);
    return n;
}

toec_u32 toec_easy_write(struct toec_conn *c, const void *buf, toec_u32 n)
{
    toec_u32 size = c->easy->cfg.tx_size, room = size - c->tx_used;

    if (!c->flow || (c->flags & C_SHUT))
        return 0;
    if (n > room) {
        n = room;
        c->flags |= C_FULL;
    }
    if (n == 0)
        return 0;
    ring_put(c->tx, size, c->tx_end, buf, n);
    c->tx_end += n;
    c->tx_used += n;
    (void)toec_send(c->easy->stack, c->flow, n, 1,
                    c->easy->now); /* there is room: it cannot fail */
    return n;
}

int toec_easy_ended(const struct toec_conn *c)
{
    return (c->flags & C_END) && c->rx_ready == 0;
}

/* ---- end ---- */

void toec_easy_shutdown(struct toec_conn *c)
{
    if (!c->flow || (c->flags & C_SHUT))
        return;
    c->flags |= C_SHUT;
    (void)toec_shutdown(c->easy->stack, c->flow, c->easy->now);
}

/* Later events of it are not reported; its memory is freed when the flow is gone. */
void toec_easy_close(struct toec_conn *c)
{
    c->flags |= C_SILENT;
    if (c->flow)
        (void)toec_close(c->easy->stack, c->flow, c->easy->now);
}

void toec_easy_abort(struct toec_conn *c)
{
    c->flags |= C_SILENT;
    if (c->flow)
        (void)toec_abort(c->easy->stack, c->flow, c->easy->now);
}

/* ---- queries ---- */

void *toec_easy_arg(const struct toec_conn *c)
{
    return c->arg;
}

void toec_easy_set_arg(struct toec_conn *c, void *arg)
{
    c->arg = arg;
}

toec_u32 toec_easy_reason(const struct toec_conn *c)
{
    return c->reason;
}

struct toec_stack *toec_easy_stack(const struct toec_easy *e)
{
    return e->stack;
}

struct toec_tcb *toec_easy_flow(const struct toec_conn *c)
{
    return c->flow;
}

struct toec_easy *toec_easy_of(const struct toec_conn *c)
{
    return c->easy;
}
