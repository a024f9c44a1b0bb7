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

/* Asks about a frame at its exact size, so that a sanitizer sees what is read behind its end. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_of_a_flow_are_known),
        cmocka_unit_test(test_other_frames_are_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
