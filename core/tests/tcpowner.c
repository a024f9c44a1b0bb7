/* SPDX-License-Identifier: Apache-2.0 */
/* tcpowner.c - the owners of the connections of tcpsim.h: the port functions, and applications that
 * check every byte. */
#include "tcpsim_parts.h"

#include <endian.h>
#include <stdlib.h>

/* Eight bytes at once: tests of long streams do little else. */
void stream_fill(uint8_t *to, uint32_t seed, uint64_t at, uint32_t n)
{
    while (n) {
        uint64_t x = (at >> 3) * 0x9e3779b97f4a7c15u + seed;
        uint32_t skip = at & 7, part = 8 - skip < n ? 8 - skip : n;

        x ^= x >> 29;
        x *= 0xbf58476d1ce4e5b9u;
        x = htole64(x >> (skip * 8));
        memcpy(to, &x, part);
        to += part;
        at += part;
        n -= part;
    }
}

/* Compares with the stream at that offset; the first different byte ends the test. */
static void stream_check(const uint8_t *is, uint32_t seed, uint64_t at, uint32_t n)
{
    uint8_t want[512];
    uint32_t part, i;

    for (; n; is += part, at += part, n -= part) {
        part = n < sizeof(want) ? n : sizeof(want);
        stream_fill(want, seed, at, part);
        if (memcmp(is, want, part) == 0)
            continue;
        for (i = 0; is[i] == want[i]; i++)
            ;
        fail_msg("byte %llu is wrong", (unsigned long long)(at + i));
    }
}

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
    sim_link(h->sim, h->index, frame, tx->hdr_len + n);
}

/* Segments as a NIC does: lengths, sequence numbers, flags and checksums of each segment. */
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

    if (h->tx_room == 0 || sim_chance(h->tx_fail_1024))
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
    /* Position of the bytes relative to the read offset, across the 32-bit wrap. */
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

/* In two pieces at the end of the ring. */
static void show_sent(void *user, void *owner, toec_u32 off, toec_u32 len, struct toec_mac *mac)
{
    const struct conn *c = owner;
    uint32_t at = off & (c->tx_size - 1), n = c->tx_size - at < len ? c->tx_size - at : len;

    assert_ptr_equal(c->host, user);
    toec_ao_feed(mac, c->tx + at, n);
    toec_ao_feed(mac, c->tx, len - n);
}

static void show_received(void *user, const struct toec_packet *p, toec_u32 off, toec_u32 len,
                          struct toec_mac *mac)
{
    (void)user;
    assert_true(off + len <= p->len && !(p->flags & TOEC_RX_REASSEMBLED));
    toec_ao_feed(mac, p->data + off, len);
}

const struct toec_ao_ops sim_ao = {show_sent, show_received};

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
        c->waits = toec_flow_waits(h->stack, flow);
        c->flow = 0;
        h->open_now--;
        break;
    }
}

/* ---- applications ---- */

struct conn *sim_connect_from(struct sim *s, unsigned from, uint32_t local_port, uint16_t port,
                              int *result)
{
    struct host *h = &s->host[from];
    struct conn *c = conn_new(h, (uint16_t)local_port, port, 1);
    struct toec_addr remote;
    struct toec_buffers b;
    struct toec_info info;
    int r;

    memset(&remote, 0, sizeof(remote));
    remote.b[10] = remote.b[11] = 0xff;
    put32(remote.b + 12, from == 0 ? IP_B : IP_A);
    if (sim_ip6)
        sim_address6(remote.b, from == 0 ? 1 : 0);
    buffers_of(c, &b);
    r = toec_connect_from(h->stack, 0, &remote, port, local_port, &b, s->now, &c->flow);
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
    uint32_t room = c->tx_size - (uint32_t)(c->sent - c->acked), at, first;

    if (!c->flow || c->shut || c->closed)
        return 0;
    if (n > room)
        n = room;
    if (n == 0)
        return 0;
    at = (uint32_t)c->sent & (c->tx_size - 1);
    first = c->tx_size - at < n ? c->tx_size - at : n;
    stream_fill(c->tx + at, c->tx_seed, c->sent, first);
    stream_fill(c->tx, c->tx_seed, c->sent + first, n - first);
    c->sent += n;
    assert_int_equal(toec_send(c->host->stack, c->flow, n, push, c->host->sim->now), 0);
    return n;
}

uint32_t conn_read(struct conn *c, uint32_t n)
{
    uint32_t have = (uint32_t)(c->received - c->read), at, first;

    if (n > have)
        n = have;
    at = (uint32_t)c->read & (c->rx_size - 1);
    first = c->rx_size - at < n ? c->rx_size - at : n;
    stream_check(c->rx + at, c->rx_seed, c->read, first);
    stream_check(c->rx, c->rx_seed, c->read + first, n - first);
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
