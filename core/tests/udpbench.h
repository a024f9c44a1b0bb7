/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udpbench.h - a stack on the bench with an application that records received datagrams and errors;
 * two of them exchange datagrams.
 */
#ifndef UDPBENCH_H
#define UDPBENCH_H

#include "bench.h"

#define HEARD 64

struct app {
    struct bench b;
    unsigned heard_n, errors_n;
    struct {
        void *owner;
        struct toec_udp_in d;
        uint8_t data[8192];
    } heard[HEARD];
    struct toec_udp_err error;
    void *error_owner;
};

static uint8_t payload[70000];

static inline void on_receive(void *user, void *owner, const struct toec_udp_in *d)
{
    struct app *a = user;
    const uint8_t *from = d->pkt->flags & TOEC_RX_REASSEMBLED ? d->pkt->data : d->pkt->opaque;

    assert_true(a->heard_n < HEARD && d->len <= sizeof(a->heard[0].data));
    a->heard[a->heard_n].owner = owner;
    a->heard[a->heard_n].d = *d;
    memcpy(a->heard[a->heard_n++].data, from + d->off, d->len);
}

static inline void on_error(void *user, void *owner, const struct toec_udp_err *e)
{
    struct app *a = user;

    a->errors_n++;
    a->error = *e;
    a->error_owner = owner;
}

static const struct toec_udp_ops ops = {on_receive, on_error};

static inline void start(struct app *a, int second)
{
    unsigned i;

    for (i = 0; i < sizeof(payload); i++)
        payload[i] = (uint8_t)(i * 31 + (i >> 8));
    memset(a, 0, sizeof(*a));
    bench_config(&a->b);
    a->b.cfg.max_udp = 8;
    a->b.cfg.udp = &ops;
    a->b.cfg.ip6 = TOEC_IP6_STATIC;
    a->b.cfg.ip6_addr[0] = 0xfd;
    a->b.cfg.ip6_addr[15] = second ? 2 : 1;
    a->b.cfg.ip6_prefix_len = 64;
    if (second) {
        memcpy(a->b.cfg.mac, peer_mac, 6);
        poke32(a->b.cfg.ip, PEER_IP);
    }
    bench_start(&a->b);
    bench_pass(&a->b, 5 * SEC);
    bench_forget_sent(&a->b);
}

static inline struct toec_addr v4(uint32_t ip)
{
    struct toec_addr a;

    memset(&a, 0, sizeof(a));
    a.b[10] = a.b[11] = 0xff;
    poke32(a.b + 12, ip);
    return a;
}

static inline struct toec_addr v6(uint8_t last)
{
    struct toec_addr a;

    memset(&a, 0, sizeof(a));
    a.b[0] = 0xfd;
    a.b[15] = last;
    return a;
}

static inline struct toec_addr any(void)
{
    struct toec_addr a;

    memset(&a, 0, sizeof(a));
    return a;
}

static inline int try_open(struct app *a, struct toec_addr local, uint16_t port,
                           struct toec_addr remote, uint16_t rport, struct toec_udp **u)
{
    struct toec_udp_bind b;

    memset(&b, 0, sizeof(b));
    b.local = local;
    b.local_port = port;
    b.remote = remote;
    b.remote_port = rport;
    return toec_udp_open(a->b.s, &b, u, u);
}

/* Passes frames between both stacks until neither sends more. */
static inline void exchange(struct app *x, struct app *y)
{
    const struct sent *f;
    int any_sent;

    do {
        any_sent = 0;
        toec_poll(x->b.s, x->b.now);
        toec_poll(y->b.s, y->b.now);
        while ((f = bench_next(&x->b))) {
            bench_input(&y->b, f->data, f->len);
            any_sent = 1;
        }
        while ((f = bench_next(&y->b))) {
            bench_input(&x->b, f->data, f->len);
            any_sent = 1;
        }
    } while (any_sent);
}

/* Starts a with an endpoint on port 1000, b with one that receives from any sender on port 53. */
static inline void start_both(struct app *a, struct app *b, struct toec_udp **from,
                              struct toec_udp **to)
{
    start(a, 0);
    start(b, 1);
    assert_int_equal(try_open(a, any(), 1000, any(), 0, from), 0);
    assert_int_equal(try_open(b, any(), 53, any(), 0, to), 0);
}

static inline int send_to(struct app *a, struct toec_udp *u, struct toec_addr to, uint16_t port,
                          uint32_t len, uint16_t segment)
{
    struct toec_udp_msg m;

    memset(&m, 0, sizeof(m));
    if (port) {
        m.to = &to;
        m.to_port = port;
    }
    m.payload = payload;
    m.off = 100;
    m.len = len;
    m.segment = segment;
    m.sum = toec_sum(payload + 100, len);
    m.has_sum = 1;
    m.tos = 0x48;
    return toec_udp_send(a->b.s, u, &m, a->b.now);
}

/* Sends, and passes frames while the neighbour is being resolved. */
static inline void must_send(struct app *a, struct app *other, struct toec_udp *u,
                             struct toec_addr to, uint16_t port, uint32_t len, uint16_t segment)
{
    int r = send_to(a, u, to, port, len, segment);

    if (r == TOEC_E_AGAIN) {
        exchange(a, other);
        r = send_to(a, u, to, port, len, segment);
    }
    assert_int_equal(r, len);
    exchange(a, other);
}

/* Delivers an ICMP error about a datagram from OWN_IP:sport to PEER_IP:dport of this total
 * length. */
static inline void icmp_about(struct app *a, int code, uint32_t rest, uint16_t sport,
                              uint16_t dport, uint32_t total)
{
    uint8_t q[28] = {0}, msg[64], f[256];
    struct ip4_spec spec = {PEER_IP, OWN_IP, 1, 64, 1, 0, 0, 0};

    q[0] = 0x45;
    poke16(q + 2, total);
    q[9] = 17;
    poke32(q + 12, OWN_IP);
    poke32(q + 16, PEER_IP);
    poke16(q + 20, sport);
    poke16(q + 22, dport);
    bench_input(&a->b, f, make_ip4(f, &spec, msg, make_icmp(msg, 3, code, rest, q, sizeof(q))));
}

#endif
