/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - the stacks at the two ends of a flow, and their port functions (host.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/cc/tcp_cc.h"
#include "../src/tcp/tcp.h"
#include "app.h"
#include "event.h"
#include "host.h"
#include "link.h"

#define PORT 80

int flow_cc(const char *name, unsigned *index)
{
    unsigned i;

    for (i = 0; i < TOEC_CC_COUNT; i++) {
        if (toec_cc_get(i) && strcmp(toec_cc_get(i)->name, name) == 0) {
            *index = i;
            return 0;
        }
    }
    return -1;
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

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---- transmit ---- */

/* Writes the header of the segment that begins `at` bytes into an offloaded send. */
static void cut(struct packet *p, const struct toec_tx *tx, uint32_t at, uint32_t n)
{
    uint8_t *tcp = p->hdr + tx->csum_start;

    if (p->hdr[12] == 0x86)
        put16(p->hdr + 18, tx->hdr_len - 54u + n); /* IPv6 payload length */
    else
        put16(p->hdr + 16, tx->hdr_len - 14u + n);
    put32(tcp + 4, get32(tcp + 4) + at);
    if (at + n < tx->len)
        tcp[13] &= (uint8_t)~0x09; /* FIN, PSH */
    if (at)
        tcp[13] &= (uint8_t)~0x80; /* CWR only in the first segment */
}

/* Returns whether a packet is link-local: ARP, neighbour discovery, MLD reports. */
static int is_local(const struct packet *p)
{
    if (p->hdr[12] == 0x08)
        return p->hdr[13] == 0x06;
    return p->hdr[20] == 0 || (p->hdr[20] == 58 && p->hdr[54] > 129);
}

/* Sends a packet, over the sender's access link if that has a rate. */
static void leave(struct host *h, struct packet *p)
{
    struct net *n = h->net;
    struct flow *f = h->flow;
    toec_time takes;

    if (p->data == 0 && is_local(p)) { /* as over a switch: it does not cross the bottleneck */
        event_push(n, n->now + USEC, EV_ARRIVE, p);
        return;
    }
    if (!h->sender || f->access <= 0) {
        link_enter(h->sender ? f->fwd : f->rev, p);
        return;
    }
    takes = (toec_time)(p->len * 8e9 / f->access);
    if (h->access_free < n->now)
        h->access_free = n->now;
    h->access_free += takes;
    event_push(n, h->access_free, EV_ENTER, p);
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    struct host *h = user;
    uint32_t at = 0;

    if (h->settling)
        return 0;
    do {
        struct packet *p = packet_new(h->net);
        uint32_t n = tx->len - at;

        if (tx->gso_size && n > tx->gso_size)
            n = tx->gso_size;
        if (tx->hdr_len > sizeof(p->hdr)) {
            fprintf(stderr, "netsim: a header of %u bytes\n", tx->hdr_len);
            abort();
        }
        memcpy(p->hdr, tx->hdr, tx->hdr_len);
        if (tx->gso_size && tx->len > tx->gso_size)
            cut(p, tx, at, n);
        p->from = h;
        p->hdr_len = tx->hdr_len;
        p->len = tx->hdr_len + n;
        p->off = tx->off + at;
        p->data = n;
        if (n == 0 && is_local(p))
            toec_tx_finish(tx, p->hdr, p->hdr_len);
        leave(h, p);
        at += n;
    } while (at < tx->len);
    return 0;
}

/* ---- receive ---- */

void host_arrive(struct packet *p)
{
    struct flow *f = p->from->flow;
    struct host *to = p->from->sender ? &f->b : &f->a;
    struct toec_packet in;

    memset(&in, 0, sizeof(in));
    in.data = p->hdr;
    in.head_len = p->hdr_len;
    in.len = p->len;
    in.flags = TOEC_RX_L4_CSUM_OK | TOEC_RX_IP_CSUM_OK;
    toec_input(to->stack, &in, f->net->now);
    packet_free(f->net, p);
    app_work(f);
    host_poll(to);
}

void host_poll(struct host *h)
{
    struct net *n = h->net;
    toec_time due = toec_poll(h->stack, n->now);

    if (app_work(h->flow))
        due = toec_poll(h->stack, n->now);
    if (due == TOEC_NEVER)
        return;
    if (due <= n->now)
        due = n->now + USEC;
    if (h->scheduled > n->now && h->scheduled <= due)
        return; /* an earlier event is scheduled */
    h->scheduled = due;
    event_push(n, due, EV_POLL, h);
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    (void)user;
    (void)owner;
    (void)off;
    (void)p;
    (void)p_off;
    (void)len;
}

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    (void)user;
    if (p_off + len <= p->head_len) /* ICMPv6 has no further payload */
        return toec_sum((const uint8_t *)p->data + p_off, len);
    fprintf(stderr,
            "netsim: core/ verifies a checksum that TOEC_RX_L4_CSUM_OK has declared valid\n");
    abort();
}

void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len)
{
    (void)user;
    (void)p;
    (void)p_off;
    memset(dst, 0, len);
}

int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out)
{
    struct host *h = user;

    (void)listener_owner;
    (void)info;
    if (h->sender || h->tcb)
        return -1;
    out->owner = h;
    out->tx_size = 4096;
    out->rx_size = h->flow->rx_buf;
    return 0;
}

void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg)
{
    struct host *h = owner;

    (void)user;
    h->tcb = ev == TOEC_EV_GONE ? 0 : flow;
    app_event(h, ev, arg);
}

/* ---- start and end ---- */

#define SETTLE (4000000ull * USEC)

/* Completes duplicate address detection (RFC 4862 5.4) before the flow begins. */
static void settle(struct host *h)
{
    toec_time now = h->net->now - SETTLE, due;

    h->settling = 1;
    while ((due = toec_poll(h->stack, now)) < h->net->now)
        now = due > now ? due : now + USEC;
    h->settling = 0;
}

static void host_make(struct host *h, struct flow *f, int sender)
{
    unsigned long size;
    unsigned i;

    h->net = f->net;
    h->flow = f;
    h->sender = sender;
    h->cfg.user = h;
    h->cfg.mac[0] = 2;
    h->cfg.mac[5] = sender ? 1 : 2;
    if (f->ip6) {
        h->cfg.ip6 = TOEC_IP6_STATIC;
        h->cfg.ip6_addr[0] = 0xfd;
        h->cfg.ip6_addr[15] = sender ? 1 : 2;
        h->cfg.ip6_prefix_len = 64;
    } else {
        put32(h->cfg.ip, sender ? 0x0a000001u : 0x0a000002u);
        h->cfg.prefix_len = 24;
    }
    h->cfg.mtu = f->mtu;
    h->cfg.ecn = f->ecn ? TOEC_ECN_ON : TOEC_ECN_OFF;
    h->cfg.cc = (enum toec_cc)f->cc_index;
    h->cfg.max_flows = 2;
    h->cfg.max_listeners = 1;
    h->cfg.max_time_wait = 1;
    h->cfg.max_neighbours = 4;
    h->cfg.max_datagrams = 1;
    h->cfg.max_gso = f->gso;
    for (i = 0; i < sizeof(h->cfg.secret); i++)
        h->cfg.secret[i] = (uint8_t)(f->net->seed * 13 + f->index * 31u + i * 7 + (unsigned)sender);
    size = toec_size(&h->cfg);
    if (size == 0) {
        fprintf(stderr, "netsim: core/ refuses the configuration (mtu %u, gso %u)\n", f->mtu,
                f->gso);
        exit(2);
    }
    h->mem = must(aligned_alloc(64, (size + 63) / 64 * 64));
    h->stack = toec_init(h->mem, size, &h->cfg, f->net->now - (f->ip6 ? SETTLE : 0));
    if (f->ip6)
        settle(h);
    host_poll(h);
}

void flow_start(struct flow *f)
{
    struct toec_addr any, remote;
    struct toec_buffers bufs;
    toec_u32 id;
    int r;

    host_make(&f->a, f, 1);
    host_make(&f->b, f, 0);
    memset(&any, 0, sizeof(any));
    remote = any;
    if (f->ip6) {
        memcpy(remote.b, f->b.cfg.ip6_addr, 16);
    } else {
        remote.b[10] = remote.b[11] = 0xff;
        memcpy(remote.b + 12, f->b.cfg.ip, 4);
    }
    bufs.owner = &f->a;
    bufs.tx_size = f->tx_buf;
    bufs.rx_size = 4096;
    r = toec_listen(f->b.stack, &any, PORT, &f->b, 0, &id);
    if (r == 0)
        r = toec_connect(f->a.stack, &remote, PORT, 0, &bufs, f->net->now, &f->a.tcb);
    if (r) {
        fprintf(stderr, "netsim: core/ refuses flow %u (cc=%s): %d\n", f->index, f->cc, r);
        exit(3);
    }
    f->open = 1;
    host_poll(&f->a);
    host_poll(&f->b);
}
