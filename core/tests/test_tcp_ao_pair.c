/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_ao_pair.c - TCP-AO between two stacks: fragments, keys of accepted connections,
 * TIME-WAIT, ICMP errors, images (RFC 5925 3.1, 7).
 */
#include "ao_keys.h"

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

/* Fields of a segment have no MAC: toec_input_flow() leaves the frame to toec_input(). */
static void test_fields_are_refused(void **state)
{
    struct toec_rx_segment g;
    struct toec_packet p;
    struct toec_info i;
    struct pair of;
    uint64_t before;

    (void)state;
    start_pair(&of);
    open_pair(&of, 0);
    toec_flow_info(of.s.host[1].stack, of.peer->flow, &i);
    memset(&p, 0, sizeof(p));
    memset(&g, 0, sizeof(g));
    g.pkt = &p;
    g.remote = i.remote.b + 12;
    g.local = i.local.b + 12;
    g.remote_port = i.remote_port;
    g.local_port = i.local_port;
    g.flags = F_ACK;
    before = sim_count(&of.s, 1, TOEC_C_tcp_rx);
    assert_int_equal(toec_input_flow(of.s.host[1].stack, of.peer->flow, &g, of.s.now), -1);
    assert_int_equal(sim_count(&of.s, 1, TOEC_C_tcp_rx), before);
    stop_pair(&of);
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
        cmocka_unit_test(test_reassembled),
        cmocka_unit_test(test_fields_are_refused),
        cmocka_unit_test(test_own_keys),
        cmocka_unit_test(test_backlog),
        cmocka_unit_test(test_no_room_for_more),
        cmocka_unit_test(test_no_room_for_both),
        cmocka_unit_test(test_unknown_rnext),
        cmocka_unit_test(test_time_wait),
        cmocka_unit_test(test_icmp),
        cmocka_unit_test(test_image),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
