/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_expect.c - toec_expect(): it knows the flows of frames, and believes nothing else.
 */
#include <stdlib.h>

#include "tcpsim.h"

static struct {
    unsigned known, unknown;
    struct conn *conns[2];
} seen;

/* Passes a frame of exact size, so that a sanitizer detects reads beyond its end. */
static struct toec_expected ask(struct toec_stack *s, const uint8_t *frame, uint32_t len)
{
    uint8_t *copy = malloc(len ? len : 1);
    struct toec_packet p = {.data = copy, .head_len = len, .len = len};
    struct toec_expected x = {&seen, 7, 7};

    memcpy(copy, frame, len);
    toec_expect(s, &p, 1, &x);
    free(copy);
    return x;
}

/* Every frame on the link, at the host that it is for. */
static int64_t look(struct sim *s, unsigned from, uint8_t *frame, uint32_t len)
{
    struct host *to = &s->host[!from];
    struct toec_expected x = ask(to->stack, frame, len);
    uint32_t cut;

    if (x.owner) {
        assert_ptr_equal(x.owner, seen.conns[!from]);
        assert_int_equal(x.off, (uint32_t)seen.conns[!from]->received);
        seen.known++;
    } else {
        seen.unknown++;
    }
    for (cut = 0; cut < 14 + 20 + 20; cut++)
        assert_null(ask(to->stack, frame, cut).owner);
    return 0;
}

static void talk_both_ways(struct sim *s)
{
    struct conn *c, *peer;
    uint32_t id;
    int i;

    memset(&seen, 0, sizeof(seen));
    sim_init(s, 2);
    sim_start(s);
    sim_run(s, 5 * SEC); /* addresses of IPv6 */
    sim_listen(s, 1, 80, 8, &id);
    c = sim_connect(s, 0, 80);
    sim_run(s, 1 * SEC);
    peer = conn_peer(c);
    assert_non_null(peer);
    seen.conns[0] = c;
    seen.conns[1] = peer;
    s->router = look;
    for (i = 0; i < 20; i++) {
        assert_int_equal(conn_write(c, 100, 1), 100);
        assert_int_equal(conn_write(peer, 300, 1), 300);
        sim_run(s, 200 * MSEC);
        conn_read(c, 300);
        conn_read(peer, 100);
    }
    assert_int_equal(toec_flow_count(s->host[0].stack), 1);
    assert_in_range(seen.known, 40, 400);
}

static void test_frames_of_a_flow_are_known(void **state)
{
    struct sim s;

    (void)state;
    talk_both_ways(&s);
    assert_int_equal(seen.unknown, 0);
    sim_stop(&s);
    sim_ip6 = 1;
    talk_both_ways(&s);
    sim_stop(&s);
    sim_ip6 = 0;
}

/* Other ports, other protocols, fragments of nothing: no flow, and no counter moves. */
static void test_other_frames_are_not(void **state)
{
    static const uint8_t ip4[] = {0x08, 0x00, 0x45}, ip6[] = {0x86, 0xdd, 0x60};
    uint64_t before[TOEC_C_MAX];
    uint8_t frame[200];
    struct sim s;
    unsigned i, n;

    (void)state;
    random_begin(1);
    talk_both_ways(&s);
    memcpy(before, toec_counters(s.host[0].stack), sizeof(before));
    for (i = 0; i < 20000; i++) {
        for (n = 0; n < sizeof(frame); n++)
            frame[n] = (uint8_t)random64();
        if (i & 1) {
            memcpy(frame + 12, i & 2 ? ip4 : ip6, sizeof(ip4));
            frame[i & 2 ? 23 : 20] = 6;
        }
        assert_null(ask(s.host[0].stack, frame, (uint32_t)random_below(sizeof(frame))).owner);
    }
    assert_memory_equal(before, toec_counters(s.host[0].stack), sizeof(before));
    sim_stop(&s);
}

#define CROWD 100

static struct {
    unsigned asked;
    struct conn *last;
    uint32_t off;
} coming;

static void note_send(void *user, void *owner, toec_u32 off)
{
    (void)user;
    coming.asked++;
    coming.last = owner;
    coming.off = off;
}

/* Has ACKs of a connection of host 0 wait for answers, as in a conversation. */
static void wait_for_answers(struct sim *s, struct conn *c)
{
    assert_int_equal(toec_set_option(s->host[0].stack, c->flow, TOEC_OPT_QUICKACK, 0, s->now), 0);
}

/* Flows wait for room to send. The flows served next are predicted, with their stream position;
 * those with only an ACK pending are not. */
static void test_what_will_be_sent(void **state)
{
    struct conn *c[CROWD];
    struct sim s;
    unsigned i, n;
    uint32_t id;

    (void)state;
    memset(&coming, 0, sizeof(coming));
    sim_init(&s, 2);
    s.host[0].cfg.expect_send = note_send;
    sim_start(&s);
    sim_listen(&s, 1, 80, CROWD, &id);
    for (i = 0; i < CROWD; i++)
        c[i] = sim_connect(&s, 0, 80);
    sim_run(&s, 1 * SEC);
    for (i = 0; i < CROWD; i++) {
        wait_for_answers(&s, c[i]);
        assert_int_equal(conn_write(c[i], 10 + i, 1), 10 + i);
        sim_run(&s, 1 * MSEC);
    }
    assert_int_equal(coming.asked, 0); /* no flow had to wait */

    for (i = 0; i < CROWD; i++)
        assert_int_equal(conn_write(conn_peer(c[i]), 100, 1), 100);
    sim_run(&s, 200 * MSEC);
    assert_in_range(sim_count(&s, 0, TOEC_C_tcp_delayed_acks), CROWD, CROWD + 10);
    assert_int_equal(coming.asked, 0);

    s.host[0].tx_room = 0;
    for (i = 0; i < CROWD; i++)
        assert_int_equal(conn_write(c[i], 50, 1), 50);
    coming.asked = 0;
    for (n = 1; n + 20 < CROWD; n++) { /* c[n - 1] is next */
        s.host[0].tx_room = 1;
        toec_poll(s.host[0].stack, s.now);
        for (i = n + 1; i < n + 12 && c[i] != coming.last; i++)
            ;
        assert_ptr_equal(c[i], coming.last);
        assert_int_equal(coming.off, 10 + i);
    }
    assert_true(coming.asked >= CROWD - 20);
    s.host[0].tx_room = -1;
    sim_run(&s, 1 * SEC);
    for (i = 0; i < CROWD; i++) {
        assert_int_equal(c[i]->acked, 60 + i);
        conn_shutdown(c[i]);
    }
    sim_run(&s, 1 * SEC);
    coming.asked = 0;
    for (i = 0; i < CROWD; i++) {
        wait_for_answers(&s, c[i]);
        assert_int_equal(conn_write(conn_peer(c[i]), 100, 1), 100);
    }
    sim_run(&s, 200 * MSEC);
    assert_in_range(sim_count(&s, 0, TOEC_C_tcp_delayed_acks), 2 * CROWD, 2 * CROWD + 10);
    assert_int_equal(coming.asked, 0); /* a FIN ends the data to send */
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_of_a_flow_are_known),
        cmocka_unit_test(test_other_frames_are_not),
        cmocka_unit_test(test_what_will_be_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
