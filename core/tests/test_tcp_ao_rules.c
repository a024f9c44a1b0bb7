/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_ao_rules.c - TCP-AO: which keys are accepted, which segments are accepted, handling of
 * peers without a key, in TIME-WAIT, by ICMP, in an image (RFC 5925 3.1, 7).
 */
#include "tcpsim.h"
#include "tcpsim_parts.h"

#define PORT 179

static struct toec_ao_mkt mkt(uint32_t remote, uint8_t prefix, uint8_t send_id, uint8_t recv_id)
{
    struct toec_ao_mkt k;

    memset(&k, 0, sizeof(k));
    k.remote.b[10] = k.remote.b[11] = 0xff;
    put32(k.remote.b + 12, remote);
    k.prefix = prefix;
    k.alg = TOEC_AO_HMAC_SHA1;
    k.send_id = send_id;
    k.recv_id = recv_id;
    k.secret = (const uint8_t *)"a secret";
    k.secret_len = 8;
    return k;
}

/* ---- keys ---- */

struct one {
    struct sim s;
    uint32_t id;
};

/* A stack with room for n keys, a listener, and a crafted peer. */
static void start_one(struct one *o, uint32_t n)
{
    memset(o, 0, sizeof(*o));
    craft_init(&o->s);
    o->s.host[0].cfg.max_ao_keys = n;
    o->s.host[0].cfg.ao = n ? &sim_ao : NULL;
    craft_start(&o->s);
    sim_listen(&o->s, 0, PORT, 0, &o->id);
}

static int listen_add(struct one *o, struct toec_ao_mkt k)
{
    return toec_listen_ao_add(o->s.host[0].stack, o->id, &k);
}

static int flow_add(struct conn *c, struct toec_ao_mkt k)
{
    return toec_ao_add(c->host->stack, c->flow, &k);
}

static uint32_t keys_used(struct one *o)
{
    struct toec_usage u;

    toec_usage(o->s.host[0].stack, &u);
    return u.ao_keys;
}

static void test_config(void **state)
{
    struct toec_memory with, without;
    struct sim s;

    (void)state;
    sim_init(&s, 1);
    assert_int_equal(toec_memory(&s.host[0].cfg, &without), 0);
    s.host[0].cfg.max_ao_keys = 16;
    assert_int_equal(toec_size(&s.host[0].cfg), 0); /* no function that reads payload */
    s.host[0].cfg.ao = &sim_ao;
    assert_int_equal(toec_memory(&s.host[0].cfg, &with), 0);
    assert_true(with.ao_key >= TOEC_AO_SECRET_MAX + 40);
    assert_true(with.total >= without.total + 16 * with.ao_key);
    s.host[0].cfg.max_ao_keys = (1u << 20) + 1;
    assert_int_equal(toec_size(&s.host[0].cfg), 0);
}

/* Invalid keys are rejected. */
static void test_invalid(void **state)
{
    struct toec_ao_mkt k = mkt(IP_B, 32, 1, 2);
    struct conn *c;
    struct one o;

    (void)state;
    start_one(&o, 4);
    k.secret_len = 0;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k.secret_len = TOEC_AO_SECRET_MAX + 1;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k = mkt(IP_B, 33, 1, 2);
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k = mkt(IP_B, 32, 1, 2);
    k.secret = NULL;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k = mkt(IP_B, 32, 1, 2);
    k.alg = (enum toec_ao_alg)3;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k = mkt(IP_B, 32, 1, 2);
    k.flags = 8;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k.flags = TOEC_AO_SET_CURRENT; /* a listener sends nothing */
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k = mkt(IP_B, 32, 1, 2);
    assert_int_equal(toec_listen_ao_add(o.s.host[0].stack, o.id + 1, &k), TOEC_E_INVAL);
    memset(&k.remote, 0, sizeof(k.remote));
    k.remote.b[0] = 0xfd;
    k.prefix = 129;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k.prefix = 128;
    assert_int_equal(listen_add(&o, k), 0);
    /* of a connection: it must be the peer's */
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(flow_add(c, k), TOEC_E_INVAL);
    assert_int_equal(flow_add(c, mkt(IP_B + 1, 32, 1, 2)), TOEC_E_INVAL);
    k = mkt(IP_B, 32, 1, 2);
    k.remote_port = 81;
    assert_int_equal(flow_add(c, k), TOEC_E_INVAL);
    k.remote_port = 80;
    assert_int_equal(flow_add(c, k), 0);
    assert_int_equal(keys_used(&o), 2);
    conn_close(c);
    assert_int_equal(toec_unlisten(o.s.host[0].stack, o.id), 0);
    assert_int_equal(keys_used(&o), 0);
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    sim_stop(&o.s);
}

/* A prefix of any length covers exactly the addresses with the same first bits. R5925-03. */
static void test_prefixes(void **state)
{
    struct toec_ao_mkt k, other;
    struct one o;
    uint8_t n;

    (void)state;
    start_one(&o, 4);
    for (n = 1; n <= 32; n++) {
        k = mkt(IP_B, n, 1, 2);
        assert_int_equal(listen_add(&o, k), 0);
        if (n < 32)
            assert_int_equal(listen_add(&o, mkt(IP_B ^ (0x80000000u >> n), 32, 1, 3)),
                             TOEC_E_INUSE);
        other = mkt(IP_B ^ (0x80000000u >> (n - 1)), 32, 1, 3);
        assert_int_equal(listen_add(&o, other), 0);
        assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id, &other.remote, 32, 1, 3),
                         0);
        assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id, &k.remote, n, 1, 2), 0);
    }
    sim_stop(&o.s);
}

/* RFC 5925 3.1: no two keys with an ID in common for one connection. R5925-03, R5925-04. */
static void test_ids(void **state)
{
    struct toec_ao_mkt k;
    struct conn *c;
    struct one o;

    (void)state;
    start_one(&o, 8);
    assert_int_equal(listen_add(&o, mkt(IP_B & 0xffffff00u, 24, 1, 2)), 0);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 1, 3)), TOEC_E_INUSE);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 3, 2)), TOEC_E_INUSE);
    assert_int_equal(listen_add(&o, mkt(0, 0, 3, 2)), TOEC_E_INUSE);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 3, 4)), 0);
    assert_int_equal(listen_add(&o, mkt(0x0a000100u, 25, 1, 2)), 0); /* others */
    k = mkt(0x0b000000u, 8, 1, 2);
    k.remote_port = 1;
    assert_int_equal(listen_add(&o, k), 0);
    k.remote_port = 2;
    assert_int_equal(listen_add(&o, k), 0);
    k.remote_port = 0;
    assert_int_equal(listen_add(&o, k), TOEC_E_INUSE);
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), 0);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 3)), TOEC_E_INUSE);
    assert_int_equal(flow_add(c, mkt(IP_B, 24, 2, 2)), TOEC_E_INUSE);
    assert_int_equal(toec_ao_use(o.s.host[0].stack, c->flow, 9, -1), TOEC_E_INVAL);
    assert_int_equal(toec_ao_use(o.s.host[0].stack, c->flow, -1, 9), TOEC_E_INVAL);
    assert_int_equal(toec_ao_delete(o.s.host[0].stack, c->flow, 1, 9), TOEC_E_INVAL);
    assert_int_equal(toec_ao_delete(o.s.host[0].stack, c->flow, 1, 2), TOEC_E_INUSE);
    conn_close(c);
    /* deleted by all that names it */
    k = mkt(IP_B, 32, 3, 4);
    assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id, &k.remote, 31, 3, 4),
                     TOEC_E_INVAL);
    assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id, &k.remote, 32, 3, 5),
                     TOEC_E_INVAL);
    assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id + 1, &k.remote, 32, 3, 4),
                     TOEC_E_INVAL);
    assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id, &k.remote, 32, 3, 4), 0);
    assert_int_equal(keys_used(&o), 4);
    sim_stop(&o.s);
}

/* All keys in use: rejected, counted, no state remains. */
static void test_no_room(void **state)
{
    struct conn *c;
    struct one o;

    (void)state;
    start_one(&o, 2);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 1, 2)), 0);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 3, 4)), 0);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 5, 6)), TOEC_E_NOBUFS);
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), TOEC_E_NOBUFS);
    assert_int_equal(sim_count(&o.s, 0, TOEC_C_tcp_ao_no_room), 2);
    assert_int_equal(keys_used(&o), 2);
    conn_close(c);
    sim_stop(&o.s);
}

/* ... and the same of connections: the third finds none. */
static void test_no_room_for_a_third(void **state)
{
    struct conn *c[3];
    struct one o;
    unsigned i;

    (void)state;
    start_one(&o, 2);
    for (i = 0; i < 3; i++) {
        c[i] = sim_connect(&o.s, 0, 80);
        assert_int_equal(flow_add(c[i], mkt(IP_B, 32, 1, 2)), i < 2 ? 0 : TOEC_E_NOBUFS);
    }
    assert_int_equal(sim_count(&o.s, 0, TOEC_C_tcp_ao_no_room), 1);
    for (i = 0; i < 3; i++)
        conn_close(c[i]);
    assert_int_equal(keys_used(&o), 0);
    sim_stop(&o.s);
}

/* A connection opened without keys gets none (RFC 5925 7.3; R5925-06), and reports none. */
static void test_too_late(void **state)
{
    struct toec_ao_info info;
    struct conn *c;
    struct one o;

    (void)state;
    start_one(&o, 4);
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(toec_fastopen(o.s.host[0].stack, c->flow, 0, o.s.now), 0);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), TOEC_E_INVAL);
    conn_close(c);
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(toec_ao_info(o.s.host[0].stack, c->flow, &info), TOEC_E_INVAL);
    assert_int_equal(toec_ao_use(o.s.host[0].stack, c->flow, 1, 2), TOEC_E_INVAL);
    assert_int_equal(toec_ao_delete(o.s.host[0].stack, c->flow, 1, 2), TOEC_E_INVAL);
    assert_int_equal(toec_ao_accept_icmp(o.s.host[0].stack, c->flow, 1), TOEC_E_INVAL);
    craft_poll(&o.s);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), TOEC_E_INVAL);
    conn_close(c);
    /* Fast Open has no room beside it */
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), 0);
    assert_int_equal(toec_fastopen(o.s.host[0].stack, c->flow, 1, o.s.now), 0);
    conn_close(c);
    assert_int_equal(keys_used(&o), 0);
    sim_stop(&o.s);
}

/* ---- strangers: segments with options that mean nothing, or not enough ---- */

/* A segment from the peer's port 5000 with these n bytes of options. */
static void raw(struct one *o, uint16_t port, unsigned flags, uint32_t ack, const uint8_t *opt,
                uint32_t n)
{
    uint8_t t[60] = {0x13, 0x88};

    put16(t + 2, port);
    put32(t + 4, 1000);
    put32(t + 8, ack);
    t[12] = (uint8_t)((20 + n) / 4 << 4);
    t[13] = (uint8_t)flags;
    put16(t + 14, 65535);
    if (n)
        memcpy(t + 20, opt, n);
    craft_send_raw(&o->s, t, 20 + n);
    craft_poll(&o->s);
}

static const uint8_t an_option[16] = {29, 16, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static void dropped(struct one *o, enum toec_counter why, uint64_t n)
{
    craft_expect_none(&o->s);
    assert_int_equal(sim_count(&o->s, 0, why), n);
}

/* RFC 5925 7.5, 7.7; R5925-12, R5925-14, R5925-15: no reply, for any error. */
static void test_strangers(void **state)
{
    uint8_t two[32], md5[36] = {0};
    struct one o;

    (void)state;
    start_one(&o, 4);
    memcpy(two, an_option, 16);
    memcpy(two + 16, an_option, 16);
    memcpy(md5, an_option, 16);
    md5[16] = 19;
    md5[17] = 18;
    /* no key: none for a SYN, no connection, no listener */
    raw(&o, PORT, F_SYN, 0, an_option, 16);
    dropped(&o, TOEC_C_tcp_ao_no_key, 1);
    raw(&o, PORT, F_ACK, 77, an_option, 16);
    dropped(&o, TOEC_C_tcp_ao_no_flow, 1);
    raw(&o, 81, F_SYN, 0, an_option, 16);
    dropped(&o, TOEC_C_tcp_ao_no_flow, 2);
    raw(&o, 81, F_ACK, 77, NULL, 0); /* without it there is an answer */
    assert_int_equal(craft_expect(&o.s).flags, F_RST);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 1, 2)), 0);
    raw(&o, PORT, F_SYN, 0, NULL, 0);
    dropped(&o, TOEC_C_tcp_ao_missing, 1);
    raw(&o, PORT, F_ACK, 77, NULL, 0);
    dropped(&o, TOEC_C_tcp_ao_missing, 2);
    raw(&o, PORT, F_SYN, 0, md5 + 16, 20); /* as if it did not exist */
    dropped(&o, TOEC_C_tcp_ao_missing, 3);
    raw(&o, PORT, F_SYN, 0, an_option, 16);
    dropped(&o, TOEC_C_tcp_ao_bad_mac, 1);
    raw(&o, PORT, F_SYN, 0, two, 32);
    dropped(&o, TOEC_C_tcp_ao_bad_option, 1);
    raw(&o, PORT, F_SYN, 0, md5, 36);
    dropped(&o, TOEC_C_tcp_ao_bad_option, 2);
    two[2] = 9;
    raw(&o, PORT, F_SYN, 0, two, 16);
    dropped(&o, TOEC_C_tcp_ao_no_key, 2);
    assert_int_equal(toec_flow_count(o.s.host[0].stack), 0);
    sim_stop(&o.s);
}

/* A peer without a matching key connects as usual, also with RFC 2385's option, and no segment with
 * the TCP-AO option reaches its connection. */
static void test_another_peer(void **state)
{
    uint8_t md5[20] = {19, 18};
    struct tseg g;
    struct one o;

    (void)state;
    start_one(&o, 4);
    assert_int_equal(listen_add(&o, mkt(IP_B + 1, 32, 1, 2)), 0);
    assert_int_equal(listen_add(&o, mkt(IP_B & ~7u, 29, 3, 4)), 0);
    assert_int_equal(
        toec_listen_ao_delete(
            o.s.host[0].stack, o.id,
            &(struct toec_addr){{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 0}}, 29, 3, 4),
        0);
    raw(&o, PORT, F_SYN, 0, md5, 20);
    g = craft_expect(&o.s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    raw(&o, PORT, F_RST | F_ACK, g.seq + 1, an_option, 16);
    dropped(&o, TOEC_C_tcp_ao_no_key, 1);
    assert_int_equal(toec_flow_count(o.s.host[0].stack), 1);
    sim_stop(&o.s);
}

/* Without keys configured the option is one that is not known: RFC 9293 MUST-6. */
static void test_not_configured(void **state)
{
    struct tseg g;
    struct one o;

    (void)state;
    start_one(&o, 0);
    raw(&o, PORT, F_SYN, 0, an_option, 16);
    g = craft_expect(&o.s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    raw(&o, 81, F_SYN, 0, an_option, 16);
    assert_int_equal(craft_expect(&o.s).flags, F_RST | F_ACK);
    raw(&o, PORT, F_RST, 0, an_option, 16); /* not its number */
    assert_int_equal(toec_flow_count(o.s.host[0].stack), 1);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 1, 2)), TOEC_E_NOBUFS);
    sim_stop(&o.s);
}

/* ---- two stacks ---- */

struct pair {
    struct sim s;
    struct conn *c, *peer;
    uint32_t id;
    int bare;             /* segments without the option that were seen */
    int cut;              /* datagrams that are still to be cut in two */
    int hole;             /* data of host 0 vanishes */
    uint32_t data_seq;    /* ... the last of it */
    uint8_t last[2][128]; /* the last FIN of each */
    uint32_t last_n[2];
};

static int64_t watch(struct sim *s, unsigned from, uint8_t *f, uint32_t len)
{
    struct pair *p = s->router_state;
    uint8_t half[2048];

    if (f[12] != 8 || f[13] != 0 || f[23] != 6)
        return 0;
    p->bare += (f[46] >> 4) * 4u < 36;
    if ((f[47] & F_FIN) && len <= sizeof(p->last[0])) {
        memcpy(p->last[from], f, len);
        p->last_n[from] = len;
    }
    if (p->hole && from == 0 && len > 300) {
        p->data_seq = get32(f + 38);
        return -1;
    }
    if (p->cut == 0 || len < 300 || from != 0)
        return 0;
    p->cut--;
    f[20] &= 0x1f; /* without DF; an ID */
    put16(f + 18, 4711u + (unsigned)p->cut);
    memcpy(half, f, 34);
    memcpy(half + 34, f + 34 + 160, len - 34 - 160);
    put16(half + 16, len - 14 - 160);
    put16(half + 20, 160 / 8);
    put16(half + 24, 0);
    put16(half + 24, ~sum16(half + 14, 20, 0));
    sim_inject(s, 1, half, len - 160);
    put16(f + 16, 20 + 160);
    put16(f + 20, 0x2000);
    put16(f + 24, 0);
    put16(f + 24, ~sum16(f + 14, 20, 0));
    sim_inject(s, 1, f, 34 + 160);
    return -1;
}

static void start_pair(struct pair *p)
{
    unsigned i;

    memset(p, 0, sizeof(*p));
    sim_init(&p->s, 2);
    for (i = 0; i < 2; i++) {
        p->s.host[i].cfg.max_ao_keys = 8;
        p->s.host[i].cfg.ao = &sim_ao;
    }
    p->s.router = watch;
    p->s.router_state = p;
}

static void connect_pair(struct pair *p)
{
    p->c = sim_connect_from(&p->s, 0, 4000, PORT, NULL);
    assert_int_equal(flow_add(p->c, mkt(IP_B, 32, 2, 1)), 0);
    sim_run(&p->s, SEC);
    p->peer = conn_peer(p->c);
}

static void open_pair(struct pair *p, uint32_t backlog)
{
    struct toec_ao_mkt k = mkt(IP_A & 0xffffff00u, 24, 1, 2);

    sim_start(&p->s);
    sim_listen(&p->s, 1, PORT, backlog, &p->id);
    assert_int_equal(toec_listen_ao_add(p->s.host[1].stack, p->id, &k), 0);
    connect_pair(p);
    assert_true(p->c->established);
}

static void stop_pair(struct pair *p)
{
    conn_close(p->c);
    sim_run(&p->s, SEC);
    conn_close(p->peer);
    sim_run(&p->s, 700 * SEC);
    sim_assert_clean(&p->s);
    assert_int_equal(p->bare, 0);
    sim_stop(&p->s);
}

/* A datagram in two fragments: its MAC is looked for in core's own memory. */
static void test_reassembled(void **state)
{
    struct pair p;

    (void)state;
    start_pair(&p);
    open_pair(&p, 0);
    p.cut = 3;
    sim_transfer(&p.s, p.c, 20000, 60 * SEC);
    assert_int_equal(p.c->acked, 20000);
    assert_int_equal(p.cut, 0);
    assert_int_equal(sim_count(&p.s, 1, TOEC_C_tcp_ao_bad_mac), 0);
    stop_pair(&p);
}

/* The keys of a connection are its own: those of its listener may go (RFC 5925 7.3; R5925-05). */
static void test_own_keys(void **state)
{
    struct toec_ao_mkt k = mkt(IP_A & 0xffffff00u, 24, 1, 2);
    struct pair p;

    (void)state;
    start_pair(&p);
    open_pair(&p, 0);
    assert_int_equal(toec_listen_ao_delete(p.s.host[1].stack, p.id, &k.remote, 24, 1, 2), 0);
    sim_transfer(&p.s, p.c, 20000, 60 * SEC);
    assert_int_equal(p.c->acked, 20000);
    stop_pair(&p);
}

/* A flood of SYNs from peers without keys fills the backlog: a client with the key gets through,
 * without a cookie. */
static void test_backlog(void **state)
{
    struct toec_ao_mkt k = mkt(IP_A, 32, 1, 2);
    struct pair p;
    unsigned i;

    (void)state;
    start_pair(&p);
    sim_start(&p.s);
    sim_listen(&p.s, 1, PORT, 2, &p.id);
    assert_int_equal(toec_listen_ao_add(p.s.host[1].stack, p.id, &k), 0);
    for (i = 0; i < 5; i++) { /* 10.0.0.200 and on: they do not exist */
        uint8_t f[54] = {2,  0, 0,  0, 0, 2,    2, 9,   9, 9, 9, 9,  8, 0, 0x45,
                         0,  0, 40, 0, 0, 0x40, 0, 64,  6, 0, 0, 10, 0, 0, (uint8_t)(200 + i),
                         10, 0, 0,  2, 1, 1,    0, PORT};
        uint8_t tail[4] = {0, 6, 0, 20};

        f[46] = 5 << 4;
        f[47] = F_SYN;
        put16(f + 24, ~sum16(f + 14, 20, 0));
        put16(f + 50, ~sum16(f + 34, 20, sum16(tail, 4, sum16(f + 26, 8, 0))));
        sim_inject(&p.s, 1, f, sizeof(f));
    }
    sim_run(&p.s, 10 * MSEC);
    assert_true(sim_count(&p.s, 1, TOEC_C_tcp_cookies_sent) >= 3);
    i = (unsigned)sim_count(&p.s, 1, TOEC_C_tcp_cookies_sent);
    p.bare = 0;
    connect_pair(&p);
    assert_true(p.c->established);
    assert_int_equal(sim_count(&p.s, 1, TOEC_C_tcp_cookies_sent), i);
    assert_int_equal(sim_count(&p.s, 1, TOEC_C_tcp_cookies_taken), 0);
    conn_close(p.c);
    conn_close(p.peer);
    sim_run(&p.s, 700 * SEC);
    sim_stop(&p.s);
}

/* No room for the keys of one more: its SYN is not answered, and counted. */
static void test_no_room_for_more(void **state)
{
    struct conn *more;
    struct pair p;

    (void)state;
    start_pair(&p);
    p.s.host[1].cfg.max_ao_keys = 2;
    open_pair(&p, 0);
    more = sim_connect_from(&p.s, 0, 4001, PORT, NULL);
    assert_int_equal(flow_add(more, mkt(IP_B, 32, 2, 1)), 0);
    sim_run(&p.s, SEC);
    assert_false(more->established);
    assert_true(sim_count(&p.s, 1, TOEC_C_tcp_ao_no_room) >= 1);
    conn_close(more);
    stop_pair(&p);
}

/* A connection needs a copy of each key that matches: room for one of two is none. */
static void test_no_room_for_both(void **state)
{
    struct toec_ao_mkt k = mkt(IP_A, 32, 1, 2);
    struct pair p;

    (void)state;
    start_pair(&p);
    p.s.host[1].cfg.max_ao_keys = 3;
    sim_start(&p.s);
    sim_listen(&p.s, 1, PORT, 0, &p.id);
    assert_int_equal(toec_listen_ao_add(p.s.host[1].stack, p.id, &k), 0);
    k = mkt(IP_A, 32, 3, 4);
    assert_int_equal(toec_listen_ao_add(p.s.host[1].stack, p.id, &k), 0);
    connect_pair(&p);
    assert_false(p.c->established);
    assert_true(sim_count(&p.s, 1, TOEC_C_tcp_ao_no_room) >= 1);
    assert_int_equal(toec_flow_count(p.s.host[1].stack), 0);
    conn_close(p.c);
    sim_stop(&p.s);
}

/* RNextKeyID names a key that the other side does not have: it continues with the one it has (RFC
 * 5925 7.5), for which the first has another key. */
static void test_unknown_rnext(void **state)
{
    struct toec_ao_mkt k = mkt(IP_A, 32, 1, 2);
    struct toec_ao_info info;
    struct pair p;

    (void)state;
    start_pair(&p);
    sim_start(&p.s);
    sim_listen(&p.s, 1, PORT, 0, &p.id);
    k.alg = TOEC_AO_AES_CMAC;
    k.secret = (const uint8_t *)"sixteen letters.";
    k.secret_len = 16;
    assert_int_equal(toec_listen_ao_add(p.s.host[1].stack, p.id, &k), 0);
    p.c = sim_connect_from(&p.s, 0, 4000, PORT, NULL);
    put32(k.remote.b + 12, IP_B);
    k.send_id = 2;
    k.recv_id = 9;
    assert_int_equal(flow_add(p.c, k), 0);
    k.send_id = 5;
    k.recv_id = 1;
    assert_int_equal(flow_add(p.c, k), 0);
    sim_run(&p.s, SEC);
    assert_true(p.c->established);
    p.peer = conn_peer(p.c);
    sim_transfer(&p.s, p.c, 20000, 60 * SEC);
    sim_transfer(&p.s, p.peer, 20000, 60 * SEC);
    assert_int_equal(toec_ao_info(p.s.host[0].stack, p.c->flow, &info), 0);
    assert_int_equal(info.current, 2);
    assert_int_equal(info.rnext, 9);
    assert_int_equal(toec_ao_info(p.s.host[1].stack, p.peer->flow, &info), 0);
    assert_int_equal(info.current, 1);
    stop_pair(&p);
}

/* In TIME-WAIT: a repeated FIN is acknowledged with a MAC, segments without one are ignored; a new
 * SYN with one reopens the pair. */
static void test_time_wait(void **state)
{
    struct conn *bare;
    struct pair p;
    uint64_t good;

    (void)state;
    start_pair(&p);
    open_pair(&p, 0);
    conn_close(p.peer); /* host 1 will wait */
    sim_run(&p.s, SEC);
    conn_close(p.c);
    sim_run(&p.s, SEC);
    assert_true(p.c->gone && p.peer->gone);
    good = sim_count(&p.s, 1, TOEC_C_tcp_ao_good);
    assert_int_equal(p.last_n[0], 34 + 20 + 12 + 16);
    sim_run(&p.s, SEC);
    sim_inject(&p.s, 1, p.last[0], p.last_n[0]);
    sim_run(&p.s, SEC);
    assert_int_equal(sim_count(&p.s, 1, TOEC_C_tcp_ao_good), good + 1);
    assert_int_equal(sim_count(&p.s, 0, TOEC_C_tcp_ao_no_flow), 1); /* the ACK, signed */
    assert_int_equal(p.bare, 0);
    bare = sim_connect_from(&p.s, 0, 4000, PORT, NULL);
    sim_run(&p.s, 500 * MSEC);
    assert_int_equal(sim_count(&p.s, 1, TOEC_C_tcp_ao_missing), 1);
    assert_false(bare->established);
    conn_close(bare);
    p.bare = 0;
    connect_pair(&p);
    assert_true(p.c->established);
    assert_int_equal(sim_count(&p.s, 1, TOEC_C_tcp_tw_reopened), 1);
    stop_pair(&p);
}

/* An ICMP error of IPv4 about the last data of host 0. */
static void tell(struct pair *p, unsigned code)
{
    uint8_t f[14 + 20 + 36] = {2, 0, 0,    0, 0,  1, 2, 0, 0,  0, 0, 2, 8,  0, 0x45, 0, 0, 56,
                               0, 0, 0x40, 0, 64, 1, 0, 0, 10, 0, 0, 2, 10, 0, 0,    1, 3};
    uint8_t *icmp = f + 34, *ip = icmp + 8;

    put16(f + 24, ~sum16(f + 14, 20, 0));
    icmp[1] = (uint8_t)code;
    put16(icmp + 6, code == 4 ? 1000 : 0);
    ip[0] = 0x45;
    put16(ip + 2, 1500);
    ip[9] = 6;
    put32(ip + 12, IP_A);
    put32(ip + 16, IP_B);
    put16(ip + 20, 4000);
    put16(ip + 22, PORT);
    put32(ip + 24, p->data_seq);
    put16(icmp + 2, ~sum16(icmp, 36, 0));
    sim_inject(&p->s, 0, f, sizeof(f));
    sim_run(&p->s, MSEC);
}

/* RFC 5925 7.8; R5925-13: hard errors about a synchronized connection, and that a datagram is too
 * large, are ignored unless the owner enables them. */
static void test_icmp(void **state)
{
    struct toec_ao_info info;
    struct toec_info i;
    struct pair p;
    unsigned code;

    (void)state;
    start_pair(&p);
    open_pair(&p, 0);
    p.hole = 1; /* so that it stays under way */
    conn_write(p.c, 1400, 1);
    sim_run(&p.s, MSEC);
    assert_true(p.data_seq != 0);
    for (code = 0; code < 6; code++)
        tell(&p, code);
    assert_int_equal(sim_count(&p.s, 0, TOEC_C_tcp_ao_icmp_ignored), 3);
    assert_int_equal(sim_count(&p.s, 0, TOEC_C_tcp_icmp_soft), 3); /* 0, 1 and 5 */
    assert_int_equal(toec_ao_info(p.s.host[0].stack, p.c->flow, &info), 0);
    assert_int_equal(info.icmp_ignored, 3);
    assert_int_equal(info.accept_icmp, 0);
    toec_flow_info(p.s.host[0].stack, p.c->flow, &i);
    assert_int_equal(i.pmtu, 1500);
    assert_int_equal(toec_ao_accept_icmp(p.s.host[0].stack, p.c->flow, 1), 0);
    tell(&p, 4);
    toec_flow_info(p.s.host[0].stack, p.c->flow, &i);
    assert_int_equal(i.pmtu, 1000);
    assert_int_equal(i.mss_send, 1000 - 40 - 12 - 16);
    tell(&p, 3);
    assert_int_equal(sim_count(&p.s, 0, TOEC_C_tcp_icmp_soft), 4);
    p.hole = 0;
    stop_pair(&p);
}

/* ... but not of an attempt to connect: a hard error ends it, as without a key. */
static void test_icmp_opening(void **state)
{
    struct conn *c;
    struct tseg g;
    struct one o;

    (void)state;
    start_one(&o, 1);
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), 0);
    craft_poll(&o.s);
    g = craft_expect(&o.s);
    assert_int_equal(g.flags, F_SYN);
    craft_icmp(&o.s, 3, 3, 0, &g);
    assert_true(c->gone);
    assert_int_equal(c->gone_reason, TOEC_R_REFUSED);
    assert_int_equal(sim_count(&o.s, 0, TOEC_C_tcp_ao_icmp_ignored), 0);
    sim_stop(&o.s);
}

/* An image contains the keys: a stack with room for fewer, or for none, rejects it; damaged keys
 * are rejected. */
static void test_image(void **state)
{
    struct image m = {0};
    struct pair p;
    const char *wrong;

    (void)state;
    start_pair(&p);
    open_pair(&p, 0);
    image_save(&m, &p.s.host[1]);
    p.s.host[1].cfg.max_ao_keys = 1; /* the listener's key was saved too */
    wrong = image_restore(&m, &p.s.host[1]);
    assert_string_equal(wrong, "the image has more keys of TCP-AO than there is room for");
    p.s.host[1].cfg.max_ao_keys = 8;
    assert_null(image_restore(&m, &p.s.host[1]));
    sim_transfer(&p.s, p.c, 20000, 60 * SEC);
    assert_int_equal(p.c->acked, 20000);
    conn_close(p.peer);
    sim_run(&p.s, SEC);
    conn_close(p.c);
    sim_run(&p.s, SEC);
    sim_hand_over(&p.s.host[1]); /* TIME-WAIT with keys */
    sim_inject(&p.s, 1, p.last[0], p.last_n[0]);
    sim_run(&p.s, SEC);
    assert_int_equal(sim_count(&p.s, 0, TOEC_C_tcp_ao_no_flow), 1);
    image_free(&m);
    stop_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config),           cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_prefixes),         cmocka_unit_test(test_ids),
        cmocka_unit_test(test_no_room),          cmocka_unit_test(test_too_late),
        cmocka_unit_test(test_strangers),        cmocka_unit_test(test_another_peer),
        cmocka_unit_test(test_not_configured),   cmocka_unit_test(test_reassembled),
        cmocka_unit_test(test_own_keys),         cmocka_unit_test(test_backlog),
        cmocka_unit_test(test_no_room_for_more), cmocka_unit_test(test_no_room_for_a_third),
        cmocka_unit_test(test_no_room_for_both), cmocka_unit_test(test_unknown_rnext),
        cmocka_unit_test(test_time_wait),        cmocka_unit_test(test_icmp),
        cmocka_unit_test(test_icmp_opening),     cmocka_unit_test(test_image),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
