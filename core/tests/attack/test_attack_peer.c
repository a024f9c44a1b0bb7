/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attack_peer.c - a peer that lies: tiny MSS, windows, scales, ACKs of unsent data, one window
 * acknowledged byte by byte, urgent pointers, timestamps from the future, a window that stays
 * closed, resets of TIME-WAIT.
 */
#include "reach.h"

/* CVE-2019-11479: a peer cannot request tiny segments. */
static void test_tiny_mss(void **state)
{
    static const int asked[] = {0, 1, 8, 48, 63, 64};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
        struct talk t;
        struct tseg g;
        unsigned n = 0;

        talk_init(&t);
        t.mss = asked[i];
        talk_passive(&t);
        talk_send(&t, 4000);
        while (craft_next(&t.s, &g)) {
            /* MSS 0 is no MSS: the default */
            assert_in_range(g.len, 64, 536);
            n++;
        }
        assert_in_range(n, 1, 16); /* the initial window counts segments */
        talk_end(&t);
    }
}

/* Shifts above 14 are treated as 14 (RFC 7323 2.3). R7323-03 */
static void test_window_scale(void **state)
{
    int shift;

    (void)state;
    for (shift = 13; shift <= 255; shift += shift < 20 ? 1 : 47) {
        struct talk t;
        struct toec_info i;

        talk_init(&t);
        t.wscale = shift;
        talk_passive(&t);
        toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
        assert_int_equal(i.ws_send, shift > 14 ? 14 : shift);
        talk_end(&t);
    }
}

/* A shrunk window: nothing new beyond the edge, whatever was offered before (SHLD-14's peer).
 */
static void test_window_drawn_back(void **state)
{
    struct talk t;
    struct tseg g;
    uint32_t highest = 0;

    (void)state;
    talk_init(&t);
    t.wnd = 20000;
    talk_passive(&t);
    talk_send(&t, 60000);
    while (craft_next(&t.s, &g)) {
        if (g.seq + g.len - t.iss - 1 > highest)
            highest = g.seq + g.len - t.iss - 1;
    }
    assert_in_range(highest, 1, 20000);
    t.wnd = 100; /* edge now: 1460 + 100, far behind what is in flight */
    talk_say(&t, F_ACK, 0, 1460, 0);
    craft_pass(&t.s, 30 * SEC);
    while (craft_next(&t.s, &g))
        assert_true(g.seq + g.len - t.iss - 1 <= highest);
    t.wnd = 30000;
    talk_say(&t, F_ACK, 0, highest, 0);
    assert_true(craft_next(&t.s, &g));
    assert_int_equal(g.seq - t.iss - 1, highest);
    talk_end(&t);
}

static uint32_t cwnd_of(const struct talk *t)
{
    struct toec_info i;

    toec_flow_info(t->s.host[0].stack, t->c->flow, &i);
    return i.cwnd;
}

/* Begins a transfer with ten segments under way. */
static void transfer(struct talk *t)
{
    talk_init(t);
    t->s.host[0].tx_buf = 1 << 20;
    talk_passive(t);
    talk_send(t, 1 << 20);
    assert_int_equal(talk_skip(t), 10);
    craft_pass(&t->s, 10 * MSEC);
}

/* ACKs of unsent data are rejected: the sender does not speed up (CERT VU#102014). */
static void test_optimistic_ack(void **state)
{
    struct talk honest, hostile;
    uint32_t ahead;

    (void)state;
    transfer(&honest);
    transfer(&hostile);
    for (ahead = 1; ahead < 100000; ahead = ahead * 3 + 1) {
        talk_say(&hostile, F_ACK, 0, 14600 + ahead, 0);
        assert_int_equal(cwnd_of(&hostile), cwnd_of(&honest));
        assert_int_equal(hostile.c->acked, 0);
    }
    talk_skip(&hostile);
    talk_say(&honest, F_ACK, 0, 14600, 0);
    talk_say(&hostile, F_ACK, 0, 14600, 0);
    assert_int_equal(cwnd_of(&hostile), cwnd_of(&honest));
    talk_end(&honest);
    talk_end(&hostile);
}

/* One window acknowledged byte by byte opens cwnd no further than whole segments do. R5681-03 */
static void test_ack_division(void **state)
{
    struct talk honest, hostile;
    uint32_t at;

    (void)state;
    transfer(&honest);
    transfer(&hostile);
    for (at = 1460; at <= 14600; at += 1460)
        talk_put(&honest, F_ACK, 0, at, 0);
    for (at = 1; at <= 14600; at++)
        talk_put(&hostile, F_ACK, 0, at, 0);
    print_message("cwnd after one window: %u by segments, %u by bytes\n", cwnd_of(&honest),
                  cwnd_of(&hostile));
    assert_true(cwnd_of(&hostile) <= cwnd_of(&honest));
    talk_end(&honest);
    talk_end(&hostile);
}

/* URGENT/11 and its like: the pointer counts for nothing that is copied. MUST-30 */
static void test_urgent_pointer(void **state)
{
    static const uint16_t pointer[] = {0, 1, 9, 10, 11, 0x7fff, 0xffff};
    static const unsigned with[] = {0, F_URG, F_URG | F_PSH};
    unsigned i, j, n;
    int s;

    (void)state;
    for (i = 0; i < 7; i++) {
        for (j = 0; j < 3; j++) {
            struct place p;

            reach(&p, TOEC_ESTABLISHED);
            for (n = 0; n < 5; n++) {
                struct tseg g = talk_seg(&p.t, F_ACK | with[j], n * 10, 0, 10);

                g.urg = pointer[i];
                craft_send(&p.t.s, &g);
                craft_poll(&p.t.s);
            }
            assert_int_equal(p.t.c->received, 50);
            assert_int_equal(conn_read(p.t.c, 50), 50);
            place_end(&p);
        }
    }
    for (s = FIRST_STATE; s <= LAST_STATE; s++) {
        for (i = 0; i < 7 * 4; i++) {
            static const unsigned also[] = {F_ACK, F_SYN, F_FIN | F_ACK, F_RST};
            struct place p;
            struct tseg g;

            reach(&p, (enum toec_state)s);
            g = talk_seg(&p.t, F_URG | also[i / 7], p.seq, p.ack, i & 1 ? 5 : 0);
            g.urg = pointer[i % 7];
            craft_send(&p.t.s, &g);
            craft_poll(&p.t.s);
            assert_true(p.t.c->received <= 5);
            place_end(&p);
        }
    }
}

/* A connection that reuses the TCB of one with urgent data starts without it. */
static void test_urgent_pointer_of_another(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned i;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.max_flows = 1;
    talk_passive(&t);
    g = talk_seg(&t, F_ACK | F_URG, 0, 0, 10);
    g.urg = 0xffff;
    craft_say(&t.s, &g);
    assert_int_equal(t.c->urgent, 1);
    talk_say(&t, F_RST, 10, 0, 0);
    assert_true(t.c->gone);
    t.isn += 100000;
    g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
    talk_skip(&t);
    craft_say(&t.s, &g);
    t.iss = craft_expect(&t.s).seq;
    talk_say(&t, F_ACK, 0, 0, 0);
    t.c = t.s.host[0].conns;
    for (i = 0; i < 5; i++)
        talk_say(&t, F_ACK, i * 10, 0, 10);
    assert_int_equal(t.c->received, 50);
    assert_int_equal(conn_read(t.c, 50), 50);
    assert_int_equal(t.c->urgent, 0);
    talk_end(&t);
}

static void established_with_timestamps(struct talk *t)
{
    talk_init(t);
    t->ts = 1;
    talk_passive(t);
}

/* TS.Recent is taken from acceptable segments alone, and not from beyond a gap. R7323-12 */
static void test_timestamp_from_the_future(void **state)
{
    int k;

    (void)state;
    for (k = 0; k < 5; k++) {
        struct talk t;
        uint32_t now;

        established_with_timestamps(&t);
        now = t.tsval;
        t.tsval = now + 0x70000000u;
        switch (k) {
        case 0: /* left of the window */
            talk_put(&t, F_ACK, (uint32_t)-5000, 0, 100);
            break;
        case 1: /* right of it */
            talk_put(&t, F_ACK, 200000, 0, 100);
            break;
        case 2: /* in it, acknowledging unsent data */
            talk_put(&t, F_ACK, 0, 5000, 100);
            break;
        case 3: /* in it, beyond a gap: placed, but TS.Recent is not to move */
            talk_put(&t, F_ACK, 5000, 0, 100);
            break;
        default: /* a reset that only draws a challenge ACK */
            talk_put(&t, F_RST, 100, 0, 0);
            break;
        }
        craft_poll(&t.s);
        craft_pass(&t.s, SEC);
        talk_skip(&t);
        t.tsval = now + 1;
        talk_say(&t, F_ACK, 0, 0, 100);
        assert_int_equal(t.c->received, 100);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_paws), 0);
        talk_end(&t);
    }
}

/* A window closed for a day: the connection stays (MUST-37), with ever rarer probes, and is evicted
 * as soon as the system needs its memory (R6429-01). */
static void test_window_shut_for_a_day(void **state)
{
    struct talk t;
    struct tseg g;
    toec_time until;
    unsigned probes = 0;

    (void)state;
    talk_open(&t);
    t.wnd = 0;
    talk_say(&t, F_ACK, 0, 0, 0);
    conn_write(t.c, 1000, 1);
    for (until = t.s.now + 86400 * SEC; t.s.now < until; craft_pass(&t.s, 10 * SEC)) {
        while (craft_next(&t.s, &g)) {
            assert_true(g.len <= 1);
            probes++;
            talk_say(&t, F_ACK, 0, 0, 0);
        }
        craft_forget(&t.s);
    }
    print_message("probes in a day: %u\n", probes);
    assert_false(t.c->gone);
    assert_in_range(probes, 86400 / 120, 86400 / 60);
    conn_abort(t.c);
    assert_true(t.c->gone);
    talk_end(&t);
}

/* ... and a user timeout ends it, should the application have set one. */
static void test_window_shut_ends_by_user_timeout(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned i;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_USER_TIMEOUT, 30000);
    t.wnd = 0;
    talk_say(&t, F_ACK, 0, 0, 0);
    conn_write(t.c, 1000, 1);
    for (i = 0; i < 200 && !t.c->gone; i++) {
        craft_pass(&t.s, SEC);
        while (craft_next(&t.s, &g) && !t.c->gone)
            talk_say(&t, F_ACK, 0, 0, 0);
    }
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_TIMEDOUT);
    assert_in_range(i, 30, 125);
    talk_end(&t);
}

/* No old duplicate or stray ACK ends TIME-WAIT early, and no reset but one with the exact number;
 * with toec_config.rfc1337 not even that: R1337-01 */
static void test_time_wait_assassination(void **state)
{
    static const int64_t at[] = {-70000, -1, 0, 1, 1000, 70000};
    static const unsigned flags[] = {F_RST, F_RST | F_ACK, F_ACK, F_FIN | F_ACK};
    unsigned i, j, rfc1337;
    struct place p;

    (void)state;
    for (rfc1337 = 0; rfc1337 < 2; rfc1337++) {
        reach_as(&p, TOEC_TIME_WAIT, rfc1337);
        for (i = 0; i < 6; i++) {
            for (j = 0; j < 4; j++) {
                if (!rfc1337 && (flags[j] & F_RST) && at[i] == 0)
                    continue;
                strike(&p, flags[j], at[i], 0, j == 2 ? 100 : 0);
                strike(&p, flags[j], at[i], at[i], 0);
                assert_int_equal(place_state(&p), TOEC_TIME_WAIT);
            }
        }
        craft_forget(&p.t.s);
        place_end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny_mss),
        cmocka_unit_test(test_window_scale),
        cmocka_unit_test(test_window_drawn_back),
        cmocka_unit_test(test_optimistic_ack),
        cmocka_unit_test(test_ack_division),
        cmocka_unit_test(test_urgent_pointer),
        cmocka_unit_test(test_urgent_pointer_of_another),
        cmocka_unit_test(test_timestamp_from_the_future),
        cmocka_unit_test(test_window_shut_for_a_day),
        cmocka_unit_test(test_window_shut_ends_by_user_timeout),
        cmocka_unit_test(test_time_wait_assassination),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
