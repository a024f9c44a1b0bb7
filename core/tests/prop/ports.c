/* SPDX-License-Identifier: Apache-2.0 */
/* ports.c - the port functions of the stacks, and the owners of flows, which check their events. */
#include <stdlib.h>
#include <string.h>

#include "prop.h"

/* ---- port functions ---- */

/* The payload of a stream is a function of its ISS and of the offset. */
static void payload_fill(struct host *h, uint8_t *to, const struct toec_tx *tx)
{
    const uint8_t *tcp = tx->hdr + tx->csum_start;
    const struct conn *c = tx->owner;
    struct wflow *f = wflow_of(h, (uint16_t)get16(tcp), (uint16_t)get16(tcp + 2));
    uint32_t seq = get32(tcp + 4), i;
    uint32_t iss = (tcp[13] & F_SYN) ? seq : f->iss;

    if (c->gone)
        prop_fail(h->world, "sent after gone", "payload of a flow that is gone");
    if (seq + ((tcp[13] & F_SYN) != 0) - iss - 1 != tx->off)
        prop_fail(h->world, "offset", "segment seq %u is offset %u of ISS %u, fetched at %u", seq,
                  seq - iss - 1, iss, tx->off);
    if ((uint64_t)tx->off + tx->len > (uint32_t)c->sent && c->sent >> 32 == 0)
        prop_fail(h->world, "unannounced", "offset %u + %u sent, %llu announced", tx->off, tx->len,
                  (unsigned long long)c->sent);
    if (tx->off + tx->len - (uint32_t)c->acked > c->tx_size)
        prop_fail(h->world, "freed bytes", "offset %u + %u fetched, acknowledged to %llu", tx->off,
                  tx->len, (unsigned long long)c->acked);
    for (i = 0; i < tx->len; i++)
        to[i] = pattern(iss, tx->off + i);
}

static void send_piece(struct host *h, const struct toec_tx *tx, const uint8_t *hdr,
                       const uint8_t *payload, uint32_t n)
{
    static uint8_t frame[65536 + 256];
    struct toec_tx one = *tx;

    memcpy(frame, hdr, tx->hdr_len);
    memcpy(frame + tx->hdr_len, payload, n);
    one.len = n;
    one.gso_size = 0;
    toec_tx_finish(&one, frame, tx->hdr_len + n);
    wire_out(h, frame, tx->hdr_len + n);
    net_carry(h, frame, tx->hdr_len + n);
}

/* Segments a frame as a NIC does. */
static void send_pieces(struct host *h, const struct toec_tx *tx, const uint8_t *payload)
{
    uint8_t hdr[256];
    uint32_t at;

    for (at = 0; at < tx->len; at += tx->gso_size) {
        uint32_t n = tx->len - at < tx->gso_size ? tx->len - at : tx->gso_size;
        uint8_t *ip = hdr + 14, *tcp = hdr + tx->csum_start;
        uint8_t tail[4] = {0, 6, 0, 0};
        uint16_t pseudo;

        memcpy(hdr, tx->hdr, tx->hdr_len);
        put_length(hdr, tx->hdr_len - tx->csum_start + n);
        put32(tcp + 4, get32(tcp + 4) + at);
        if (at + n < tx->len)
            tcp[13] &= (uint8_t) ~(F_FIN | F_PSH);
        put16(tail + 2, tx->hdr_len - tx->csum_start + n);
        pseudo = toec_sum_add(prop_ip6 ? toec_sum(ip + 8, 32) : toec_sum(ip + 12, 8),
                              toec_sum(tail, 4), 0);
        memcpy(tcp + 16, &pseudo, 2);
        send_piece(h, tx, hdr, payload + at, n);
    }
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    static uint8_t payload[65536];
    struct host *h = user;

    if (h->refuse > 0) {
        h->refuse--;
        h->refused++;
        return -1;
    }
    h->accepted++;
    h->actions++;
    if (tx->len > sizeof(payload) || tx->hdr_len > 200)
        prop_fail(h->world, "frame size", "header %u, payload %u", tx->hdr_len, tx->len);
    if (tx->src)
        memcpy(payload, tx->src->data + tx->off, tx->len);
    else if (tx->len)
        payload_fill(h, payload, tx);
    if (tx->gso_size && tx->len > tx->gso_size)
        send_pieces(h, tx, payload);
    else
        send_piece(h, tx, tx->hdr, payload, tx->len);
    return 0;
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    struct host *h = user;
    struct conn *c = owner;
    uint32_t ahead = off - (uint32_t)c->read, i;

    if (p_off + len > p->len)
        prop_fail(h->world, "place", "beyond the frame: %u + %u of %u", p_off, len, p->len);
    if (c->gone || ahead > c->rx_size || ahead + len > c->rx_size)
        prop_fail(h->world, "place", "offset %u + %u, read to %llu, buffer of %u", off, len,
                  (unsigned long long)c->read, c->rx_size);
    for (i = 0; i < len; i++)
        c->rx[(off + i) & (c->rx_size - 1)] = p->data[p_off + i];
    h->actions++;
}

/* ---- owners ---- */

static struct conn *conn_new(struct host *h, uint16_t lport, uint16_t rport, int active)
{
    struct conn *c = must(calloc(1, sizeof(*c)));

    c->host = h;
    c->lport = lport;
    c->rport = rport;
    c->active = active;
    c->tx_size = h->tx_buf;
    c->rx_size = h->rx_buf;
    c->rx = must(calloc(1, c->rx_size));
    h->conn[h->conns++] = c;
    h->open_now++;
    return c;
}

int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out)
{
    struct host *h = user;
    struct conn *c;

    if (listener_owner != h)
        prop_fail(h->world, "owner", "a listener's owner is not what was given");
    if (h->no_open || h->conns == HOST_CONNS)
        return -1;
    c = conn_new(h, info->local_port, info->remote_port, 0);
    wire_cookie(h, wflow_of(h, info->local_port, info->remote_port));
    out->owner = c;
    out->tx_size = c->tx_size;
    out->rx_size = c->rx_size;
    return 0;
}

static void on_established(struct host *h, struct conn *c)
{
    struct wflow *f = wflow_of(h, c->lport, c->rport);

    if (c->established)
        prop_fail(h->world, "events", "established twice");
    wire_opened(h, f);
    c->established = 1;
    c->iss = f->iss;
    c->irs = f->ack_known ? f->irs : wflow_syn(f) ? wflow_syn(f)->seq : 0;
}

static void on_gone(struct host *h, struct conn *c, uint32_t why)
{
    c->gone = 1;
    c->reason = why;
    c->flow = 0;
    h->open_now--;
    if (why == TOEC_R_RESET && !wflow_of(h, c->lport, c->rport)->rsts_in)
        prop_fail(h->world, "reset", "ended by a RST that its peer has not sent");
    /* RFC 9293 3.10.7.4: in CLOSING and LAST-ACK a RST ends it silently. */
    if (why == TOEC_R_OK && !wflow_of(h, c->lport, c->rport)->rsts_in &&
        (c->acked != c->sent || (!c->peer_closed && !c->closed)))
        prop_fail(h->world, "gone too soon", "ended well with %llu of %llu acknowledged, FIN %s",
                  (unsigned long long)c->acked, (unsigned long long)c->sent,
                  c->peer_closed ? "seen" : "not seen");
    wire_gone(h, wflow_of(h, c->lport, c->rport));
}

static void on_bytes(struct host *h, struct conn *c, enum toec_event ev, uint32_t arg)
{
    struct wflow *f = wflow_of(h, c->lport, c->rport);

    if (!c->established || arg == 0)
        prop_fail(h->world, "events", "event %d of %u bytes", (int)ev, arg);
    if (f->ack_known && f->iss == c->iss) /* our first ACK has shown which of several SYNs it was */
        c->irs = f->irs;
    if (ev == TOEC_EV_ACKED) {
        c->acked += arg;
        if (c->acked > c->sent || (uint32_t)c->acked > f->ack_in - c->iss - 1)
            prop_fail(h->world, "acked", "%llu acknowledged, %llu sent, ACKs received to %u",
                      (unsigned long long)c->acked, (unsigned long long)c->sent,
                      f->ack_in - c->iss - 1);
        return;
    }
    c->received += arg;
    if (c->peer_closed || c->received - c->read > c->rx_size)
        prop_fail(h->world, "events", "%llu received, %llu read, FIN %d",
                  (unsigned long long)c->received, (unsigned long long)c->read, c->peer_closed);
    if (!f->lax && (uint32_t)c->received > wflow_prefix(f) - c->irs - 1)
        prop_fail(h->world, "received", "%llu told, %u came in order",
                  (unsigned long long)c->received, wflow_prefix(f) - c->irs - 1);
}

void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg)
{
    struct host *h = user;
    struct conn *c = owner;

    h->actions++;
    if (c->host != h || c->gone || (c->flow && c->flow != flow))
        prop_fail(h->world, "events", "event %d of a flow that is gone or another's", (int)ev);
    c->flow = flow;
    switch (ev) {
    case TOEC_EV_ESTABLISHED:
        on_established(h, c);
        break;
    case TOEC_EV_DATA:
    case TOEC_EV_ACKED:
        on_bytes(h, c, ev, arg);
        break;
    case TOEC_EV_PEER_CLOSED:
        if (!c->established || c->peer_closed)
            prop_fail(h->world, "events", "the peer closed twice, or too soon");
        c->peer_closed = 1;
        break;
    case TOEC_EV_GONE:
        on_gone(h, c, arg);
        break;
    default:
        break;
    }
}

struct conn *host_connect(struct host *h, uint16_t from, uint16_t to)
{
    struct toec_addr remote;
    struct toec_buffers b;
    struct conn *c;

    if (h->conns == HOST_CONNS)
        return 0;
    c = conn_new(h, from, to, 1);
    own_address(1 - h->index, remote.b);
    b.owner = c;
    b.tx_size = c->tx_size;
    b.rx_size = c->rx_size;
    if (toec_connect(h->stack, &remote, to, from, &b, host_now(h), &c->flow)) {
        c->gone = 1;
        h->open_now--;
        return 0;
    }
    return c;
}

uint64_t conn_recv(struct conn *c, uint64_t n)
{
    uint64_t have = c->received - c->read, i;

    if (n > have)
        n = have;
    for (i = 0; i < n; i++) {
        uint32_t at = (uint32_t)(c->read + i);

        if (c->rx[at & (c->rx_size - 1)] != pattern(c->irs, at))
            prop_fail(c->host->world, "wrong byte", "host %u port %u: byte %u of the stream",
                      c->host->index, c->lport, at);
    }
    c->read += n;
    if (n && c->flow && !c->closed &&
        toec_recv(c->host->stack, c->flow, (toec_u32)n, host_now(c->host)))
        prop_fail(c->host->world, "refused", "reading %llu bytes", (unsigned long long)n);
    c->host->due = c->host->world->now;
    return n;
}

/* Returns the other end of an established connection, while it exists. */
struct conn *conn_partner(struct conn *c)
{
    struct world *w = c->host->world;
    struct host *o = &w->host[1 - c->host->index];
    unsigned i;

    for (i = 0; w->hosts == 2 && i < o->conns; i++) {
        struct conn *p = o->conn[i];

        if (p->lport == c->rport && p->rport == c->lport && p->established && c->established &&
            p->iss == c->irs && p->irs == c->iss && !p->gone)
            return p;
    }
    return 0;
}
