/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attack_blind.c - an off-path attacker that knows the 4-tuple and guesses sequence numbers
 * (RFC 5961): resets, SYNs, ACKs and data at every edge of the window, in every state; what
 * challenge ACKs reveal; and two ends with desynchronised numbers.
 */
#include "raw.h"
#include "reach.h"

#define FLOOD 10000 /* resets on one connection */
#define WND   65535 /* the window without scaling, the size of the buffer */

/* The window that the stack offers now, minus the byte of a FIN of the peer. */
static uint32_t window_of(struct place *p)
{
    struct toec_info i;

    if (!p->t.c->flow)
        return WND;
    toec_flow_info(p->t.c->host->stack, p->t.c->flow, &i);
    return i.rcv_wnd;
}

/* RFC 5961 3.2: only the exact number resets, others in the window draw a challenge ACK. R5961-01
 */
static void test_reset(void **state)
{
    int s, k;

    (void)state;
    for (s = TOEC_SYN_RECEIVED; s <= TOEC_LAST_ACK; s++) {
        for (k = 0; k < 7; k++) {
            struct place p;
            int64_t at[7];
            unsigned sent;

            reach(&p, (enum toec_state)s);
            at[0] = -1;
            at[1] = 0;
            at[2] = 1;
            at[3] = (int64_t)window_of(&p) - 1;
            at[4] = window_of(
                &p); /* the number of the RST of a peer that filled the window: challenged too */
            at[5] = (int64_t)window_of(&p) + 1;
            at[6] = 0x7fffffff;
            strike(&p, F_RST, at[k], 0, 0);
            sent = talk_skip(&p.t);
            if (k == 1) {
                assert_int_equal(place_state(&p), TOEC_CLOSED);
                assert_int_equal(sent, 0);
            } else {
                assert_int_equal(place_state(&p), s);
                assert_int_equal(sent, k >= 2 && k <= 4);
            }
            place_end(&p);
        }
    }
}

/* SYN-SENT: a reset counts only when it acknowledges our SYN (RFC 9293 3.10.7.3). */
static void test_reset_of_a_connect(void **state)
{
    static const struct {
        int64_t ack;
        unsigned flags;
        int ends;
    } c[] = {{0, F_RST, 0},
             {-1, F_RST | F_ACK, 0},
             {1, F_RST | F_ACK, 0},
             {1000, F_RST | F_ACK, 0},
             {0, F_RST | F_ACK, 1}};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(c) / sizeof(*c); i++) {
        struct place p;

        reach(&p, TOEC_SYN_SENT);
        strike(&p, c[i].flags, 12345, c[i].ack, 0);
        assert_int_equal(talk_skip(&p.t), 0);
        assert_int_equal(place_state(&p), c[i].ends ? TOEC_CLOSED : TOEC_SYN_SENT);
        place_end(&p);
    }
}

/* RFC 5961 4.2: a SYN in a synchronized state is answered with a challenge ACK. R5961-02 */
static void test_syn(void **state)
{
    static const int64_t at[] = {-100000, -1, 0, 1, 30000, 100000, 0x7fffffff};
    int s;
    unsigned k;

    (void)state;
    for (s = TOEC_ESTABLISHED; s <= TOEC_LAST_ACK; s++) {
        for (k = 0; k < sizeof(at) / sizeof(*at); k++) {
            struct place p;
            struct tseg g;

            reach(&p, (enum toec_state)s);
            strike(&p, k & 1 ? F_SYN : F_SYN | F_ACK, at[k], 0, 0);
            g = craft_expect(&p.t.s);
            assert_int_equal(g.flags, F_ACK);
            assert_int_equal(g.ack, p.t.isn + 1 + p.seq);
            talk_silence(&p.t);
            assert_int_equal(place_state(&p), s);
            place_end(&p);
        }
    }
}

/* RFC 5961 5.2: an ACK of unsent data, or a very old one, is rejected. R5961-03 */
static void test_ack(void **state)
{
    int s, k;

    (void)state;
    for (s = TOEC_ESTABLISHED; s <= TOEC_LAST_ACK; s++) {
        for (k = 0; k < 4; k++) {
            struct place p;
            int64_t at[4];

            reach(&p, (enum toec_state)s);
            at[0] = 1;          /* beyond SND.NXT */
            at[1] = 0x40000000; /* far beyond */
            at[2] = -65535 - 2; /* older than the greatest window the peer had */
            at[3] = -0x40000000;
            strike(&p, F_ACK, 0, at[k], 10);
            assert_int_equal(talk_skip(&p.t), 1); /* a challenge */
            assert_int_equal(p.t.c->received, 0);
            assert_int_equal(place_state(&p), s);
            place_end(&p);
        }
    }
}

/* Data in the window with a guessed ACK: 1 of 65,536 guesses at best, not one of two. */
static void test_data(void **state)
{
    struct place p;
    unsigned i, believed = 0;

    (void)state;
    random_begin(5961);
    reach(&p, TOEC_ESTABLISHED);
    for (i = 0; i < 20000; i++) {
        struct tseg g = talk_seg(&p.t, F_ACK, 1000 + random_below(1000), 0, 100);

        g.ack = (uint32_t)random64();
        if (g.ack - (p.t.iss + 1) + WND <= WND)
            continue;
        craft_send(&p.t.s, &g);
        craft_forget(&p.t.s);
        believed += sim_count(&p.t.s, 0, TOEC_C_tcp_out_of_order) != 0;
    }
    assert_int_equal(believed, 0);
    place_end(&p);
}

/* A flood of resets on connection A, and one on B: B sends as many challenges as without A.
 */
static unsigned challenges_of(uint16_t port, struct talk *t, unsigned resets, uint32_t iss)
{
    unsigned i, got = 0;
    struct tseg g;

    for (i = 0; i < resets; i++) {
        g = seg_make(port, OWN_PORT, F_RST, t->isn + 1 + 100 + i, 0);
        craft_send(&t->s, &g);
        while (craft_next(&t->s, &g)) {
            assert_int_equal(g.dport, port);
            assert_int_equal(g.seq, iss);
            got++;
        }
        craft_forget(&t->s);
    }
    return got;
}

static uint32_t second_connection(struct talk *t, uint16_t port)
{
    struct tseg g = seg_make(port, OWN_PORT, F_SYN, t->isn, 0);

    craft_say(&t->s, &g);
    g = craft_expect(&t->s);
    craft_send(&t->s, &(struct tseg){.sport = port,
                                     .dport = OWN_PORT,
                                     .flags = F_ACK,
                                     .seq = t->isn + 1,
                                     .ack = g.seq + 1,
                                     .wnd = 65535,
                                     .mss = -1,
                                     .wscale = -1});
    craft_poll(&t->s);
    return g.seq + 1;
}

/* CVE-2016-5696: the limit of challenge ACKs is each connection's own. R5961-04, R5961-05 */
static void test_challenge_limit_tells_nothing(void **state)
{
    struct place p;
    uint32_t iss;
    unsigned round, alone, beside, limit = 0;

    (void)state;
    reach(&p, TOEC_ESTABLISHED);
    iss = second_connection(&p.t, PEER_PORT + 1);
    talk_skip(&p.t);
    for (round = 0; round < 100; round++) {
        craft_pass(&p.t.s, 2 * SEC);
        craft_forget(&p.t.s);
        alone = challenges_of(PEER_PORT + 1, &p.t, 200, iss);
        craft_pass(&p.t.s, 2 * SEC);
        craft_forget(&p.t.s);
        assert_true(challenges_of(PEER_PORT, &p.t, FLOOD, p.t.iss + 1) <= 10);
        beside = challenges_of(PEER_PORT + 1, &p.t, 200, iss);
        assert_int_equal(alone, beside);
        limit = alone;
    }
    assert_in_range(limit, 1, 10);
    assert_true(sim_count(&p.t.s, 0, TOEC_C_tcp_rx) > 100 * FLOOD);
    conn_abort(p.t.s.host[0].conns);
    place_end(&p);
}

/* The knowledge of an on-path attacker: sequence number and timestamp of each end's SYN. */
struct seen {
    uint32_t iss[2], ts[2];
};

static void see_handshake(struct sim *s, struct seen *seen)
{
    unsigned i, got = 0;

    while (got < 2 && sim_step(s, s->now + SEC)) {
        for (i = 0; i < s->net.n; i++) {
            const uint8_t *f = s->net.heap[i]->data;
            unsigned from = (f[47] & F_ACK) != 0, o = 54;

            if (f[12] != 8 || f[13] != 0 || f[23] != 6 || !(f[47] & F_SYN))
                continue;
            while (f[o] != 8)
                o += f[o] == 1 ? 1 : f[o + 1];
            seen->iss[from] = raw_word(f + 38);
            seen->ts[from] = raw_word(f + o + 2);
            got = from + 1;
        }
    }
    assert_int_equal(got, 2);
}

/* One byte to host `to`, as if the other end had sent it. */
static void inject_byte(struct sim *s, unsigned to, const struct conn *c, const struct seen *seen)
{
    struct raw r = {.src = to ? IP_A : IP_B,
                    .dst = to ? IP_B : IP_A,
                    .sport = c->remote_port,
                    .dport = c->local_port,
                    .seq = seen->iss[1 - to] + 1,
                    .ack = seen->iss[to] + 1,
                    .flags = F_ACK | F_PSH,
                    .has_ts = 1,
                    .tsval = seen->ts[1 - to] + 10,
                    .tsecr = seen->ts[to],
                    .len = 1};

    raw_input(s, to, &r);
    assert_int_equal(c->received, 1);
}

/* Two desynchronised ends acknowledge each other, but not for ever. */
static void test_ack_storm(void **state)
{
    struct sim s;
    struct conn *a, *b;
    struct seen seen = {{0, 0}, {0, 0}};
    uint64_t sent;

    (void)state;
    sim_init(&s, 2);
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, 0);
    a = sim_connect(&s, 0, 80);
    see_handshake(&s, &seen);
    sim_run(&s, SEC);
    b = conn_peer(a);
    assert_non_null(b);
    sent = sim_count(&s, 0, TOEC_C_tcp_tx) + sim_count(&s, 1, TOEC_C_tcp_tx);
    inject_byte(&s, 0, a, &seen);
    inject_byte(&s, 1, b, &seen);
    sim_run(&s, 60 * SEC);
    sent = sim_count(&s, 0, TOEC_C_tcp_tx) + sim_count(&s, 1, TOEC_C_tcp_tx) - sent;
    print_message("ack storm: %u ACKs in 60 s\n", (unsigned)sent);
    assert_true(sent < 20);
    assert_false(a->gone || b->gone);
    conn_abort(a);
    conn_abort(b);
    sim_run(&s, 100 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reset),     cmocka_unit_test(test_reset_of_a_connect),
        cmocka_unit_test(test_syn),       cmocka_unit_test(test_ack),
        cmocka_unit_test(test_data),      cmocka_unit_test(test_challenge_limit_tells_nothing),
        cmocka_unit_test(test_ack_storm),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
