/* SPDX-License-Identifier: Apache-2.0 */
/* test_arp_probe.c - our address is tested before it is used (RFC 5227 2.1). R826-04. */
#include "ip/ip_out.h"
#include "ip/stack.h"

#include "bench.h"

static const uint8_t no_mac[6];

static void begin(struct bench *b)
{
    bench_config(b);
    b->cfg.arp_probe = 1;
    bench_start(b);
}

static int state_of(struct bench *b, const uint8_t *mac)
{
    uint8_t got[6];
    int state = toec_ip4_state(b->s, got);

    assert_memory_equal(got, mac, 6);
    return state;
}

/* The next frame is an ARP request to everyone about our address, from `spa`. */
static void expect_request(struct bench *b, uint32_t spa)
{
    const struct sent *f = bench_next(b);

    assert_non_null(f);
    assert_int_equal(peek16(f->data + 12), 0x0806);
    assert_memory_equal(f->data, broadcast_mac, 6);
    assert_int_equal(peek16(f->data + 20), 1);
    assert_memory_equal(f->data + 22, own_mac, 6);
    assert_int_equal(peek32(f->data + 28), spa);
    assert_memory_equal(f->data + 32, no_mac, 6);
    assert_int_equal(peek32(f->data + 38), OWN_IP);
}

/* Three probes a second or two apart, after a random part of a second; after two seconds without a
 * claim the address is ours and announced. */
static void nobody_objects(void **state)
{
    struct bench b;
    toec_time at[3], start;
    unsigned i;

    (void)state;
    begin(&b);
    start = b.now;
    for (i = 0; i < 3; i++) {
        while (b.sent_read == b.sent_count)
            bench_pass(&b, 10 * MSEC);
        at[i] = b.now;
        expect_request(&b, 0);
        assert_null(bench_next(&b));
        assert_int_equal(state_of(&b, no_mac), TOEC_IP4_TESTED);
    }
    assert_true(at[0] - start <= SEC + 20 * MSEC);
    for (i = 1; i < 3; i++)
        assert_in_range(at[i] - at[i - 1], SEC - 20 * MSEC, 2 * SEC + 20 * MSEC);
    bench_pass(&b, 2 * SEC - 30 * MSEC);
    assert_null(bench_next(&b));
    bench_pass(&b, 60 * MSEC);
    expect_request(&b, OWN_IP);
    assert_int_equal(state_of(&b, no_mac), TOEC_IP4_OWN);
    bench_pass(&b, 2 * SEC + 20 * MSEC);
    expect_request(&b, OWN_IP);
    assert_true(bench_poll(&b) == TOEC_NEVER);
    bench_stop(&b);
}

/* An address that is not ours yet is not answered for, received on, or sent from. */
static void unused_meanwhile(void **state)
{
    uint8_t f[128], ping[16], icmp[32];
    struct ip4_spec spec = {.src = PEER_IP, .dst = OWN_IP, .proto = 1, .ttl = 64};
    struct bench b;

    (void)state;
    begin(&b);
    bench_pass(&b, 1100 * MSEC);
    bench_forget_sent(&b);
    memset(ping, 7, sizeof(ping));
    bench_input(&b, f, make_arp(f, 1, peer_mac, PEER_IP, broadcast_mac, OWN_IP));
    bench_input(&b, f, make_ip4(f, &spec, icmp, make_icmp(icmp, 8, 0, 1, ping, sizeof(ping))));
    bench_poll(&b);
    assert_null(bench_next(&b));
    assert_false(toec_addr_is_own(b.s, mapped(OWN_IP)));
    assert_int_equal(bench_counter(&b, TOEC_C_arp_conflict), 0);
    bench_pass(&b, 10 * SEC);
    bench_forget_sent(&b);
    assert_true(toec_addr_is_own(b.s, mapped(OWN_IP)));
    bench_input(&b, f, make_arp(f, 1, peer_mac, PEER_IP, broadcast_mac, OWN_IP));
    assert_non_null(bench_next(&b));
    bench_stop(&b);
}

/* A reply, a claim or another's probe: the address is not ours, now or later. */
static void somebody_objects(void **state)
{
    static const struct {
        int op;
        uint32_t spa, tpa;
        int counts;
    } heard[] = {
        {2, OWN_IP, 0, 1}, {1, OWN_IP, OWN_IP, 1}, {1, 0, OWN_IP, 1},       {2, OWN_IP, PEER_IP, 1},
        {2, 0, OWN_IP, 0}, {1, 0, PEER_IP, 0},     {1, PEER_IP, OWN_IP, 0}, {2, PEER_IP, OWN_IP, 0},
    };
    uint8_t f[64];
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(heard) / sizeof(heard[0]); i++) {
        struct bench b;

        begin(&b);
        bench_pass(&b, 1500 * MSEC);
        /* our own probe, reflected by the network, is no objection */
        bench_input(&b, f, make_arp(f, 1, own_mac, 0, broadcast_mac, OWN_IP));
        assert_int_equal(state_of(&b, no_mac), TOEC_IP4_TESTED);
        bench_input(&b, f,
                    make_arp(f, heard[i].op, other_mac, heard[i].spa, own_mac, heard[i].tpa));
        assert_int_equal(state_of(&b, heard[i].counts ? other_mac : no_mac),
                         heard[i].counts ? TOEC_IP4_TAKEN : TOEC_IP4_TESTED);
        assert_int_equal(bench_counter(&b, TOEC_C_arp_conflict), heard[i].counts);
        bench_forget_sent(&b);
        bench_pass(&b, 20 * SEC);
        assert_int_equal(b.sent_count > 0, !heard[i].counts);
        bench_stop(&b);
    }
}

/* Not configured: ours immediately; a later claimant is recorded. */
static void claims_in_use(void **state)
{
    uint8_t f[64];
    struct bench b;

    (void)state;
    bench_init(&b);
    assert_int_equal(state_of(&b, no_mac), TOEC_IP4_OWN);
    bench_input(&b, f, make_arp(f, 1, other_mac, OWN_IP, broadcast_mac, OWN_IP));
    assert_int_equal(state_of(&b, other_mac), TOEC_IP4_OWN);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_objects),
        cmocka_unit_test(unused_meanwhile),
        cmocka_unit_test(somebody_objects),
        cmocka_unit_test(claims_in_use),
    };

    return cmocka_run_group_tests_name("arp_probe", tests, 0, 0);
}
