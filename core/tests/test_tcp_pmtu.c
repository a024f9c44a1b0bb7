/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_pmtu.c - path MTU discovery (RFC 1191) and its defences (RFC 5927 7.2), black holes (RFC
 * 4821 7.7), the cache that flows share, the socket options; then transfers through routers with a
 * small MTU, with and without ICMP errors.
 */
#include "tcptalk.h"

#define MSS 1460u

/* Opens a connection with n full segments in flight. */
static void under_way(struct talk *t, unsigned n)
{
    talk_init(t);
    t->sack = 1;
    talk_under_way(t, n);
}

/* Sends "fragmentation needed" about the segment at stream offset seq. */
static void frag_needed(struct talk *t, uint32_t seq, uint32_t mtu)
{
    struct tseg q = seg_make(t->own_port, t->peer_port, F_ACK, t->iss + 1 + seq, 0);

    craft_icmp(&t->s, 3, 4, mtu, &q);
    craft_poll(&t->s);
}

/* R1191-01: DF on everything. A smaller MTU applies immediately: data that was too large is
 * retransmitted in smaller segments, the congestion window is unchanged. */
static void test_reduction(void **state)
{
    struct talk t;
    struct tseg g;
    uint32_t cwnd, at = 0;

    (void)state;
    under_way(&t, 3);
    cwnd = talk_info(&t).cwnd;
    assert_int_equal(talk_info(&t).pmtu, 1500);
    frag_needed(&t, 0, 1000);
    while (at < 3 * MSS) {
        g = craft_expect(&t.s);
        assert_int_equal(g.seq - t.iss - 1, at);
        assert_true(g.len <= 960);
        assert_true(g.df);
        at += g.len;
    }
    assert_int_equal(at, 3 * MSS);
    assert_int_equal(talk_info(&t).cwnd, cwnd);
    assert_int_equal(talk_info(&t).pmtu, 1000);
    assert_int_equal(talk_info(&t).mss_send, 960);
    assert_int_equal(talk_info(&t).mss_recv, MSS); /* the path MTU does not limit what we receive */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_pmtu_lowered), 1);
    /* The errors about the other two segments are redundant. */
    frag_needed(&t, MSS, 1000);
    talk_silence(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_pmtu_lowered), 1);
    talk_end(&t);
}

/* R1191-05, R5927-01: the message must quote data in flight. The rule of R8201-02 for IPv4: it
 * never raises the size. */
static void test_forged(void **state)
{
    struct talk t;

    (void)state;
    under_way(&t, 3);
    frag_needed(&t, 3 * MSS, 1000);
    frag_needed(&t, (uint32_t)-5, 1000);
    frag_needed(&t, 0, 1500);
    frag_needed(&t, 0, 9000);
    talk_silence(&t);
    assert_int_equal(talk_info(&t).pmtu, 1500);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_icmp_ignored), 4);
    talk_end(&t);
}

/* R1191-02: a next-hop MTU below any real link's does not go below the floor; below it routers may
 * fragment. */
static void test_floor(void **state)
{
    static const uint32_t claims[] = {1, 67, 68, 100, 551};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        struct talk t;
        struct tseg g;

        under_way(&t, 1);
        frag_needed(&t, 0, claims[i]);
        assert_int_equal(talk_info(&t).pmtu, 552);
        g = craft_expect(&t.s);
        assert_int_equal(g.len, 512);
        assert_false(g.df);
        talk_end(&t);
    }
}

/* The floor itself is a size that paths have: DF stays. */
static void test_at_the_floor(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    under_way(&t, 1);
    frag_needed(&t, 0, 552);
    g = craft_expect(&t.s);
    assert_int_equal(g.len, 512);
    assert_true(g.df);
    talk_end(&t);
}

/* R1191-04: a router that reports no MTU. The plateau below the quoted datagram's 1000 bytes is
 * 508, the floor 552. */
static void test_plateau(void **state)
{
    struct talk t;

    (void)state;
    under_way(&t, 1);
    frag_needed(&t, 0, 0);
    assert_int_equal(talk_info(&t).pmtu, 552);
    talk_end(&t);
}

/* R5927-03: if larger datagrams have arrived the message is held back; an ACK refutes it... */
static void test_doubted_and_refuted(void **state)
{
    struct talk t;

    (void)state;
    under_way(&t, 2);
    talk_say(&t, F_ACK, 0, 2 * MSS, 0); /* 1500 bytes are known to arrive */
    talk_send(&t, 2 * MSS);
    talk_skip(&t);
    frag_needed(&t, 2 * MSS, 600);
    talk_silence(&t);
    assert_int_equal(talk_info(&t).pmtu, 1500);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_pmtu_doubted), 1);
    talk_say(&t, F_ACK, 0, 3 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_pmtu_refuted), 1);
    craft_pass(&t.s, 300 * MSEC); /* a timeout of another segment */
    assert_int_equal(talk_info(&t).pmtu, 1500);
    talk_end(&t);
}

/* An ACK up to the segment that the message quotes says nothing about that segment. */
static void test_doubted_until_acked(void **state)
{
    struct talk t;

    (void)state;
    under_way(&t, 1);
    talk_say(&t, F_ACK, 0, MSS, 0);
    talk_send(&t, 2 * MSS);
    talk_skip(&t);
    frag_needed(&t, 2 * MSS, 600);
    talk_say(&t, F_ACK, 0, 2 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_pmtu_refuted), 0);
    talk_say(&t, F_ACK, 0, 3 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_pmtu_refuted), 1);
    talk_end(&t);
}

/* ... and a timeout confirms it. */
static void test_doubted_and_confirmed(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    under_way(&t, 1);
    talk_say(&t, F_ACK, 0, MSS, 0);
    talk_send(&t, MSS);
    talk_skip(&t);
    frag_needed(&t, MSS, 600);
    talk_silence(&t);
    craft_pass(&t.s, 300 * MSEC);
    talk_hear(&t, F_ACK, MSS, 0, MSS); /* a tail loss probe (RFC 8985 7.2) */
    craft_pass(&t.s, 300 * MSEC);
    assert_int_equal(talk_info(&t).pmtu, 600);
    g = craft_expect(&t.s);
    assert_int_equal(g.seq - t.iss - 1, MSS);
    assert_int_equal(g.len, 560);
    talk_end(&t);
}

/* R1191-03, R8201-04: after ten minutes, not before, larger segments are tried. The next connection
 * uses the path MTU from its start. */
static void test_cache(void **state)
{
    struct talk t;
    struct tseg g;
    struct conn *c;

    (void)state;
    under_way(&t, 1);
    frag_needed(&t, 0, 1000);
    talk_say(&t, F_ACK, 0, MSS, 0);
    talk_skip(&t);
    c = sim_connect(&t.s, 0, 99);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    assert_int_equal(g.mss, MSS); /* of the link: RFC 1191 3.1 */
    {
        struct tseg a = seg_make(99, c->local_port, F_SYN | F_ACK, 5, g.seq + 1);

        a.mss = MSS;
        craft_send(&t.s, &a);
    }
    conn_write(c, 5000, 1);
    craft_poll(&t.s);
    do {
        g = craft_expect(&t.s);
    } while (g.len == 0);
    assert_int_equal(g.len, 960);
    conn_abort(c);
    talk_skip(&t);
    craft_pass(&t.s, 590 * SEC);
    talk_send(&t, MSS);
    talk_hear(&t, F_ACK, MSS, 0, 960);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 2 * MSS, 0);
    craft_pass(&t.s, 20 * SEC);
    assert_int_equal(talk_count(&t, TOEC_C_pmtu_expired), 1);
    talk_send(&t, MSS);
    talk_hear(&t, F_ACK, 2 * MSS, 0, MSS);
    talk_end(&t);
}

/* A second flow on the same path sees the change without an error of its own; an error about its
 * data in flight then counts once. */
static void test_shared(void **state)
{
    struct talk t;
    struct conn *c;
    struct tseg g, a;

    (void)state;
    under_way(&t, 1);
    c = sim_connect(&t.s, 0, 99);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    a = seg_make(99, c->local_port, F_SYN | F_ACK, 5, g.seq + 1);
    a.mss = MSS;
    craft_send(&t.s, &a);
    conn_write(c, 2 * MSS, 1);
    craft_poll(&t.s);
    talk_skip(&t);
    frag_needed(&t, 0, 1000);
    talk_skip(&t);
    conn_write(c, 2000, 1);
    craft_poll(&t.s);
    a = seg_make(c->local_port, 99, F_ACK, g.seq + 1, 0);
    g = craft_expect(&t.s);
    assert_int_equal(g.dport, 99);
    assert_int_equal(g.len, 960);
    talk_skip(&t);
    craft_icmp(&t.s, 3, 4, 1000, &a);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    assert_int_equal(g.seq, a.seq);
    assert_int_equal(g.len, 960);
    talk_skip(&t);
    craft_icmp(&t.s, 3, 4, 1000, &a);
    craft_poll(&t.s);
    talk_silence(&t);
    conn_abort(c);
    talk_end(&t);
}

static void test_options(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    /* IP_MTU_DISCOVER */
    under_way(&t, 1);
    assert_int_equal(talk_option(&t, TOEC_OPT_MTU_DISCOVER, 6), TOEC_E_INVAL);
    talk_set(&t, TOEC_OPT_MTU_DISCOVER, TOEC_MTU_DONT);
    /* RFC 9293 MUST-48, SHLD-21, SHLD-22 */
    assert_int_equal(talk_option(&t, TOEC_OPT_TOS, 256), TOEC_E_INVAL);
    talk_set(&t, TOEC_OPT_TOS, 0xbb);
    talk_send(&t, 100);
    g = talk_hear(&t, F_ACK, MSS, 0, 100);
    assert_false(g.df);
    assert_int_equal(g.tos, 0xb8); /* R1122-06, except the ECN field */
    talk_set(&t, TOEC_OPT_MTU_DISCOVER, TOEC_MTU_INTERFACE);
    frag_needed(&t, 0, 1000);
    talk_silence(&t);
    assert_int_equal(talk_info(&t).pmtu, 1500);
    talk_set(&t, TOEC_OPT_MTU_DISCOVER, TOEC_MTU_DO);
    assert_int_equal(talk_option(&t, TOEC_OPT_MAXSEG, 87), TOEC_E_INVAL);
    assert_int_equal(talk_option(&t, TOEC_OPT_MAXSEG, 32768), TOEC_E_INVAL);
    talk_set(&t, TOEC_OPT_MAXSEG, 500);
    assert_int_equal(talk_info(&t).mss_send, 500);
    talk_set(&t, TOEC_OPT_MAXSEG, 0);
    assert_int_equal(talk_info(&t).mss_send, MSS);
    talk_end(&t);
    /* TCP_MAXSEG before the SYN is advertised. */
    talk_init(&t);
    craft_start(&t.s);
    t.c = sim_connect(&t.s, 0, 80);
    talk_set(&t, TOEC_OPT_MAXSEG, 700);
    talk_set(&t, TOEC_OPT_TOS, 0x20);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    assert_int_equal(g.mss, 700);
    assert_int_equal(g.tos, 0x20);
    talk_end(&t);
}

/* RFC 4821 7.2: a message during the search limits it. A larger MAXSEG limits nothing. */
static void test_search_is_bounded(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.mtu_probing = TOEC_MTU_PROBING_ALWAYS;
    t.sack = 1;
    talk_passive(&t);
    assert_int_equal(talk_info(&t).pmtu, 1064);
    talk_set(&t, TOEC_OPT_MAXSEG, 9000);
    assert_int_equal(talk_info(&t).mss_send, 1064 - 40);
    talk_send(&t, 2000);
    talk_skip(&t);
    frag_needed(&t, 0, 900);
    assert_int_equal(talk_info(&t).pmtu, 900);
    talk_hear(&t, F_ACK, 0, 0, 860);
    talk_end(&t);
}

/* The link's MTU shrinks and grows again: what is sent follows at once, and so does the MSS that
 * new connections advertise. On Linux dst_mtu() is used for both. */
static void test_link_mtu(void **state)
{
    struct talk t;
    struct tseg g;
    struct toec_stack *s;
    int again = 0;

    (void)state;
    under_way(&t, 3);
    s = t.s.host[0].stack;
    assert_int_equal(toec_set_mtu(s, 1000), 1000);
    assert_int_equal(toec_set_mtu(s, 1000), 1000); /* unchanged */
    talk_send(&t, 2 * 960);
    talk_hear(&t, F_ACK, 3 * MSS, 0, 960);
    talk_hear(&t, F_ACK, 3 * MSS + 960, 0, 960);
    assert_int_equal(talk_info(&t).pmtu, 1000);
    talk_say(&t, F_ACK, 0, MSS, 0);
    craft_pass(&t.s, 3000 * MSEC); /* data sent before is retransmitted in smaller segments */
    while (craft_next(&t.s, &g)) {
        assert_true(g.len <= 960);
        again |= g.seq - t.iss - 1 == MSS;
    }
    assert_true(again);
    talk_say(&t, F_ACK, 0, 3 * MSS + 2 * 960, 0);
    talk_skip(&t);
    assert_int_equal(toec_set_mtu(s, 9000), 1500); /* at most its initial size */
    talk_send(&t, MSS);
    talk_hear(&t, F_ACK, 3 * MSS + 2 * 960, 0, MSS);
    assert_int_equal(toec_set_mtu(s, 68), 576);
    sim_listen(&t.s, 0, 81, 0, 0);
    g = seg_make(t.peer_port, 81, F_SYN, 1, 0);
    g.mss = MSS;
    craft_say(&t.s, &g);
    g = craft_expect(&t.s);
    assert_int_equal(g.mss, 536);
    talk_end(&t);
}

static void test_listener_options(void **state)
{
    struct talk t;
    struct tseg g;
    struct toec_stack *s;
    uint32_t id;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    s = t.s.host[0].stack;
    sim_listen(&t.s, 0, OWN_PORT, 0, &id);
    assert_int_equal(toec_listen_option(s, id, TOEC_OPT_MAXSEG, 600), 0);
    assert_int_equal(toec_listen_option(s, id, TOEC_OPT_TOS, 0x48), 0);
    assert_int_equal(toec_listen_option(s, id, TOEC_OPT_MTU_DISCOVER, TOEC_MTU_DONT), 0);
    assert_int_equal(toec_listen_option(s, id, TOEC_OPT_NODELAY, 1), TOEC_E_INVAL);
    g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
    g.mss = MSS;
    craft_say(&t.s, &g);
    g = craft_expect(&t.s);
    assert_int_equal(g.mss, 600);
    assert_int_equal(g.tos, 0x48);
    t.iss = g.seq;
    talk_say(&t, F_ACK, 0, 0, 0);
    t.c = t.s.host[0].conns;
    talk_send(&t, 2000);
    g = talk_hear(&t, F_ACK, 0, 0, 600);
    assert_false(g.df);
    talk_end(&t);
}

/* The size that a black hole leaves has not arrived yet: an error that reports a smaller one is
 * believed. */
static void test_error_after_black_hole(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.mtu_probing = TOEC_MTU_PROBING_BLACK_HOLE;
    talk_passive(&t);
    talk_send(&t, 3 * MSS);
    while (talk_count(&t, TOEC_C_tcp_black_holes) == 0)
        craft_pass(&t.s, 50 * MSEC);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 100,
             0); /* less than a segment: it ends the timeouts, and shows no size */
    talk_skip(&t);
    frag_needed(&t, 100, 600);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_pmtu_doubted), 0);
    assert_int_equal(talk_info(&t).pmtu, 600);
    talk_end(&t);
}

/* R4821-01: smaller segments after full ones have timed out three times. */
static void test_black_hole(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned n = 0;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.mtu_probing = TOEC_MTU_PROBING_BLACK_HOLE;
    talk_passive(&t);
    talk_send(&t, 3 * MSS);
    talk_skip(&t);
    while (n < 2) {
        craft_pass(&t.s, 50 * MSEC);
        while (craft_next(&t.s, &g)) {
            assert_int_equal(g.len, MSS);
            n++;
        }
    }
    do {
        craft_pass(&t.s, 50 * MSEC);
    } while (!craft_next(&t.s, &g));
    assert_int_equal(g.len, 1024);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_black_holes), 1);
    craft_pass(&t.s, 30 * SEC);
    while (craft_next(&t.s, &g))
        ;
    assert_int_equal(g.len, 296 - 40); /* and so on, down to a floor */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_black_holes), 3);
    talk_end(&t);
    /* Small segments give no information about sizes. */
    talk_init(&t);
    t.s.host[0].cfg.mtu_probing = TOEC_MTU_PROBING_BLACK_HOLE;
    talk_passive(&t);
    conn_write(t.c, 300, 1);
    craft_pass(&t.s, 30 * SEC);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_black_holes), 0);
    talk_end(&t);
}

/* ---- routers ---- */

struct router {
    uint32_t mtu;
    int silent;      /* without ICMP errors */
    toec_time since; /* before it, everything passes */
    unsigned dropped, passed_large;
    uint32_t window; /* of sender and receiver, in bytes; 0: 256 KiB */
};

static void complain(struct sim *s, unsigned to, const uint8_t *f, uint32_t mtu)
{
    uint8_t e[14 + 20 + 36];
    uint16_t sum;

    memset(e, 0, sizeof(e));
    memcpy(e, f + 6, 6);
    memcpy(e + 6, f, 6);
    put16(e + 12, 0x0800);
    e[14] = 0x45;
    put16(e + 16, 56);
    e[22] = 64;
    e[23] = 1;
    memcpy(e + 26, f + 30, 4); /* uses the other side's address, as the router has none */
    memcpy(e + 30, f + 26, 4);
    sum = (uint16_t)~toec_sum(e + 14, 20);
    memcpy(e + 24, &sum, 2);
    e[34] = 3;
    e[35] = 4;
    put16(e + 40, mtu);
    memcpy(e + 42, f + 14, 28);
    sum = (uint16_t)~toec_sum(e + 34, 36);
    memcpy(e + 36, &sum, 2);
    sim_inject(s, to, e, sizeof(e));
}

static int64_t small_router(struct sim *s, unsigned from, uint8_t *f, uint32_t len)
{
    struct router *r = s->router_state;

    if (f[12] != 8 || f[13] != 0 || len - 14 <= r->mtu || s->now < r->since)
        return 0;
    if (!(f[20] & 0x40)) { /* would be fragmented; delivered whole here */
        r->passed_large++;
        return 0;
    }
    r->dropped++;
    if (!r->silent)
        complain(s, from, f, r->mtu);
    return -1;
}

struct result {
    toec_time took;
    uint64_t timeouts, fast, lowered, holes;
    struct toec_info info;
};

static struct result transfer(struct router *r, enum toec_mtu_probing probing, uint64_t goal,
                              uint32_t gso)
{
    struct result res;
    struct sim s;
    struct conn *c;

    random_begin(41);
    sim_init(&s, 2);
    s.host[0].cfg.mtu_probing = probing;
    s.host[0].cfg.max_gso = gso;
    s.host[0].tx_buf = s.host[1].rx_buf = r->window ? r->window : 1 << 18;
    s.impair.delay = 5 * MSEC;
    s.router = small_router;
    s.router_state = r;
    sim_start(&s);
    r->since += s.now;
    sim_listen(&s, 1, 80, 0, 0);
    c = sim_connect(&s, 0, 80);
    res.took = sim_transfer(&s, c, goal, 60 * SEC);
    res.timeouts = sim_count(&s, 0, TOEC_C_tcp_timeouts);
    res.fast = sim_count(&s, 0, TOEC_C_tcp_fast_recoveries);
    res.lowered = sim_count(&s, 0, TOEC_C_tcp_pmtu_lowered);
    res.holes = sim_count(&s, 0, TOEC_C_tcp_black_holes);
    assert_int_equal(c->acked, goal);
    toec_flow_info(s.host[0].stack, c->flow, &res.info);
    print_message("MTU %u: %llu ms, %u dropped, timeouts %llu, recoveries %llu, path MTU %u\n",
                  r->mtu, (unsigned long long)(res.took / MSEC), r->dropped,
                  (unsigned long long)res.timeouts, (unsigned long long)res.fast, res.info.pmtu);
    conn_abort(c);
    sim_run(&s, 130 * SEC);
    sim_stop(&s);
    return res;
}

/* The path is small from the start: one flight is lost, which is not treated as congestion. */
static void test_small_path(void **state)
{
    static const uint32_t mtus[] = {1400, 1280, 1006, 552};
    unsigned i;

    (void)state;
    for (i = 0; i < 2 * sizeof(mtus) / sizeof(mtus[0]); i++) {
        struct router r = {mtus[i / 2], 0, 0, 0, 0, 0};
        struct result res = transfer(&r, TOEC_MTU_PROBING_BLACK_HOLE, 1000000, i & 1 ? 61440 : 0);

        assert_int_equal(res.info.pmtu, mtus[i / 2]);
        assert_int_equal(res.lowered, 1);
        assert_int_equal(res.timeouts, 0);
        assert_int_equal(res.fast, 0);
        assert_int_equal(res.info.ssthresh, 0x3fffffff);
        assert_in_range(r.dropped, 1, 10); /* the initial window */
    }
}

/* A path whose MTU shrinks while data flows: the message is accepted after the first timeout. */
static void test_path_shrinks(void **state)
{
    struct router r = {1300, 0, 200 * MSEC, 0, 0, 0};
    struct result res;

    (void)state;
    res = transfer(&r, TOEC_MTU_PROBING_BLACK_HOLE, 20000000, 0);
    assert_int_equal(res.info.pmtu, 1300);
    assert_int_equal(res.lowered, 1);
    assert_in_range(res.timeouts, 1, 3);
}

/* Below the floor datagrams are sent without DF. */
static void test_tiny_path(void **state)
{
    struct router r = {296, 0, 0, 0, 0, 0};
    struct result res;

    (void)state;
    res = transfer(&r, TOEC_MTU_PROBING_BLACK_HOLE, 100000, 61440);
    assert_int_equal(res.info.pmtu, 552);
    assert_true(r.passed_large > 100);
}

/* R4821-01: a router that drops silently. */
static void test_black_hole_path(void **state)
{
    struct router r = {1200, 1, 0, 0, 0, 0};
    struct result res;

    (void)state;
    res = transfer(&r, TOEC_MTU_PROBING_BLACK_HOLE, 1000000, 0);
    assert_int_equal(res.holes, 1);
    assert_in_range(res.info.pmtu, 1200 - 8, 1200); /* the search has gone up from 1064 */
    assert_true(res.took < 6 * SEC);
    assert_int_equal(res.fast, 0);
}

/* RFC 4821 7.3 to 7.6: the search begins at 1064 and goes up with data as probes; a lost probe
 * costs a round trip, not the congestion window (R4821-02). */
static void test_search(void **state)
{
    static const uint32_t mtus[] = {1100, 1299, 1400, 1499, 9000};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(mtus) / sizeof(mtus[0]); i++) {
        /* after a lost probe, one round trip passes for each segment of the window */
        struct router r = {mtus[i], 1, 0, 0, 0, 1 << 14};
        struct result res = transfer(&r, TOEC_MTU_PROBING_ALWAYS, 5000000, i & 1 ? 61440 : 0);
        uint32_t most = mtus[i] < 1500 ? mtus[i] : 1500;

        assert_in_range(res.info.pmtu, most - 8, most);
        assert_int_equal(res.timeouts, 0);
        assert_int_equal(res.fast, 0);
        assert_int_equal(res.info.ssthresh, 0x3fffffff);
        assert_in_range(r.dropped, mtus[i] < 1493 ? 1 : 0, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduction),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_floor),
        cmocka_unit_test(test_at_the_floor),
        cmocka_unit_test(test_doubted_until_acked),
        cmocka_unit_test(test_error_after_black_hole),
        cmocka_unit_test(test_plateau),
        cmocka_unit_test(test_doubted_and_refuted),
        cmocka_unit_test(test_doubted_and_confirmed),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_link_mtu),
        cmocka_unit_test(test_listener_options),
        cmocka_unit_test(test_search_is_bounded),
        cmocka_unit_test(test_black_hole),
        cmocka_unit_test(test_small_path),
        cmocka_unit_test(test_path_shrinks),
        cmocka_unit_test(test_tiny_path),
        cmocka_unit_test(test_black_hole_path),
        cmocka_unit_test(test_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
