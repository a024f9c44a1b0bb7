/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attack_flood.c - floods: SYNs from everywhere, guessed cookies, connections opened and
 * abandoned, closed repeatedly, tiny out-of-order segments, SACKs of tiny blocks. Memory is fixed
 * by toec_size(); these tests check the pools and which clients are still served. cost.c measures
 * the cost of each.
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

/* Sends SYNs from unused addresses to several ports while 20 honest clients connect; returns how
 * many succeed. */
static unsigned flood(struct sim *s, unsigned count, unsigned ports)
{
    unsigned i, good = 0;

    for (i = 0; i < count; i++) {
        struct raw r = syn(anywhere());

        r.dport = (uint16_t)(OWN_PORT + (ports > 1 ? random_below(ports) : 0));
        raw_input(s, 0, &r);
        if (i % 64 == 63) {
            s->now += 600 * USEC;
            craft_poll(s);
            craft_forget(s);
        }
        if (i % (count / 20) == count / 20 - 1)
            good += (unsigned)connect_honestly(s);
    }
    return good;
}

/* Everything ends, and the pools are full again. */
static void flood_over(struct sim *s)
{
    for (struct conn *c = s->host[0].conns; c; c = c->next)
        conn_abort(c);
    craft_forget(s);
    craft_pass(s, 300 * SEC);
    sim_assert_clean(s);
    sim_stop(s);
}

/* 20 of 20 connects succeed while 850,000 SYNs from unused addresses arrive; the pools do not grow.
 * R4987-01 */
static void test_syn_flood(void **state)
{
    struct sim s;
    struct toec_usage u;
    unsigned good;

    (void)state;
    random_begin(4987);
    start(&s, 1024);
    good = flood(&s, 850000, 1);
    toec_usage(s.host[0].stack, &u);
    print_message("SYN flood: %u of 20 connected, %u half open\n", good, u.half_open);
    assert_int_equal(good, 20);
    assert_true(u.half_open <= 64);
    assert_true(sim_count(&s, 0, TOEC_C_tcp_cookies_sent) > 800000);
    flood_over(&s);
}

/* The same on many ports whose backlogs together exceed the TCBs. */
static void test_syn_flood_upon_many_ports(void **state)
{
    struct sim s;
    struct toec_usage u;
    unsigned i, good;

    (void)state;
    random_begin(4988);
    start(&s, 1024);
    for (i = 1; i < 16; i++)
        sim_listen(&s, 0, (uint16_t)(OWN_PORT + i), 0, 0);
    good = flood(&s, 200000, 16);
    toec_usage(s.host[0].stack, &u);
    print_message("SYN flood upon 16 ports: %u of 20 connected, %u half open of %u flows\n", good,
                  u.half_open, u.flows);
    assert_int_equal(good, 20);
    assert_true(u.half_open <= 512);
    flood_over(&s);
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

/* A spoofed SYN, ACK or RST causes at most the retries to its victim, in frames no longer than the
 * spoofed one (Bock 2021). */
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
        /* 58 bytes received with an option, 54 without; a SYN-ACK is sent 6 times at most */
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

/* 100,000 closes within a minute: TIME-WAIT is bounded, new connections are accepted throughout. */
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

/* A client that connects and sends a request, then closes its window; established. */
static struct conn *stall(struct sim *s, struct raw *r)
{
    struct conn *c;
    struct tseg g;

    *r = syn(anywhere());
    raw_input(s, 0, r);
    craft_poll(s);
    do { /* others may be probed in between */
        if (!craft_next(s, &g))
            return 0;
    } while (g.flags != (F_SYN | F_ACK) || g.dport != r->sport);
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

/* Its window opens after all, and it reads the available data. */
static void relent(struct sim *s, struct raw *r)
{
    r->shut = 0;
    raw_input(s, 0, r);
    craft_poll(s);
    r->ack += 1000;
    raw_input(s, 0, r);
    craft_poll(s);
    craft_forget(s);
}

/* Discards the output, except ARP, which the peer answers. */
static int64_t nobody_listens(struct sim *s, unsigned from, uint8_t *frame, uint32_t len)
{
    (void)s, (void)from, (void)len;
    return frame[13] == 6 ? 0 : -1;
}

/* Advances time while each held connection, and the honest client, reports every other second that
 * its window is still closed, or open. */
static void hold(struct sim *s, const struct raw *held, unsigned n, unsigned seconds)
{
    unsigned at, i;

    s->router = nobody_listens;
    for (at = 0; at < seconds; at += 2) {
        for (i = 0; i < n; i++)
            raw_input(s, 0, &held[i]);
        craft_pass(s, 2 * SEC);
    }
    craft_pass(s, MSEC); /* a poll runs 64 timers: all that are due now */
    craft_forget(s);
    s->router = 0;
}

/* Sockstress (CVE-2008-4609): all flows are held by peers that shut their window. They keep their
 * flows while no new connection needs one; then those without progress for longest are evicted, one
 * for one, and all by a user timeout if the program has set one. R6429-01 */
#define HELD  10000u
#define YOUNG 1000u /* of them came late */

static void test_all_flows_held(void **state)
{
    static struct raw held[HELD];
    static struct conn *conn[HELD];
    struct conn *good;
    struct sim s;
    struct toec_usage u;
    unsigned i, reset = 0;

    (void)state;
    random_begin(4609);
    start(&s, HELD);
    for (i = 0; i < HELD - YOUNG; i++)
        assert_non_null(conn[i] = stall(&s, &held[i]));
    hold(&s, held, HELD - YOUNG, 2);
    good = conn[0];
    relent(&s, &held[0]);
    hold(&s, held, HELD - YOUNG, 120);
    for (; i < HELD; i++)
        assert_non_null(conn[i] = stall(&s, &held[i]));
    hold(&s, held, HELD, 10);
    toec_usage(s.host[0].stack, &u);
    assert_int_equal(u.flows, HELD);
    assert_int_equal(s.host[0].open_now, HELD);
    for (i = 0; i < 100; i++)
        assert_true(connect_honestly(&s));
    for (i = 0; i < HELD; i++) {
        if (!conn[i]->gone)
            continue;
        reset++;
        assert_true(i < HELD - YOUNG);
        assert_int_equal(conn[i]->gone_reason, TOEC_R_NOBUFS);
    }
    assert_int_equal(reset, 100);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_reclaimed), 100);
    assert_false(good->gone);
    for (i = 1; i < HELD; i++) {
        if (!conn[i]->gone)
            assert_int_equal(toec_set_option(s.host[0].stack, conn[i]->flow, TOEC_OPT_USER_TIMEOUT,
                                             60000, s.now),
                             0);
    }
    hold(&s, held, HELD, 240);
    toec_usage(s.host[0].stack, &u);
    print_message("held: %u, reset for newcomers %u, left after the user timeout %u\n", HELD, reset,
                  u.flows);
    assert_int_equal(u.flows, 1 + 100);
    assert_false(good->gone);
    s.router = nobody_listens;
    for (struct conn *c = s.host[0].conns; c; c = c->next) {
        if (c->gone && c->gone_reason != TOEC_R_NOBUFS)
            assert_int_equal(c->gone_reason, TOEC_R_TIMEDOUT);
        conn_abort(c);
    }
    craft_pass(&s, 100 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* ---- slow clients ---- */

#define SLOW    10000u
#define ROUNDS  2000u /* of 10 ms: each slow client has sent two bytes */
#define PER_RND 10u   /* of the slow ones send a byte: each in 10 s */

/* One byte, which the application reads: raw.c's, not those of the pattern. */
static void say_a_byte(struct sim *s, struct raw *r, struct conn *c)
{
    r->len = 1;
    raw_input(s, 0, r);
    r->seq++;
    assert_int_equal(c->received, c->read + 1);
    c->read++;
    assert_int_equal(toec_recv(s->host[0].stack, c->flow, 1, s->now), 0);
}

/* Bytes that a well-behaved client gets in 20 s with a round trip of 10 ms, beside n slow ones. */
static uint64_t fetched_beside(unsigned n)
{
    static struct raw slow[SLOW];
    static struct conn *conn[SLOW];
    struct raw good;
    struct conn *server;
    struct toec_info info;
    struct sim s;
    uint32_t una;
    uint64_t got;
    unsigned i, k;

    start(&s, SLOW + 1);
    s.host[0].tx_buf = 65536;
    assert_non_null(server = stall(&s, &good));
    una = good.ack;
    relent(&s, &good);
    s.host[0].tx_buf = 4096;
    for (i = 0; i < n; i++) {
        assert_non_null(conn[i] = stall(&s, &slow[i]));
        relent(&s, &slow[i]);
        s.now += 10 * USEC;
    }
    s.router = nobody_listens;
    for (i = 0; i < ROUNDS; i++) {
        conn_write(server, 65536, 1);
        craft_pass(&s, 10 * MSEC);
        for (k = 0; n && k < PER_RND; k++)
            say_a_byte(&s, &slow[(i * PER_RND + k) % n], conn[(i * PER_RND + k) % n]);
        toec_flow_info(s.host[0].stack, server->flow, &info);
        good.ack += info.in_flight;
        raw_input(&s, 0, &good);
    }
    got = good.ack - una;
    assert_int_equal(server->acked, got);
    for (i = 0; i < n; i++)
        assert_int_equal(conn[i]->received, ROUNDS * PER_RND / SLOW);
    for (struct conn *c = s.host[0].conns; c; c = c->next)
        conn_abort(c);
    craft_pass(&s, 100 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
    return got;
}

/* Slowloris: ten thousand clients, each a byte in ten seconds. Its cost: bench/attack_cost.py.
 */
static void test_slow_clients(void **state)
{
    uint64_t idle, beside;

    (void)state;
    random_begin(10);
    idle = fetched_beside(0);
    beside = fetched_beside(SLOW);
    print_message("a good client got %llu bytes, beside %u slow ones %llu\n",
                  (unsigned long long)idle, SLOW, (unsigned long long)beside);
    assert_true(idle > 100000000);
    assert_true(beside * 10 >= idle * 8);
}

/* CVE-2018-5390: segments of one byte, every second one missing, in random order. */
#define TINY 65536

static void test_tiny_segments_out_of_order(void **state)
{
    static uint32_t order[TINY];
    struct talk t;
    unsigned i;
    uint64_t kept;

    (void)state;
    random_begin(5390);
    talk_init(&t);
    t.sack = 1;
    t.wscale = 2;
    t.s.host[0].rx_buf = 1 << 18; /* its window fits them all */
    talk_passive(&t);
    talk_say(&t, F_ACK, (uint32_t)-1, 0, 0); /* the reply uses the whole window */
    craft_forget(&t.s);
    for (i = 0; i < TINY; i++)
        order[i] = i;
    for (i = TINY - 1; i > 0; i--) {
        unsigned j = random_below(i + 1);
        uint32_t x = order[i];

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
    /* the kept data is correct, and the flow lives: the stream is complete */
    for (i = 0; i < 2 * TINY; i += 1024) {
        talk_say(&t, F_ACK, i, 0, 1024);
        craft_forget(&t.s);
        talk_read(&t, 65536);
        craft_forget(&t.s);
    }
    assert_int_equal(t.c->read, 2 * TINY);
    talk_end(&t);
}

/* CVE-2019-11477: a peer with the smallest MSS SACKs every other tiny segment, a million times. */
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
        cmocka_unit_test(test_syn_flood),
        cmocka_unit_test(test_syn_flood_upon_many_ports),
        cmocka_unit_test(test_cookie_forgery),
        cmocka_unit_test(test_amplification),
        cmocka_unit_test(test_time_wait_exhaustion),
        cmocka_unit_test(test_all_flows_held),
        cmocka_unit_test(test_slow_clients),
        cmocka_unit_test(test_tiny_segments_out_of_order),
        cmocka_unit_test(test_sack_panic),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
