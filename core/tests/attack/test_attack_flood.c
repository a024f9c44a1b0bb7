/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attack_flood.c - much of the same: SYNs from everywhere, cookies guessed, connections opened
 * and left, closed and closed again, tiny segments out of order, SACKs of crumbs. Memory is what
 * toec_size() took in the beginning; here the pools are looked at, and who is still served.
 * What each costs is measured by cost.c.
 */
#include <stdlib.h>

#include "raw.h"

static void start(struct sim *s, uint32_t flows)
{
    craft_init(s);
    memcpy(s->host[0].cfg.gateway, "\12\0\0\2", 4); /* the crafted peer, 10.0.0.2 */
    s->host[0].cfg.max_flows = flows;
    s->host[0].tx_buf = s->host[0].rx_buf = 4096;
    craft_start(s);
    sim_listen(s, 0, OWN_PORT, 64, 0);
}

/* An address off the link that a SYN may come from. */
static uint32_t anywhere(void)
{
    return 0x0b000000u + random_below(0x50000000u);
}

static struct raw syn(uint32_t from)
{
    struct raw r = {.src = from,
                    .dst = IP_A,
                    .sport = (uint16_t)(1024 + random_below(60000)),
                    .dport = OWN_PORT,
                    .seq = (uint32_t)random64(),
                    .flags = F_SYN,
                    .mss = 1460};

    return r;
}

/* A client that does all right: 1 when it was connected. */
static int connect_honestly(struct sim *s)
{
    struct raw r = syn(anywhere());
    struct tseg g;
    unsigned before = s->host[0].opened;

    craft_forget(s);
    raw_input(s, 0, &r);
    craft_poll(s);
    do { /* a flow may be reset to make room */
        if (!craft_next(s, &g))
            return 0;
    } while (g.flags != (F_SYN | F_ACK) || g.dport != r.sport);
    assert_int_equal(g.ack, r.seq + 1);
    r.flags = F_ACK;
    r.seq++;
    r.ack = g.seq + 1;
    r.mss = 0;
    raw_input(s, 0, &r);
    craft_poll(s);
    craft_forget(s);
    return s->host[0].conns && (s->host[0].opened > before || s->host[0].conns->established);
}

/* 20 of 20 connects succeed while 850,000 SYNs of nobody arrive; the pools do not grow. R4987-01 */
static void test_syn_flood(void **state)
{
    struct sim s;
    struct toec_usage u;
    unsigned i, good = 0;

    (void)state;
    random_begin(4987);
    start(&s, 1024);
    for (i = 0; i < 850000; i++) {
        struct raw r = syn(anywhere());

        raw_input(&s, 0, &r);
        if (i % 64 == 63) {
            s.now += 600 * USEC;
            craft_poll(&s);
            craft_forget(&s);
        }
        if (i % 42500 == 42499)
            good += (unsigned)connect_honestly(&s);
    }
    toec_usage(s.host[0].stack, &u);
    print_message("SYN flood: %u of 20 connected, %u half open\n", good, u.half_open);
    assert_int_equal(good, 20);
    assert_true(u.half_open <= 64);
    assert_true(sim_count(&s, 0, TOEC_C_tcp_cookies_sent) > 800000);
    for (struct conn *c = s.host[0].conns; c; c = c->next)
        conn_abort(c);
    craft_forget(&s);
    craft_pass(&s, 300 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* A million guesses at a cookie while cookies are believed. */
static void test_cookie_forgery(void **state)
{
    struct sim s;
    unsigned i;

    (void)state;
    random_begin(24);
    start(&s, 1024);
    for (i = 0; i < 200; i++) {
        struct raw r = syn(anywhere());

        raw_input(&s, 0, &r);
    }
    craft_poll(&s);
    craft_forget(&s);
    assert_true(sim_count(&s, 0, TOEC_C_tcp_cookies_sent) > 100);
    for (i = 0; i < 1000000; i++) {
        struct raw r = syn(anywhere());

        r.flags = F_ACK;
        r.mss = 0;
        r.ack = (uint32_t)random64();
        raw_input(&s, 0, &r);
        if (i % 256 == 255) {
            craft_poll(&s);
            craft_forget(&s);
        }
    }
    print_message("cookies guessed: %u of 1000000\n",
                  (unsigned)sim_count(&s, 0, TOEC_C_tcp_cookies_taken));
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_taken), 0);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_bad), 1000000);
    craft_forget(&s);
    craft_pass(&s, 300 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* A spoofed SYN, ACK or RST makes its victim be sent no more than the retries, in frames no longer
 * than what came (Bock 2021). */
static void test_amplification(void **state)
{
    static const unsigned flags[] = {F_SYN, F_ACK, F_SYN | F_ACK, F_FIN | F_ACK, F_RST};
    unsigned i, n, bytes;

    (void)state;
    random_begin(2021);
    for (i = 0; i < 5; i++) {
        struct sim s;
        struct raw r;

        start(&s, 16);
        r = syn(anywhere());
        r.flags = flags[i];
        if (flags[i] != F_SYN)
            r.mss = 0;
        craft_forget(&s);
        raw_input(&s, 0, &r);
        craft_pass(&s, 400 * SEC);
        for (n = bytes = 0; n < s.sent_n; n++)
            bytes += s.sent[n]->data[23] == 6 && s.sent[n]->data[13] == 0 ? s.sent[n]->len : 0;
        /* 58 bytes came with an option, 54 without; a SYN-ACK is sent 6 times at most */
        print_message("flags %02x: %u bytes for one segment\n", flags[i], bytes);
        assert_true(bytes <= (flags[i] == F_SYN ? 6 * 58 : flags[i] == F_RST ? 0 : 54));
        sim_stop(&s);
    }
}

static unsigned open_and_close(struct sim *s, uint16_t port, int who_first)
{
    struct raw r = {.src = IP_B, .dst = IP_A, .sport = port, .dport = OWN_PORT, .flags = F_SYN};
    struct tseg g;

    r.seq = (uint32_t)random64();
    r.mss = 1460;
    raw_input(s, 0, &r);
    craft_poll(s);
    if (!craft_next(s, &g) || g.flags != (F_SYN | F_ACK))
        return 0;
    r.flags = F_ACK;
    r.mss = 0;
    r.seq++;
    r.ack = g.seq + 1;
    raw_input(s, 0, &r);
    if (who_first)
        conn_close(s->host[0].conns);
    craft_poll(s);
    r.flags = F_FIN | F_ACK;
    r.ack += (uint32_t)who_first;
    raw_input(s, 0, &r);
    if (!who_first)
        conn_close(s->host[0].conns);
    craft_poll(s);
    r.flags = F_ACK;
    r.seq++;
    r.ack += !who_first;
    raw_input(s, 0, &r);
    craft_poll(s);
    craft_forget(s);
    return 1;
}

/* 100,000 closes within a minute: TIME-WAIT is bounded, new connections are taken all the while. */
static void test_time_wait_exhaustion(void **state)
{
    struct sim s;
    struct toec_usage u;
    unsigned i, done = 0, most = 0;

    (void)state;
    random_begin(1337);
    craft_init(&s);
    s.host[0].cfg.max_flows = 64;
    s.host[0].cfg.max_time_wait = 4096;
    s.host[0].tx_buf = s.host[0].rx_buf = 4096;
    craft_start(&s);
    sim_listen(&s, 0, OWN_PORT, 64, 0);
    for (i = 0; i < 100000; i++) {
        struct conn *c;

        done += open_and_close(&s, (uint16_t)(1024 + i % 64000), 1);
        c = s.host[0].conns;
        assert_true(c->gone);
        s.host[0].conns = c->next; /* tcpsim keeps all for its tests: not these */
        free(c->tx);
        free(c->rx);
        free(c);
        s.now += 500 * USEC;
        toec_usage(s.host[0].stack, &u);
        most = u.time_wait > most ? u.time_wait : most;
    }
    print_message("TIME-WAIT: %u connections, %u entries at most\n", done, most);
    assert_int_equal(done, 100000);
    assert_true(most <= 4096);
    craft_pass(&s, 100 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* A client that connects and asks, its window shut from then on; established. */
static struct conn *stall(struct sim *s, struct raw *r)
{
    struct conn *c;
    struct tseg g;

    *r = syn(anywhere());
    raw_input(s, 0, r);
    craft_poll(s);
    if (!craft_next(s, &g) || g.flags != (F_SYN | F_ACK))
        return 0;
    r->flags = F_ACK;
    r->mss = 0;
    r->seq++;
    r->ack = g.seq + 1;
    r->shut = 1;
    raw_input(s, 0, r);
    craft_poll(s);
    craft_forget(s);
    c = s->host[0].conns;
    conn_write(c, 1000, 1);
    return c;
}

/* Sockstress (CVE-2008-4609): all flows are held by peers that shut their window. They keep what
 * they have while nobody else wants it; then those that stood still go, one for one. R6429-01 */
static void test_all_flows_held(void **state)
{
    static struct raw held[256];
    struct sim s;
    struct toec_usage u;
    struct conn *good;
    unsigned i, round, reset = 0;

    (void)state;
    random_begin(4609);
    start(&s, 256);
    for (i = 0; i < 256; i++)
        assert_non_null(stall(&s, &held[i]));
    good = s.host[0].conns;             /* the last one opens its window again, below */
    assert_false(connect_honestly(&s)); /* nobody has stood still for long yet */
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_no_flow), 1);
    for (round = 0; round < 120; round++) { /* two minutes: each probe is answered */
        struct tseg g;

        held[255].shut = 0;
        if (round == 1)
            held[255].ack += 1000; /* what the open window let through */
        for (i = 0; i < 256; i++)
            raw_input(&s, 0, &held[i]);
        craft_pass(&s, SEC);
        while (craft_next(&s, &g))
            ;
        craft_forget(&s);
    }
    toec_usage(s.host[0].stack, &u);
    assert_int_equal(u.flows, 256);
    for (i = 0; i < 100; i++)
        assert_true(connect_honestly(&s));
    for (struct conn *c = s.host[0].conns; c; c = c->next) {
        reset += c->gone;
        if (c->gone)
            assert_int_equal(c->gone_reason, TOEC_R_NOBUFS);
    }
    assert_int_equal(reset, 100);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_reclaimed), 100);
    assert_false(good->gone);
    for (struct conn *c = s.host[0].conns; c; c = c->next)
        conn_abort(c);
    craft_forget(&s);
    craft_pass(&s, 100 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* CVE-2018-5390: segments of one byte, every second one missing, in random order. */
#define TINY 32767 /* as many as a window of 65535 takes */

static void test_tiny_segments_out_of_order(void **state)
{
    static uint16_t order[TINY];
    struct talk t;
    unsigned i;
    uint64_t kept;

    (void)state;
    random_begin(5390);
    talk_init(&t);
    t.sack = 1;
    talk_passive(&t);
    for (i = 0; i < TINY; i++)
        order[i] = (uint16_t)i;
    for (i = TINY - 1; i > 0; i--) {
        unsigned j = random_below(i + 1);
        uint16_t x = order[i];

        order[i] = order[j];
        order[j] = x;
    }
    for (i = 0; i < TINY; i++) {
        talk_put(&t, F_ACK, 1u + order[i] * 2u, 0, 1);
        if (i % 64 == 63) {
            craft_poll(&t.s);
            craft_forget(&t.s);
        }
    }
    kept = sim_count(&t.s, 0, TOEC_C_tcp_out_of_order);
    assert_int_equal(kept + sim_count(&t.s, 0, TOEC_C_tcp_ooo_full), TINY);
    assert_int_equal(t.c->received, 0);
    /* what was kept is right, and the flow lives: the stream comes whole */
    for (i = 0; i < 65535; i += 1285) {
        talk_say(&t, F_ACK, i, 0, 1285);
        craft_forget(&t.s);
        talk_read(&t, 65536);
        craft_forget(&t.s);
    }
    assert_int_equal(t.c->read, 65535);
    talk_end(&t);
}

/* CVE-2019-11477: a peer with the smallest MSS takes every other crumb, a million times over. */
static void test_sack_panic(void **state)
{
    struct talk t;
    struct tseg g;
    struct toec_info info;
    unsigned i;

    (void)state;
    random_begin(11477);
    talk_init(&t);
    t.sack = 1;
    t.mss = 48;
    t.wscale = 4;
    t.s.host[0].tx_buf = 1 << 20;
    talk_passive(&t);
    talk_send(&t, 1 << 20);
    for (i = 0; i < 1000000; i++) {
        uint32_t flight;
        unsigned k;

        toec_flow_info(t.s.host[0].stack, t.c->flow, &info);
        flight = info.in_flight ? info.in_flight : 1;
        g = talk_seg(&t, F_ACK, 0, (uint32_t)t.c->acked, 0);
        g.n_sack = 4;
        for (k = 0; k < 4; k++) {
            g.sack[k][0] = g.ack + 1 + random_below(flight) / 2 * 2;
            g.sack[k][1] = g.sack[k][0] + 1;
        }
        craft_send(&t.s, &g);
        if (i % 256 == 255) {
            t.s.now += MSEC;
            craft_poll(&t.s);
            craft_forget(&t.s);
        }
        if (t.c->gone)
            break;
    }
    assert_false(t.c->gone);
    craft_forget(&t.s);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_syn_flood),      cmocka_unit_test(test_cookie_forgery),
        cmocka_unit_test(test_amplification),  cmocka_unit_test(test_time_wait_exhaustion),
        cmocka_unit_test(test_all_flows_held), cmocka_unit_test(test_tiny_segments_out_of_order),
        cmocka_unit_test(test_sack_panic),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
