/* SPDX-License-Identifier: Apache-2.0 */
/* tcpsim.c - see tcpsim.h. */
#include "tcpsim.h"

#include <stdio.h>
#include <stdlib.h>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p))
#endif

static void *must(void *p)
{
    if (!p) {
        fprintf(stderr, "tcpsim: out of memory\n");
        abort();
    }
    return p;
}

static uint8_t pattern(uint32_t seed, uint64_t at)
{
    uint64_t x = (at >> 3) * 0x9e3779b97f4a7c15u + seed;

    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (uint8_t)(x >> ((at & 7) * 8));
}

/* ---- frames ---- */

static int earlier(const struct frame *a, const struct frame *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void queue_push(struct sim *s, struct frame *f)
{
    unsigned i;

    if (s->queued == s->queue_room) {
        s->queue_room = s->queue_room ? s->queue_room * 2 : 256;
        s->queue = must(realloc(s->queue, s->queue_room * sizeof(*s->queue)));
    }
    for (i = s->queued++; i > 0 && earlier(f, s->queue[(i - 1) / 2]); i = (i - 1) / 2)
        s->queue[i] = s->queue[(i - 1) / 2];
    s->queue[i] = f;
}

static struct frame *queue_pop(struct sim *s)
{
    struct frame *top = s->queue[0], *last = s->queue[--s->queued];
    unsigned i = 0;

    for (;;) {
        unsigned c = 2 * i + 1;

        if (c >= s->queued)
            break;
        if (c + 1 < s->queued && earlier(s->queue[c + 1], s->queue[c]))
            c++;
        if (!earlier(s->queue[c], last))
            break;
        s->queue[i] = s->queue[c];
        i = c;
    }
    if (s->queued)
        s->queue[i] = last;
    return top;
}

static int chance(unsigned of_1024)
{
    return of_1024 && random_below(1024) < of_1024;
}

void sim_inject(struct sim *s, unsigned to, const uint8_t *frame, uint32_t len)
{
    struct frame *f = must(malloc(sizeof(*f) + len));

    f->at = s->now;
    f->order = s->order++;
    f->to = to;
    f->len = len;
    memcpy(f->data, frame, len);
    queue_push(s, f);
}

static void link_put(struct sim *s, unsigned from, const uint8_t *data, uint32_t len,
                     toec_time held)
{
    struct frame *f = must(malloc(sizeof(*f) + len));
    const struct impair *im = &s->impair;

    f->at = s->now + im->delay + held;
    if (im->jitter)
        f->at += random64() % im->jitter;
    if (chance(im->reorder))
        f->at += im->reorder_by;
    f->order = s->order++;
    f->to = 1 - from;
    f->len = len;
    memcpy(f->data, data, len);
    if (chance(im->corrupt)) {
        uint32_t bit = random_below(len * 8);

        f->data[bit / 8] ^= (uint8_t)(1u << (bit & 7));
    }
    if (s->crafted) {
        if ((data[12] == 8 && data[13] == 6 && data[21] == 1 && data[41] == 2) ||
            (data[12] == 0x86 && data[20] == 58 && data[54] == 135 && data[77] == 2))
            s->arp_asked = 1; /* or neighbour discovery */
        assert_true(s->sent_n < 4096);
        s->sent[s->sent_n++] = f;
    } else {
        queue_push(s, f);
    }
}

static void link_send(struct sim *s, unsigned from, uint8_t *data, uint32_t len)
{
    int64_t held = 0;

    if (!s->crafted && chance(s->impair.lose))
        return;
    if (s->router)
        held = s->router(s, from, data, len);
    if (held < 0)
        return;
    link_put(s, from, data, len, (toec_time)held);
    if (!s->crafted && chance(s->impair.duplicate))
        link_put(s, from, data, len, (toec_time)held);
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v);
}

/* Ones' complement sum over big-endian words, not complemented. */
static uint32_t sum16(const uint8_t *p, size_t n, uint32_t sum)
{
    size_t i;

    for (i = 0; i + 1 < n; i += 2)
        sum += get16(p + i);
    if (n & 1)
        sum += (uint32_t)p[n - 1] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

int sim_ip6;

/* ---- port functions ---- */

static void fetch(uint8_t *to, const struct conn *c, uint32_t off, uint32_t len)
{
    uint32_t at = off & (c->tx_size - 1), n = c->tx_size - at < len ? c->tx_size - at : len;

    memcpy(to, c->tx + at, n);
    memcpy(to + n, c->tx, len - n);
}

/* One frame of hdr and n payload bytes from p, checksum completed. */
static void send_one(struct host *h, const struct toec_tx *tx, const uint8_t *hdr, const uint8_t *p,
                     uint32_t n)
{
    static uint8_t frame[65536 + 128];
    struct toec_tx one = *tx;

    memcpy(frame, hdr, tx->hdr_len);
    memcpy(frame + tx->hdr_len, p, n);
    one.len = n;
    one.gso_size = 0;
    toec_tx_finish(&one, frame, tx->hdr_len + n);
    link_send(h->sim, h->index, frame, tx->hdr_len + n);
}

/* Segmentation as a NIC does it: lengths, sequence numbers, flags and sums of each piece. */
static void segment(struct host *h, const struct toec_tx *tx, const uint8_t *payload)
{
    uint8_t hdr[128];
    uint32_t at, l4 = sim_ip6 ? 54 : 34;

    for (at = 0; at < tx->len; at += tx->gso_size) {
        uint32_t n = tx->len - at < tx->gso_size ? tx->len - at : tx->gso_size;
        uint8_t *ip = hdr + 14, *tcp = hdr + l4;
        uint16_t pseudo;
        uint8_t tail[4] = {0, 6, 0, 0};

        memcpy(hdr, tx->hdr, tx->hdr_len);
        if (sim_ip6) {
            put16(ip + 4, tx->hdr_len - l4 + n);
        } else {
            put16(ip + 2, tx->hdr_len - 14u + n);
            put16(ip + 10, 0);
            put16(ip + 10, ~sum16(ip, 20, 0));
        }
        put32(tcp + 4, get32(tcp + 4) + at);
        if (at + n < tx->len)
            tcp[13] &= (uint8_t) ~(F_FIN | F_PSH);
        put16(tail + 2, tx->hdr_len - l4 + n);
        pseudo = toec_sum_add(sim_ip6 ? toec_sum(ip + 8, 32) : toec_sum(ip + 12, 8),
                              toec_sum(tail, 4), 0);
        memcpy(tcp + 16, &pseudo, 2);
        send_one(h, tx, hdr, payload + at, n);
    }
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    struct host *h = user;
    static uint8_t payload[65536];

    if (h->tx_room == 0 || chance(h->tx_fail_1024))
        return -1;
    if (h->tx_room > 0)
        h->tx_room--;
    assert_true(tx->len <= sizeof(payload));
    if (tx->src)
        memcpy(payload, tx->src->data + tx->off, tx->len);
    else if (tx->len)
        fetch(payload, tx->owner, tx->off, tx->len);
    if (tx->gso_size && tx->len > tx->gso_size)
        segment(h, tx, payload);
    else
        send_one(h, tx, tx->hdr, payload, tx->len);
    return 0;
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    struct host *h = user;
    struct conn *c = owner;
    /* Where the bytes stand relative to what was read, over 32 bits' wrap. */
    uint32_t ahead = off - (uint32_t)c->read;
    uint32_t at, n;

    assert_true(p_off + len <= p->len);
    if (ahead + len > c->rx_size || ahead > c->rx_size)
        h->sim->place_violations++; /* over unread bytes, or beyond the buffer */
    at = off & (c->rx_size - 1);
    n = c->rx_size - at < len ? c->rx_size - at : len;
    memcpy(c->rx + at, p->data + p_off, n);
    memcpy(c->rx, p->data + p_off + n, len - n);
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

static struct conn *conn_new(struct host *h, uint16_t lport, uint16_t rport, int active)
{
    struct conn *c = must(calloc(1, sizeof(*c)));
    uint32_t up = (uint32_t)lport << 16 | rport, down = (uint32_t)rport << 16 | lport;

    c->host = h;
    c->tx_size = h->tx_buf;
    c->rx_size = h->rx_buf;
    c->tx = must(calloc(1, c->tx_size));
    c->rx = must(calloc(1, c->rx_size));
    c->local_port = lport;
    c->remote_port = rport;
    c->tx_seed = up;
    c->rx_seed = down;
    (void)active;
    c->next = h->conns;
    h->conns = c;
    h->opened++;
    h->open_now++;
    return c;
}

static void buffers_of(struct conn *c, struct toec_buffers *b)
{
    b->owner = c;
    b->tx_size = c->tx_size;
    b->rx_size = c->rx_size;
}

int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out)
{
    struct host *h = user;

    assert_ptr_equal(listener_owner, h);
    if (h->refuse_opens || (h->max_open && h->open_now >= h->max_open))
        return -1;
    buffers_of(conn_new(h, info->local_port, info->remote_port, 0), out);
    return 0;
}

void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg)
{
    struct conn *c = owner;
    struct host *h = user;

    assert_ptr_equal(c->host, h);
    assert_false(c->gone);
    if (c->flow)
        assert_ptr_equal(c->flow, flow);
    c->flow = flow;
    switch (ev) {
    case TOEC_EV_ESTABLISHED:
        assert_false(c->established);
        c->established = 1;
        break;
    case TOEC_EV_DATA:
        assert_true(c->established && !c->peer_closed && arg > 0);
        c->received += arg;
        assert_true(c->received - c->read <= c->rx_size);
        break;
    case TOEC_EV_ACKED:
        assert_true(c->established && arg > 0);
        c->acked += arg;
        assert_true(c->acked <= c->sent);
        break;
    case TOEC_EV_PEER_CLOSED:
        assert_true(c->established && !c->peer_closed);
        c->peer_closed = 1;
        break;
    case TOEC_EV_URGENT:
        c->urgent++;
        c->urgent_at = arg;
        break;
    case TOEC_EV_ERROR:
        c->error = arg;
        break;
    case TOEC_EV_GONE:
        c->gone = 1;
        c->gone_reason = arg;
        c->flow = 0;
        h->open_now--;
        break;
    }
}

/* ---- applications ---- */

static void own_ip6(uint8_t *b, unsigned host)
{
    memset(b, 0, 16);
    b[0] = 0xfd;
    b[15] = (uint8_t)(host + 1);
}

struct conn *sim_connect_from(struct sim *s, unsigned from, uint16_t local_port, uint16_t port,
                              int *result)
{
    struct host *h = &s->host[from];
    struct conn *c = conn_new(h, local_port, port, 1);
    struct toec_addr remote;
    struct toec_buffers b;
    struct toec_info info;
    int r;

    memset(&remote, 0, sizeof(remote));
    remote.b[10] = remote.b[11] = 0xff;
    put32(remote.b + 12, from == 0 ? IP_B : IP_A);
    if (sim_ip6)
        own_ip6(remote.b, from == 0 ? 1 : 0);
    buffers_of(c, &b);
    r = toec_connect(h->stack, &remote, port, local_port, &b, s->now, &c->flow);
    if (result)
        *result = r;
    else
        assert_int_equal(r, 0);
    if (r) {
        c->gone = 1;
        h->open_now--;
        return c;
    }
    toec_flow_info(h->stack, c->flow, &info);
    c->local_port = info.local_port;
    c->tx_seed = (uint32_t)info.local_port << 16 | port;
    c->rx_seed = (uint32_t)port << 16 | info.local_port;
    return c;
}

struct conn *sim_connect(struct sim *s, unsigned from, uint16_t port)
{
    return sim_connect_from(s, from, 0, port, 0);
}

void sim_listen(struct sim *s, unsigned host, uint16_t port, uint32_t backlog, uint32_t *id)
{
    struct host *h = &s->host[host];
    struct toec_addr any;
    toec_u32 got;

    memset(&any, 0, sizeof(any));
    assert_int_equal(toec_listen(h->stack, &any, port, h, backlog, &got), 0);
    if (id)
        *id = got;
}

uint32_t conn_write(struct conn *c, uint32_t n, int push)
{
    uint32_t room = c->tx_size - (uint32_t)(c->sent - c->acked), i;

    if (!c->flow || c->shut || c->closed)
        return 0;
    if (n > room)
        n = room;
    if (n == 0)
        return 0;
    for (i = 0; i < n; i++)
        c->tx[(c->sent + i) & (c->tx_size - 1)] = pattern(c->tx_seed, c->sent + i);
    c->sent += n;
    assert_int_equal(toec_send(c->host->stack, c->flow, n, push, c->host->sim->now), 0);
    return n;
}

uint32_t conn_read(struct conn *c, uint32_t n)
{
    uint32_t have = (uint32_t)(c->received - c->read), i;

    if (n > have)
        n = have;
    for (i = 0; i < n; i++) {
        if (c->rx[(c->read + i) & (c->rx_size - 1)] != pattern(c->rx_seed, c->read + i)) {
            fail_msg("byte %llu is wrong", (unsigned long long)(c->read + i));
            return 0;
        }
    }
    c->read += n;
    if (n && c->flow && !c->closed)
        assert_int_equal(toec_recv(c->host->stack, c->flow, n, c->host->sim->now), 0);
    return n;
}

void conn_shutdown(struct conn *c)
{
    if (!c->flow || c->shut || c->closed)
        return;
    c->shut = 1;
    assert_int_equal(toec_shutdown(c->host->stack, c->flow, c->host->sim->now), 0);
}

void conn_close(struct conn *c)
{
    if (!c->flow || c->closed)
        return;
    c->closed = 1;
    assert_int_equal(toec_close(c->host->stack, c->flow, c->host->sim->now), 0);
}

void conn_abort(struct conn *c)
{
    if (!c->flow)
        return;
    c->closed = 1;
    assert_int_equal(toec_abort(c->host->stack, c->flow, c->host->sim->now), 0);
}

struct conn *conn_peer(struct conn *c)
{
    struct sim *s = c->host->sim;
    struct conn *p;

    for (p = s->host[1 - c->host->index].conns; p; p = p->next) {
        if (p->local_port == c->remote_port && p->remote_port == c->local_port && !p->gone)
            return p;
    }
    return 0;
}

/* ---- running ---- */

void sim_init(struct sim *s, unsigned hosts)
{
    unsigned i, j;

    memset(s, 0, sizeof(*s));
    s->hosts = hosts;
    s->now = 1000 * SEC;
    s->impair.delay = 50 * USEC;
    s->retry = 10 * USEC;
    for (i = 0; i < hosts; i++) {
        struct host *h = &s->host[i];

        h->sim = s;
        h->index = i;
        h->tx_buf = 65536;
        h->rx_buf = 65536;
        h->tx_room = -1;
        h->cfg.user = h;
        h->cfg.mac[0] = 2;
        h->cfg.mac[5] = (uint8_t)(i + 1);
        put32(h->cfg.ip, IP_A + i);
        h->cfg.prefix_len = 24;
        if (sim_ip6) {
            put32(h->cfg.ip, 0);
            h->cfg.ip6 = TOEC_IP6_STATIC;
            own_ip6(h->cfg.ip6_addr, i);
            h->cfg.ip6_prefix_len = 64;
        }
        for (j = 0; j < 32; j++)
            h->cfg.secret[j] = (uint8_t)(j * 7 + i * 31 + 1);
    }
}

/* Duplicate address detection on a perfect link, so that a run begins with addresses. */
static void settle_addresses(struct sim *s)
{
    const struct impair perfect = {0, 0, 0, 0, 50 * USEC, 0, 0}, asked = s->impair;
    unsigned i, fail[2];

    s->impair = perfect;
    for (i = 0; i < s->hosts; i++) {
        fail[i] = s->host[i].tx_fail_1024;
        s->host[i].tx_fail_1024 = 0;
    }
    sim_run(s, 4 * SEC);
    for (i = 0; i < s->hosts; i++)
        s->host[i].tx_fail_1024 = fail[i];
    s->impair = asked;
}

/* Memory of stacks is kept from one simulation to the next of the same size: mapping it anew would
 * be most of a short one. AddressSanitizer sees who uses it in between. */
static struct {
    void *mem;
    unsigned long size;
} kept[2];

static void *stack_memory(unsigned i, unsigned long size)
{
    void *mem = kept[i].mem;

    if (mem)
        ASAN_UNPOISON_MEMORY_REGION(mem, kept[i].size);
    kept[i].mem = NULL;
    if (mem && kept[i].size == size)
        return mem;
    free(mem);
    return must(aligned_alloc(64, (size + 63) / 64 * 64));
}

static void keep_stack_memory(unsigned i, void *mem, unsigned long size)
{
    if (kept[i].mem) {
        free(mem);
        return;
    }
    kept[i].mem = mem;
    kept[i].size = size;
    ASAN_POISON_MEMORY_REGION(mem, size);
}

void sim_start(struct sim *s)
{
    unsigned i;

    for (i = 0; i < s->hosts; i++) {
        struct host *h = &s->host[i];

        h->mem_size = toec_size(&h->cfg);
        assert_true(h->mem_size > 0);
        h->mem = stack_memory(i, h->mem_size);
        memset(h->mem, 0xa5, h->mem_size);
        h->stack = toec_init(h->mem, h->mem_size, &h->cfg, s->now);
        assert_non_null(h->stack);
        h->deadline = s->now;
    }
    if (sim_ip6)
        settle_addresses(s);
}

void sim_stop(struct sim *s)
{
    unsigned i;

    for (i = 0; i < s->hosts; i++) {
        struct conn *c = s->host[i].conns, *next;

        for (; c; c = next) {
            next = c->next;
            free(c->tx);
            free(c->rx);
            free(c);
        }
        keep_stack_memory(i, s->host[i].mem, s->host[i].mem_size);
    }
    while (s->queued)
        free(queue_pop(s));
    free(s->queue);
    for (i = 0; i < s->sent_n; i++)
        free(s->sent[i]);
}

static void host_input(struct sim *s, struct host *h, const uint8_t *data, uint32_t len)
{
    struct toec_packet p;

    memset(&p, 0, sizeof(p));
    p.data = data;
    p.head_len = len;
    p.len = len;
    toec_input(h->stack, &p, s->now);
}

/* Ethernet and IP from the crafted peer to host 0, with len bytes to follow; their length. */
static uint32_t peer_headers(struct sim *s, uint8_t *f, unsigned proto, uint32_t len)
{
    uint8_t *ip = f + 14;

    memset(f, 0, 54);
    memcpy(f, s->host[0].cfg.mac, 6);
    f[6] = 2;
    f[11] = 2;
    if (sim_ip6) {
        put16(f + 12, 0x86dd);
        put32(ip, 6u << 28 | (uint32_t)s->peer_tos << 20);
        put16(ip + 4, len);
        ip[6] = (uint8_t)proto;
        ip[7] = 64;
        own_ip6(ip + 8, 1);
        own_ip6(ip + 24, 0);
        return 54;
    }
    put16(f + 12, 0x0800);
    ip[0] = 0x45;
    ip[1] = s->peer_tos;
    put16(ip + 2, 20 + len);
    put16(ip + 6, 0x4000);
    ip[8] = 64;
    ip[9] = (uint8_t)proto;
    put32(ip + 12, IP_B);
    put32(ip + 16, IP_A);
    put16(ip + 10, ~sum16(ip, 20, 0));
    return 34;
}

/* Of the pseudo-header: of IPv6 (RFC 8200 8.1) the upper halves of its long fields are 0. */
static uint32_t pseudo_sum(const uint8_t *ip, unsigned proto, uint32_t len)
{
    return sim_ip6 ? sum16(ip + 8, 32, proto + len) : sum16(ip + 12, 8, proto + len);
}

void craft_icmp6(struct sim *s, const uint8_t *src, unsigned hops, const uint8_t *message,
                 uint32_t len)
{
    uint8_t f[54 + 1280], *icmp = f + 54;

    assert_true(sim_ip6 && len <= 1280);
    peer_headers(s, f, 58, len);
    f[21] = (uint8_t)hops;
    if (src)
        memcpy(f + 22, src, 16);
    memcpy(icmp, message, len);
    put16(icmp + 2, 0);
    put16(icmp + 2, ~sum16(icmp, len, pseudo_sum(f + 14, 58, len)));
    host_input(s, &s->host[0], f, 54 + len);
}

/* A neighbour discovery message of the peer about itself (136) or to host 0 (135). */
static void nd_tell(struct sim *s, unsigned type, unsigned target, uint32_t flags)
{
    uint8_t m[32] = {0};

    m[0] = (uint8_t)type;
    put32(m + 4, flags);
    own_ip6(m + 8, target);
    m[24] = type == 136 ? 2 : 1; /* whose link-layer address follows */
    m[25] = 1;
    m[26] = 2;
    m[31] = 2;
    craft_icmp6(s, 0, 255, m, sizeof(m));
}

/* The crafted peer is 02:00:00:00:00:02 at IP_B. */
static void arp_answer(struct sim *s)
{
    static const uint8_t reply[42] = {2,  0, 0, 0, 0, 1, 2, 0, 0, 0, 0,  2, 8, 6,
                                      0,  1, 8, 0, 6, 4, 0, 2, 2, 0, 0,  0, 0, 2,
                                      10, 0, 0, 2, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1};

    if (s->arp_asked && !s->peer_silent) {
        s->arp_asked = 0;
        if (sim_ip6)
            nd_tell(s, 136, 1, 0x60000000); /* solicited, override */
        else
            host_input(s, &s->host[0], reply, sizeof(reply));
    }
}

static void host_poll(struct sim *s, struct host *h)
{
    h->deadline = toec_poll(h->stack, s->now);
    if (s->arp_asked && !s->peer_silent) {
        arp_answer(s);
        h->deadline = toec_poll(h->stack, s->now);
    }
    /* `now` asks to be called again when transmit has room: a little later here. */
    if (h->deadline <= s->now)
        h->deadline = s->now + s->retry;
}

int sim_step(struct sim *s, toec_time until)
{
    toec_time next = TOEC_NEVER;
    unsigned i;

    for (i = 0; i < s->hosts; i++) {
        if (s->host[i].deadline < next)
            next = s->host[i].deadline;
    }
    if (s->queued && s->queue[0]->at < next)
        next = s->queue[0]->at;
    if (next == TOEC_NEVER || next > until) {
        s->now = until;
        return 0;
    }
    if (next > s->now)
        s->now = next;
    while (s->queued && s->queue[0]->at <= s->now) {
        struct frame *f = queue_pop(s);

        host_input(s, &s->host[f->to], f->data, f->len);
        s->host[f->to].deadline = s->now;
        s->delivered++;
        free(f);
    }
    for (i = 0; i < s->hosts; i++) {
        if (s->host[i].deadline <= s->now)
            host_poll(s, &s->host[i]);
    }
    return 1;
}

void sim_run(struct sim *s, toec_time duration)
{
    toec_time until = s->now + duration;
    unsigned i;

    for (i = 0; i < s->hosts; i++)
        s->host[i].deadline = s->now;
    while (sim_step(s, until))
        ;
}

uint64_t sim_count(const struct sim *s, unsigned host, enum toec_counter c)
{
    return toec_counters(s->host[host].stack)[c];
}

void sim_assert_clean(struct sim *s)
{
    unsigned i;

    for (i = 0; i < s->hosts; i++) {
        struct host *h = &s->host[i];
        struct toec_usage u;
        struct conn *c;

        toec_usage(h->stack, &u);
        assert_int_equal(u.flows, 0);
        assert_int_equal(u.half_open, 0);
        assert_int_equal(u.time_wait, 0);
        for (c = h->conns; c; c = c->next)
            assert_true(c->gone);
        assert_int_equal(h->open_now, 0);
    }
    assert_int_equal(s->place_violations, 0);
}

/* ---- crafted segments ---- */

void craft_init(struct sim *s)
{
    sim_init(s, 1);
    s->crafted = 1;
    s->impair.delay = 0;
    /* Dialogues count timeouts: segments stay as long as they are, unless a test has it so. */
    s->host[0].cfg.mtu_probing = TOEC_MTU_PROBING_OFF;
}

void craft_start(struct sim *s)
{
    static const uint8_t arp[42] = {2,  0, 0, 0, 0, 1, 2, 0, 0, 0, 0,  2, 8, 6,
                                    0,  1, 8, 0, 6, 4, 0, 1, 2, 0, 0,  0, 0, 2,
                                    10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1};

    sim_start(s);
    craft_pass(s, 10 * SEC); /* announcements */
    if (sim_ip6)
        nd_tell(s, 135, 0, 0);
    else
        host_input(s, &s->host[0], arp, sizeof(arp));
    craft_poll(s);
    s->sent_read = s->sent_n;
}

struct tseg seg_make(uint16_t sport, uint16_t dport, unsigned flags, uint32_t seq, uint32_t ack)
{
    struct tseg g;

    memset(&g, 0, sizeof(g));
    g.sport = sport;
    g.dport = dport;
    g.flags = flags;
    g.seq = seq;
    g.ack = ack;
    g.wnd = 65535;
    g.mss = -1;
    g.wscale = -1;
    g.fo_len = -1;
    g.payload_seed = (uint32_t)sport << 16 | dport;
    return g;
}

void craft_send_raw(struct sim *s, const uint8_t *tcp, uint32_t len)
{
    static uint8_t f[54 + 16384];
    uint32_t l4 = peer_headers(s, f, 6, len);

    assert_true(len <= 16384);
    memcpy(f + l4, tcp, len);
    put16(f + l4 + 16, 0);
    put16(f + l4 + 16, ~sum16(f + l4, len, pseudo_sum(f + 14, 6, len)));
    host_input(s, &s->host[0], f, l4 + len);
}

static uint32_t seg_write(uint8_t *t, const struct tseg *g)
{
    uint8_t *o = t + 20;
    uint32_t i, hlen;

    put16(t, g->sport);
    put16(t + 2, g->dport);
    put32(t + 4, g->seq);
    put32(t + 8, g->ack);
    t[13] = (uint8_t)g->flags;
    put16(t + 14, g->wnd);
    put32(t + 16, 0);
    put16(t + 18, g->urg);
    if (g->mss >= 0) {
        *o++ = 2;
        *o++ = 4;
        put16(o, (uint32_t)g->mss);
        o += 2;
    }
    if (g->sack_ok) {
        *o++ = 4;
        *o++ = 2;
    }
    if (g->has_ts) {
        *o++ = 8;
        *o++ = 10;
        put32(o, g->tsval);
        put32(o + 4, g->tsecr);
        o += 8;
    }
    if (g->wscale >= 0) {
        *o++ = 3;
        *o++ = 3;
        *o++ = (uint8_t)g->wscale;
    }
    if (g->fo_len >= 0) {
        *o++ = 34;
        *o++ = (uint8_t)(2 + g->fo_len);
        memcpy(o, g->fo, (size_t)g->fo_len);
        o += g->fo_len;
    }
    if (g->uto) {
        *o++ = 28;
        *o++ = 4;
        put16(o, g->uto);
        o += 2;
    }
    if (g->n_sack) {
        *o++ = 5;
        *o++ = (uint8_t)(2 + 8 * g->n_sack);
        for (i = 0; i < g->n_sack; i++) {
            put32(o, g->sack[i][0]);
            put32(o + 4, g->sack[i][1]);
            o += 8;
        }
    }
    while ((o - t) & 3)
        *o++ = 1;
    hlen = (uint32_t)(o - t);
    t[12] = (uint8_t)(hlen / 4 << 4);
    for (i = 0; i < g->len; i++)
        o[i] = g->payload ? g->payload[i] : pattern(g->payload_seed, g->payload_at + i);
    return hlen + g->len;
}

void craft_send(struct sim *s, const struct tseg *g)
{
    static uint8_t t[16384];

    craft_send_raw(s, t, seg_write(t, g));
}

/* RFC 4443 2.4: as much of the packet as comes; here the header of TCP. */
static void craft_error6(struct sim *s, unsigned type, unsigned code, uint32_t rest,
                         const uint8_t *tcp)
{
    uint8_t m[8 + 40 + 20] = {0}, *in = m + 8;

    m[0] = (uint8_t)type;
    m[1] = (uint8_t)code;
    put32(m + 4, rest);
    in[0] = 0x60;
    put16(in + 4, 960);
    in[6] = 6;
    in[7] = 60;
    own_ip6(in + 8, 0);
    own_ip6(in + 24, 1);
    memcpy(in + 40, tcp, 20);
    craft_icmp6(s, 0, 64, m, sizeof(m));
}

void craft_icmp(struct sim *s, unsigned type, unsigned code, uint32_t rest,
                const struct tseg *quoted)
{
    uint8_t f[54 + 36], tcp[2048];
    uint8_t *icmp = f + 34, *in = icmp + 8;

    seg_write(tcp, quoted);
    if (sim_ip6) {
        craft_error6(s, type, code, rest, tcp);
        return;
    }
    memset(f, 0, sizeof(f));
    peer_headers(s, f, 1, 36);
    icmp[0] = (uint8_t)type;
    icmp[1] = (uint8_t)code;
    put32(icmp + 4, rest);
    in[0] = 0x45;
    put16(in + 2, 1000);
    put16(in + 6, 0x4000);
    in[8] = 64;
    in[9] = 6;
    put32(in + 12, IP_A);
    put32(in + 16, IP_B);
    put16(in + 10, ~sum16(in, 20, 0));
    memcpy(in + 20, tcp, 8);
    put16(icmp + 2, ~sum16(icmp, 36, 0));
    host_input(s, &s->host[0], f, 34 + 36);
}

void craft_poll(struct sim *s)
{
    host_poll(s, &s->host[0]);
}

void craft_pass(struct sim *s, toec_time ns)
{
    sim_run(s, ns);
}

void craft_forget(struct sim *s)
{
    while (s->sent_n)
        free(s->sent[--s->sent_n]);
    s->sent_read = 0;
}

static void parse_options(const uint8_t *o, uint32_t n, struct tseg *g)
{
    uint32_t i = 0, j;

    while (i < n && o[i] != 0) {
        if (o[i] == 1) {
            i++;
            continue;
        }
        switch (o[i]) {
        case 2:
            g->mss = (int)get16(o + i + 2);
            break;
        case 3:
            g->wscale = o[i + 2];
            break;
        case 4:
            g->sack_ok = 1;
            break;
        case 5:
            g->n_sack = (o[i + 1] - 2u) / 8;
            for (j = 0; j < g->n_sack; j++) {
                g->sack[j][0] = get32(o + i + 2 + 8 * j);
                g->sack[j][1] = get32(o + i + 6 + 8 * j);
            }
            break;
        case 8:
            g->has_ts = 1;
            g->tsval = get32(o + i + 2);
            g->tsecr = get32(o + i + 6);
            break;
        case 28:
            g->uto = get16(o + i + 2);
            break;
        case 34:
            g->fo_len = o[i + 1] - 2;
            memcpy(g->fo, o + i + 2, (size_t)g->fo_len);
            break;
        default:
            break;
        }
        assert_true(o[i + 1] >= 2);
        i += o[i + 1];
    }
}

int craft_next(struct sim *s, struct tseg *g)
{
    while (s->sent_read < s->sent_n) {
        const struct frame *f = s->sent[s->sent_read++];
        const uint8_t *ip = f->data + 14, *t = ip + (sim_ip6 ? 40 : 20);
        uint32_t hlen, total;
        uint8_t own[16];

        if (get16(f->data + 12) != (sim_ip6 ? 0x86ddu : 0x0800u) || ip[sim_ip6 ? 6 : 9] != 6)
            continue;
        total = sim_ip6 ? get16(ip + 4) : get16(ip + 2) - 20u;
        hlen = (t[12] >> 4) * 4u;
        /* RFC 9293 MUST-2: the checksum of everything sent; MUST-44, MUST-45: from one address */
        assert_int_equal(sum16(t, total, pseudo_sum(ip, 6, total)), 0xffff);
        own_ip6(own, 0);
        if (sim_ip6)
            assert_memory_equal(ip + 8, own, 16);
        else
            assert_int_equal(get32(ip + 12), IP_A);
        *g =
            seg_make((uint16_t)get16(t), (uint16_t)get16(t + 2), t[13], get32(t + 4), get32(t + 8));
        g->wnd = get16(t + 14);
        g->urg = (uint16_t)get16(t + 18);
        g->len = total - hlen;
        g->payload = t + hlen;
        g->tos = sim_ip6 ? (uint8_t)(get16(ip) >> 4) : ip[1];
        g->df = sim_ip6 || (ip[6] & 0x40) != 0;
        parse_options(t + 20, hlen - 20, g);
        return 1;
    }
    return 0;
}

struct tseg craft_expect(struct sim *s)
{
    struct tseg g;

    if (!craft_next(s, &g)) {
        memset(&g, 0, sizeof(g));
        fail_msg("a segment should have been sent");
    }
    return g;
}

void craft_expect_none(struct sim *s)
{
    struct tseg g;

    if (craft_next(s, &g))
        fail_msg("unexpected segment: flags %x seq %u ack %u len %u", g.flags, g.seq, g.ack, g.len);
}
