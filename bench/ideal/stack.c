/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.c - the functions of core.h that an engine calls, without TCP. It is its own peer: it sends
 * a request on each connection, counts the bytes of the answer and sends the next. The length of an
 * answer is that of the first one, on a single connection; then the other connections open.
 */
#include <stdlib.h>
#include <string.h>

#include <toe/counters.h>
#include <toe/port.h>

#include "stack.h"
#include "wire.h"

#define LISTENERS 64u
/* Connections opened in one round. */
#define OPEN_BATCH 32u
/* Retry interval for a listener that rejects (no worker yet, backlog or slots full). */
#define OPEN_AGAIN 1000000ull
#define PEER_PORT  1024u
#define SNIFF_SIZE 1024u

struct listener {
    void *owner;
    struct toec_addr addr;
    uint16_t port;
    bool used;
};

enum flow_state { FLOW_CLOSED, FLOW_IDLE, FLOW_ASKED, FLOW_ENDED };

struct toec_tcb {
    void *owner;
    uint32_t index;
    uint8_t state; /* enum flow_state */
    bool queued;
    uint32_t rx_at, rx_used, rx_size; /* receive stream: next offset, unread bytes, size */
    uint32_t tx_at, got;              /* send stream: offset, bytes of the current answer */
    uint32_t asked;                   /* requests on this connection */
    uint64_t started;
    uint64_t received, sent;
    struct toec_tcb *next;
};

struct queue {
    struct toec_tcb *first, *last;
};

struct toec_stack {
    struct toec_config cfg;
    struct ideal *i;
    struct listener listeners[LISTENERS];
    struct queue ready, closed;
    uint32_t open;
    uint64_t now, open_at, began, due_from, taken; /* due_from: when the first is due (rate) */
    struct http_answer first;
    const struct toec_tcb *learning; /* the flow of the first answer */
    toec_u64 counters[TOEC_C_MAX];
    struct toec_tcb flows[];
};

static struct ideal *ideal;

void ideal_use(struct ideal *i)
{
    ideal = i;
}

static void push(struct queue *q, struct toec_tcb *f)
{
    if (f->queued)
        return;
    f->queued = true;
    f->next = NULL;
    if (q->last)
        q->last->next = f;
    else
        q->first = f;
    q->last = f;
}

static struct toec_tcb *pop(struct queue *q)
{
    struct toec_tcb *f = q->first;

    if (!f)
        return NULL;
    q->first = f->next;
    if (!q->first)
        q->last = NULL;
    f->queued = false;
    return f;
}

static void finish(struct toec_stack *s, const char *failure)
{
    s->i->failure = failure;
    s->i->ended = s->now;
    __atomic_store_n(&s->i->done, 1, __ATOMIC_RELEASE);
}

static bool in_window(const struct ideal *i, uint64_t t)
{
    return i->t_record && t >= i->t_record && t < i->t_end;
}

unsigned long toec_size(const struct toec_config *cfg)
{
    (void)cfg;
    return sizeof(struct toec_stack) + (unsigned long)ideal->connections * sizeof(struct toec_tcb);
}

struct toec_stack *toec_init(void *mem, unsigned long size, const struct toec_config *cfg,
                             toec_time now)
{
    struct toec_stack *s = mem;
    uint32_t i;

    (void)size;
    s->cfg = *cfg;
    s->i = ideal;
    s->now = s->began = now;
    for (i = 0; i < ideal->connections; i++) {
        s->flows[i].index = i;
        push(&s->closed, &s->flows[i]);
    }
    return s;
}

/* ---- listeners ---- */

int toec_listen(struct toec_stack *s, const struct toec_addr *addr, toec_u16 port, void *owner,
                toec_u32 syn_backlog, toec_u32 *id)
{
    toec_u32 i;

    (void)syn_backlog;
    for (i = 0; i < LISTENERS; i++)
        if (!s->listeners[i].used) {
            s->listeners[i] = (struct listener){owner, *addr, port, true};
            *id = i;
            return 0;
        }
    return TOEC_E_NOBUFS;
}

int toec_unlisten(struct toec_stack *s, toec_u32 id)
{
    s->listeners[id].used = false;
    return 0;
}

int toec_listen_fastopen(struct toec_stack *s, toec_u32 id, toec_u32 max)
{
    (void)s;
    (void)id;
    (void)max;
    return 0;
}

int toec_listen_fastopen_key(struct toec_stack *s, toec_u32 id, const toec_u8 *keys, unsigned n)
{
    (void)s;
    (void)id;
    (void)keys;
    (void)n;
    return 0;
}

int toec_listen_option(struct toec_stack *s, toec_u32 id, enum toec_option opt, toec_u32 value)
{
    (void)s;
    (void)id;
    (void)opt;
    (void)value;
    return 0;
}

/* ---- connections, as their peer ---- */

static struct toec_addr mapped(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    return (struct toec_addr){{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}};
}

static void flow_gone(struct toec_stack *s, struct toec_tcb *f, toec_u32 reason)
{
    void *owner = f->owner;

    if (f->state == FLOW_CLOSED)
        return;
    f->state = FLOW_CLOSED;
    f->owner = NULL;
    s->open--;
    if (!f->queued) /* else the list of ready flows frees it */
        push(&s->closed, f);
    toec_port_event(s->cfg.user, owner, f, TOEC_EV_GONE, reason);
}

static int flow_open(struct toec_stack *s, struct toec_tcb *f, const struct listener *l)
{
    struct toec_open info = {.local = l->addr,
                             .remote = mapped(192, 0, 2, (uint8_t)(2 + f->index / 60000)),
                             .local_port = l->port,
                             .remote_port = (uint16_t)(PEER_PORT + f->index % 60000),
                             .hash = f->index * 2654435761u};
    struct toec_buffers bufs;

    if (toec_port_open(s->cfg.user, l->owner, &info, &bufs) != 0)
        return -1;
    f->owner = bufs.owner;
    f->rx_size = bufs.rx_size;
    f->rx_at = f->rx_used = f->tx_at = f->got = f->asked = 0;
    f->received = f->sent = 0;
    f->state = FLOW_IDLE;
    s->open++;
    s->i->opened++;
    toec_port_event(s->cfg.user, f->owner, f, TOEC_EV_ESTABLISHED, 0);
    push(&s->ready, f);
    return 0;
}

static void open_some(struct toec_stack *s)
{
    uint32_t most = s->i->answer_size ? s->i->connections : 1, n, l;

    for (l = 0; l < LISTENERS && !s->listeners[l].used; l++)
        ;
    if (l == LISTENERS || s->now < s->open_at)
        return;
    for (n = 0; n < OPEN_BATCH && s->open < most && s->closed.first; n++) {
        struct toec_tcb *f = pop(&s->closed);

        if (flow_open(s, f, &s->listeners[l]) != 0) {
            push(&s->closed, f);
            s->open_at = s->now + OPEN_AGAIN;
            return;
        }
    }
}

static void ask(struct toec_stack *s, struct toec_tcb *f, uint64_t started)
{
    const struct ideal *i = s->i;
    struct toec_packet p = {
        .data = (const toec_u8 *)i->request, .head_len = i->request_size, .len = i->request_size};

    toec_port_place(s->cfg.user, f->owner, f->rx_at, &p, 0, i->request_size);
    f->rx_at += i->request_size;
    f->rx_used += i->request_size;
    f->received += i->request_size;
    f->state = FLOW_ASKED;
    f->started = started;
    f->got = 0;
    f->asked++;
    s->i->asked++;
    toec_port_event(s->cfg.user, f->owner, f, TOEC_EV_DATA, i->request_size);
}

static uint64_t due_at(const struct toec_stack *s, uint64_t number)
{
    return s->due_from + (uint64_t)((double)number * 1e9 / s->i->rate + 0.5);
}

/* Returns whether a request may be sent now, and since when it is due. */
static bool may_ask(struct toec_stack *s, uint64_t *started)
{
    const struct ideal *i = s->i;

    *started = s->now;
    if (!i->t_record)
        return i->answer_size == 0; /* the first answer; all others wait for the start */
    if (i->rate <= 0)
        return s->now < i->t_end;
    *started = due_at(s, s->taken);
    if (*started > s->now || *started >= i->t_end)
        return false;
    s->taken++;
    return true;
}

static void ask_ready(struct toec_stack *s)
{
    struct toec_tcb *f, *last = s->ready.last;
    uint64_t started;

    while ((f = s->ready.first) != NULL) {
        bool is_last = f == last;

        pop(&s->ready);
        if (f->state == FLOW_CLOSED)
            push(&s->closed, f);
        else if (f->state == FLOW_IDLE && f->rx_size - f->rx_used >= s->i->request_size) {
            if (!may_ask(s, &started)) {
                push(&s->ready, f); /* later ones are not due either */
                return;
            }
            ask(s, f, started);
        } /* else toec_recv() queues it again when the host has read */
        if (is_last)
            return;
    }
}

/* Counts a complete answer; ends the connection after its last request. */
static void answered(struct toec_stack *s, struct toec_tcb *f)
{
    struct ideal *i = s->i;

    i->answered++;
    if (in_window(i, f->started))
        hist_record(i->latency, s->now > f->started ? s->now - f->started : 0);
    if (in_window(i, s->now)) {
        i->in_window++;
        i->bytes += f->got;
    }
    if (i->per_connection && f->asked == i->per_connection) {
        f->state = FLOW_ENDED;
        toec_port_event(s->cfg.user, f->owner, f, TOEC_EV_PEER_CLOSED, 0);
        return;
    }
    f->state = FLOW_IDLE;
    push(&s->ready, f);
}

/* ---- the first answer is read ---- */

static void read_first(void *arg, const uint8_t *data, uint32_t n)
{
    struct toec_stack *s = arg;
    size_t used, size;
    const char *body;
    int rc = http_take(&s->first, (const char *)data, n, &used, &body, &size);

    if (rc < 0 || s->first.until_end)
        finish(s, "the first answer is no HTTP answer with a Content-Length");
    else if (rc == 1 && used < n)
        finish(s, "more than one answer came to the first request");
    else if (rc == 1) {
        s->i->status = s->first.status;
        s->i->answer_size = s->learning->got; /* head and body, as sent */
    }
}

/* Fetches the sent bytes as the payload of a frame. */
static void learn(struct toec_stack *s, struct toec_tcb *f, toec_u32 n)
{
    static const toec_u8 no_header[1];
    toec_u32 at;

    s->learning = f;
    ideal_wire_reader(read_first, s);
    for (at = 0; at < n && !s->i->done; at += SNIFF_SIZE) {
        struct toec_tx tx = {.hdr = no_header, .owner = f->owner, .off = f->tx_at + at};

        tx.len = n - at < SNIFF_SIZE ? n - at : SNIFF_SIZE;
        f->got += tx.len;
        toec_port_transmit(s->cfg.user, &tx);
    }
    ideal_wire_reader(NULL, NULL);
}

int toec_send(struct toec_stack *s, struct toec_tcb *f, toec_u32 n, int push_, toec_time now)
{
    (void)push_;
    s->now = now;
    if (f->state == FLOW_ASKED && !s->i->answer_size)
        learn(s, f, n);
    else
        f->got += n;
    f->tx_at += n;
    f->sent += n;
    toec_port_event(s->cfg.user, f->owner, f, TOEC_EV_ACKED, n);
    if (f->state != FLOW_ASKED || !s->i->answer_size)
        return 0;
    if (f->got == s->i->answer_size)
        answered(s, f);
    else if (f->got > s->i->answer_size) {
        s->i->wrong_length++;
        f->state = FLOW_ENDED; /* a later stream could not be distinguished */
        toec_port_event(s->cfg.user, f->owner, f, TOEC_EV_PEER_CLOSED, 0);
    }
    return 0;
}

int toec_recv(struct toec_stack *s, struct toec_tcb *f, toec_u32 n, toec_time now)
{
    s->now = now;
    f->rx_used -= n;
    if (f->state == FLOW_IDLE)
        push(&s->ready, f);
    return 0;
}

int toec_urgent(struct toec_stack *s, struct toec_tcb *f, toec_time now)
{
    (void)s;
    (void)f;
    (void)now;
    return 0;
}

int toec_eor(struct toec_stack *s, struct toec_tcb *flow)
{
    (void)s;
    (void)flow;
    return 0; /* there are no segments */
}

int toec_shutdown(struct toec_stack *s, struct toec_tcb *f, toec_time now)
{
    s->now = now;
    if (f->state != FLOW_ENDED)
        toec_port_event(s->cfg.user, f->owner, f, TOEC_EV_PEER_CLOSED, 0);
    flow_gone(s, f, 0);
    return 0;
}

/*
 * The host closes a connection before it has answered. Before the measurement that is no error: the
 * connections of a server's first process are reset when its workers listen. They open again.
 */
static void count_reset(struct toec_stack *s, const struct toec_tcb *f)
{
    if (f->state != FLOW_ASKED || s->i->done)
        return;
    if (s->i->t_record)
        s->i->reset++;
    else
        s->i->asked--;
    if (f == s->learning)
        http_next(&s->first);
}

int toec_close(struct toec_stack *s, struct toec_tcb *f, toec_time now)
{
    s->now = now;
    count_reset(s, f);
    flow_gone(s, f, 0);
    return 0;
}

int toec_abort(struct toec_stack *s, struct toec_tcb *f, toec_time now)
{
    s->now = now;
    count_reset(s, f);
    flow_gone(s, f, TOEC_R_ABORTED);
    return 0;
}

/* ---- the measurement ---- */

/* The measurement begins when every connection is open. */
static void begin(struct toec_stack *s)
{
    struct ideal *i = s->i;

    if (i->answer_size && s->open == i->connections) {
        i->t_record = s->now + i->warmup_ns;
        i->t_end = i->t_record + i->time_ns;
        s->due_from = s->now;
    } else if (s->now > s->began + i->timeout_ns) {
        finish(s, !i->opened        ? "no program listened, or accepted a connection"
                  : !i->answer_size ? "the first request was not answered"
                                    : "not all connections could be opened");
    }
}

/* Records a missing answer by its age, the lower bound of its latency; in the warm-up only counts
 * it. */
static void unanswered(struct toec_stack *s, uint64_t since)
{
    s->i->unanswered++;
    if (in_window(s->i, since))
        hist_record(s->i->latency, s->now - since);
}

static void record_unanswered(struct toec_stack *s)
{
    struct ideal *i = s->i;
    uint32_t n;

    for (n = 0; n < i->connections; n++)
        if (s->flows[n].state == FLOW_ASKED)
            unanswered(s, s->flows[n].started);
    for (; i->rate > 0 && due_at(s, s->taken) < i->t_end; s->taken++)
        unanswered(s, due_at(s, s->taken));
}

static bool all_answered(const struct toec_stack *s)
{
    return s->i->asked == s->i->answered + s->i->wrong_length + s->i->reset &&
           (s->i->rate <= 0 || due_at(s, s->taken) >= s->i->t_end);
}

toec_time toec_poll(struct toec_stack *s, toec_time now)
{
    struct ideal *i = s->i;

    s->now = now;
    if (i->done)
        return TOEC_NEVER;
    open_some(s);
    if (!i->t_record)
        begin(s);
    ask_ready(s);
    if (i->t_record && now >= i->t_end && (all_answered(s) || now >= i->t_end + i->timeout_ns)) {
        record_unanswered(s);
        finish(s, NULL);
        i->ended = i->t_end;
    }
    /* This engine polls without sleeping. */
    return now;
}

/* ---- other functions that an engine calls ---- */

int toec_connect_from(struct toec_stack *s, const struct toec_addr *local,
                      const struct toec_addr *remote, toec_u16 remote_port, toec_u32 local_port,
                      const struct toec_buffers *bufs, toec_time now, struct toec_tcb **flow)
{
    (void)s;
    (void)local;
    (void)remote;
    (void)remote_port;
    (void)local_port;
    (void)bufs;
    (void)now;
    *flow = NULL;
    return TOEC_E_UNREACH; /* there is no network */
}

int toec_fastopen(struct toec_stack *s, struct toec_tcb *flow, int no_cookie, toec_time now)
{
    (void)s;
    (void)flow;
    (void)no_cookie;
    (void)now;
    return 0;
}

int toec_set_option(struct toec_stack *s, struct toec_tcb *flow, enum toec_option opt,
                    toec_u32 value, toec_time now)
{
    (void)s;
    (void)flow;
    (void)opt;
    (void)value;
    (void)now;
    return 0;
}

int toec_flow_give(struct toec_stack *s, struct toec_tcb *f, void *owner, toec_u32 *extent)
{
    (void)s;
    if (f->rx_used != f->rx_at || f->tx_at || f->got)
        return TOEC_E_INVAL; /* its owner has read or sent */
    f->owner = owner;
    *extent = f->rx_at;
    return 0;
}

void toec_flow_info(const struct toec_stack *s, const struct toec_tcb *f, struct toec_info *out)
{
    const uint8_t *ip = s->cfg.ip;

    memset(out, 0, sizeof(*out));
    out->local = mapped(ip[0], ip[1], ip[2], ip[3]);
    out->remote = mapped(192, 0, 2, (uint8_t)(2 + f->index / 60000));
    out->local_port = s->listeners[0].port;
    out->remote_port = (uint16_t)(PEER_PORT + f->index % 60000);
    out->state = f->state == FLOW_CLOSED ? TOEC_CLOSED : TOEC_ESTABLISHED;
    out->mss_send = out->mss_recv = 1460;
    out->pmtu = 1500;
    out->bytes_sent = out->bytes_acked = f->sent;
    out->bytes_received = f->received;
}

void toec_input(struct toec_stack *s, const struct toec_packet *p, toec_time now)
{
    (void)s;
    (void)p;
    (void)now;
}

const toec_u64 *toec_counters(const struct toec_stack *s)
{
    return s->counters;
}

void toec_usage(const struct toec_stack *s, struct toec_usage *out)
{
    memset(out, 0, sizeof(*out));
    out->flows = s->open;
}

void toec_watch_rtt(struct toec_stack *s, toec_rtt_fn fn)
{
    (void)s; /* there is no network, so no RTT */
    (void)fn;
}

int toec_flow_waits(struct toec_stack *s, const struct toec_tcb *flow)
{
    (void)s;
    (void)flow;
    return -1; /* it has no TIME-WAIT */
}

toec_u32 toec_flow_count(const struct toec_stack *s)
{
    return s->open;
}

/* Flows have no cold state to prefetch. */
void toec_expect(const struct toec_stack *s, const struct toec_packet *p, unsigned n,
                 struct toec_expected *out)
{
    (void)s;
    (void)p;
    memset(out, 0, n * sizeof(*out));
}

unsigned toec_own_addresses(const struct toec_stack *s, struct toec_own_addr *out, unsigned max)
{
    (void)s;
    (void)out;
    (void)max;
    return 0;
}

enum toec_ip4_state toec_ip4_state(const struct toec_stack *s, toec_u8 mac[6])
{
    (void)s;
    memset(mac, 0, 6);
    return TOEC_IP4_OWN;
}

int toec_has_router(const struct toec_stack *s)
{
    (void)s;
    return 0;
}

toec_u32 toec_own_epoch(const struct toec_stack *s)
{
    (void)s;
    return 0;
}

int toec_set_max_gso(struct toec_stack *s, toec_u32 max_gso)
{
    (void)s;
    (void)max_gso;
    return 0;
}

toec_u32 toec_set_mtu(struct toec_stack *s, toec_u32 mtu)
{
    (void)s;
    return mtu;
}

void toec_set_prefix(struct toec_stack *s, unsigned prefix_len)
{
    (void)s;
    (void)prefix_len;
}

/* It has no TIME-WAIT, and its listeners outlive their connections. */
int toec_bind_ok(const struct toec_stack *s, const struct toec_addr *addr, toec_u16 port,
                 unsigned how)
{
    (void)s;
    (void)addr;
    (void)port;
    (void)how;
    return 0;
}

/* Its address is never shared. */
void toec_set_addresses6(struct toec_stack *s, const struct toec_given *given, unsigned n)
{
    (void)s;
    (void)given;
    (void)n;
}

void toec_neighbour(struct toec_stack *s, const struct toec_addr *addr, const toec_u8 *mac,
                    toec_time now)
{
    (void)s;
    (void)addr;
    (void)mac;
    (void)now;
}

void toec_set_ports(struct toec_stack *s, toec_u16 first, toec_u16 last, const toec_u8 *reserved)
{
    (void)s;
    (void)first;
    (void)last;
    (void)reserved;
}

void toec_routes_changed(struct toec_stack *s)
{
    (void)s;
}

void toec_output(struct toec_stack *s, toec_time now)
{
    (void)s;
    (void)now;
}

toec_u16 toec_sum_add(toec_u16 a, toec_u16 b, int odd)
{
    (void)a;
    (void)b;
    (void)odd;
    return 0;
}

toec_u16 toec_sum(const void *data, unsigned long n)
{
    (void)data;
    (void)n;
    return 0;
}

void toec_tx_finish(const struct toec_tx *tx, toec_u8 *frame, toec_u32 frame_len)
{
    (void)tx;
    (void)frame;
    (void)frame_len;
}

toec_u32 toec_rss_hash(const struct toec_addr *a, const struct toec_addr *b, toec_u16 pa,
                       toec_u16 pb)
{
    (void)a;
    (void)b;
    (void)pa;
    (void)pb;
    return 0;
}
