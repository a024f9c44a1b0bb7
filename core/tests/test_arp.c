/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arp.c - ARP and the neighbour cache: each rule of RFC 826, 1122 2.3.2.1, 4861 7.3 and 5227
 * that arp.c and neigh.c follow, in virtual time.
 */
#include "arp_bench.h"

/* R826-04: no probes before it unless configured (test_arp_probe.c), as Linux. */
static void announces_twice(void **state)
{
    struct bench b;

    (void)state;
    bench_config(&b);
    bench_start(&b);
    assert_null(bench_next(&b)); /* nothing before the first poll */
    bench_poll(&b);
    expect_arp(&b, 1, broadcast_mac, OWN_IP);
    assert_null(bench_next(&b));
    bench_pass(&b, 2 * SEC + 2 * MSEC);
    expect_arp(&b, 1, broadcast_mac, OWN_IP);
    assert_true(bench_poll(&b) == TOEC_NEVER);
    bench_stop(&b);
}

static void resolves_then_sends(void **state)
{
    struct toec_path path;
    struct bench b;
    uint8_t f[64];
    toec_u32 epoch;

    (void)state;
    bench_init(&b);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT);
    expect_arp(&b, 1, broadcast_mac, PEER_IP);
    epoch = toec_send_epoch(b.s);
    assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT); /* one request is enough */
    assert_null(bench_next(&b));
    assert_int_equal(toec_send_epoch(b.s), epoch);
    bench_input(&b, f, make_arp(f, 2, peer_mac, PEER_IP, own_mac, OWN_IP));
    assert_int_not_equal(toec_send_epoch(b.s), epoch);
    assert_int_equal(try_send(&b, &path), 0);
    expect_sent_to(&b, peer_mac);
    bench_stop(&b);
}

/* R1122-28: one request per second; R4861-04's three, then failure; then all over again. */
static void gives_up_after_three_requests(void **state)
{
    struct toec_path path;
    struct bench b;
    unsigned i;

    (void)state;
    bench_init(&b);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    for (i = 0; i < 3; i++) {
        assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT);
        expect_arp(&b, 1, broadcast_mac, PEER_IP);
        bench_pass(&b, 990 * MSEC);
        assert_null(bench_next(&b));
        assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT);
        bench_pass(&b, 12 * MSEC);
    }
    assert_null(bench_next(&b));
    assert_int_equal(try_send(&b, &path), TOEC_SEND_UNREACH);
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_failed), 1);
    bench_pass(&b, 2 * SEC); /* reported immediately while the failure is recent */
    assert_int_equal(try_send(&b, &path), TOEC_SEND_UNREACH);
    assert_null(bench_next(&b));
    bench_pass(&b, 2 * SEC);
    assert_int_equal(neighbours(&b), 0);
    assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT);
    expect_arp(&b, 1, broadcast_mac, PEER_IP);
    bench_stop(&b);
}

/* A waiting sender detects the failure by the epoch. */
static void failure_changes_the_epoch(void **state)
{
    struct toec_path path;
    struct bench b;
    toec_u32 epoch;

    (void)state;
    bench_init(&b);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT);
    epoch = toec_send_epoch(b.s);
    bench_pass(&b, 2900 * MSEC);
    assert_int_equal(toec_send_epoch(b.s), epoch);
    bench_pass(&b, 200 * MSEC);
    assert_int_not_equal(toec_send_epoch(b.s), epoch);
    bench_stop(&b);
}

static void late_answer_revives_a_failed_neighbour(void **state)
{
    struct toec_path path;
    struct bench b;
    uint8_t f[64];

    (void)state;
    bench_init(&b);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT);
    bench_pass(&b, 4 * SEC);
    assert_int_equal(try_send(&b, &path), TOEC_SEND_UNREACH);
    bench_forget_sent(&b);
    bench_input(&b, f, make_arp(f, 2, peer_mac, PEER_IP, own_mac, OWN_IP));
    assert_int_equal(try_send(&b, &path), 0);
    expect_sent_to(&b, peer_mac);
    bench_stop(&b);
}

/* RFC 4861 7.3: after 30 s unconfirmed an entry is still used, and probed by unicast 5 s later. */
static void stale_entry_is_probed_on_use(void **state)
{
    struct toec_path path;
    struct bench b;
    uint8_t f[64];
    unsigned i;

    (void)state;
    bench_init(&b);
    resolve(&b, &path, PEER_IP, peer_mac);
    bench_pass(&b, 31 * SEC);
    assert_null(bench_next(&b)); /* no sender, no probe */
    assert_int_equal(try_send(&b, &path), 0);
    expect_sent_to(&b, peer_mac);
    bench_pass(&b, 4990 * MSEC);
    assert_null(bench_next(&b));
    bench_pass(&b, 20 * MSEC);
    expect_arp(&b, 1, peer_mac, PEER_IP);
    assert_int_equal(try_send(&b, &path), 0); /* used while in doubt */
    expect_sent_to(&b, peer_mac);
    bench_input(&b, f, make_arp(f, 2, peer_mac, PEER_IP, own_mac, OWN_IP));
    bench_pass(&b, 29 * SEC);
    assert_null(bench_next(&b));
    /* Again, without a reply: three unicast, then three broadcast requests, then the entry is
     * removed. */
    bench_pass(&b, 2 * SEC);
    assert_int_equal(try_send(&b, &path), 0);
    bench_forget_sent(&b);
    bench_pass(&b, 5010 * MSEC);
    for (i = 0; i < 3; i++) {
        expect_arp(&b, 1, peer_mac, PEER_IP);
        assert_null(bench_next(&b));
        bench_pass(&b, 1002 * MSEC);
    }
    assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT);
    for (i = 0; i < 3; i++) {
        expect_arp(&b, 1, broadcast_mac, PEER_IP);
        assert_null(bench_next(&b));
        bench_pass(&b, 1002 * MSEC);
    }
    assert_int_equal(try_send(&b, &path), TOEC_SEND_UNREACH);
    bench_stop(&b);
}

/* RFC 9293 3.8.3: a transport that receives nothing triggers verification of the neighbour
 * immediately, but not if others have just received through it. */
static void doubt_is_settled_at_once(void **state)
{
    struct toec_path path;
    struct bench b;
    unsigned i;

    (void)state;
    bench_init(&b);
    resolve(&b, &path, PEER_IP, peer_mac);
    bench_pass(&b, 10 * SEC);
    toec_path_confirm(b.s, &path, b.now);
    bench_pass(&b, 500 * MSEC);
    toec_path_doubt(b.s, &path, b.now);
    bench_pass(&b, 2 * MSEC);
    assert_null(bench_next(&b));
    bench_pass(&b, SEC);
    assert_int_equal(try_send(&b, &path), 0); /* looked up again: path.gen */
    expect_sent_to(&b, peer_mac);
    toec_path_doubt(b.s, &path, b.now);
    bench_pass(&b, 2 * MSEC);
    for (i = 0; i < 3; i++) {
        expect_arp(&b, 1, peer_mac, PEER_IP);
        assert_null(bench_next(&b));
        (void)try_send(&b, &path);
        bench_forget_sent(&b);
        toec_path_doubt(b.s, &path, b.now); /* of another flow: once is enough */
        bench_pass(&b, 1002 * MSEC);
    }
    expect_arp(&b, 1, broadcast_mac, PEER_IP); /* it may be elsewhere now */
    bench_stop(&b);
}

/* RFC 4861 7.3.1: acknowledgements from beyond it confirm a neighbour without any ARP. */
static void progress_spares_probes(void **state)
{
    struct toec_path path;
    struct bench b;
    unsigned i;

    (void)state;
    bench_init(&b);
    resolve(&b, &path, PEER_IP, peer_mac);
    for (i = 0; i < 300; i++) {
        bench_pass(&b, SEC);
        assert_int_equal(try_send(&b, &path), 0);
        expect_sent_to(&b, peer_mac);
        assert_null(bench_next(&b));
        bench_forget_sent(&b);
        toec_path_confirm(b.s, &path, b.now);
    }
    bench_pass(&b, 40 * SEC); /* stale; confirmed again before the probe */
    assert_int_equal(try_send(&b, &path), 0);
    bench_forget_sent(&b);
    toec_path_confirm(b.s, &path, b.now);
    bench_pass(&b, 20 * SEC);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* R1122-27: unused entries are flushed. */
static void unused_entries_go_away(void **state)
{
    struct toec_path path;
    struct bench b;

    (void)state;
    bench_init(&b);
    resolve(&b, &path, PEER_IP, peer_mac);
    bench_pass(&b, 629 * SEC);
    assert_int_equal(neighbours(&b), 1);
    bench_pass(&b, 3 * SEC);
    assert_int_equal(neighbours(&b), 0);
    assert_true(bench_poll(&b) == TOEC_NEVER);
    assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT); /* the path notices */
    bench_stop(&b);
}

/* R826-01, and RFC 826: the sender of a request for our address is learned, since the reply needs
 * it. */
static void answers_requests_and_learns(void **state)
{
    const struct sent *sent;
    struct toec_path path;
    struct bench b;
    uint8_t f[64];

    (void)state;
    bench_init(&b);
    bench_input(&b, f, make_arp(f, 1, peer_mac, PEER_IP, 0, OWN_IP));
    expect_arp(&b, 2, peer_mac, PEER_IP);
    sent = &b.sent[0];
    assert_memory_equal(sent->data + 32, peer_mac, 6);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(try_send(&b, &path), 0);
    expect_sent_to(&b, peer_mac);
    bench_input(&b, f, make_arp(f, 1, other_mac, PEER_IP + 7, 0, PEER_IP)); /* not for us */
    assert_null(bench_next(&b));
    assert_int_equal(neighbours(&b), 1);
    bench_stop(&b);
}

static void unsolicited_replies_teach_nothing_new(void **state)
{
    struct bench b;
    uint8_t f[64];

    (void)state;
    bench_init(&b);
    bench_input(&b, f, make_arp(f, 2, peer_mac, PEER_IP, own_mac, OWN_IP));
    bench_input(&b, f, make_arp(f, 2, peer_mac, PEER_IP, broadcast_mac, PEER_IP));
    bench_input(&b, f, make_arp(f, 1, peer_mac, PEER_IP, 0, PEER_IP)); /* gratuitous */
    assert_int_equal(neighbours(&b), 0);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* R826-02: a known sender's new address is learned from any ARP packet, and then verified. */
static void merge_updates_known_senders(void **state)
{
    struct toec_path path;
    struct bench b;
    uint8_t f[64];

    (void)state;
    bench_init(&b);
    resolve(&b, &path, PEER_IP, peer_mac);
    bench_input(&b, f, make_arp(f, 1, other_mac, PEER_IP, 0, PEER_IP));
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_changed), 1);
    assert_int_equal(try_send(&b, &path), 0);
    expect_sent_to(&b, other_mac);
    bench_pass(&b, 5010 * MSEC);
    expect_arp(&b, 1, other_mac, PEER_IP);
    /* The same claim again changes nothing. */
    bench_input(&b, f, make_arp(f, 1, other_mac, PEER_IP, 0, PEER_IP));
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_changed), 1);
    bench_stop(&b);
}

/* R826-03 and senders that cannot be. */
static void malformed_packets_are_dropped(void **state)
{
    static const struct {
        unsigned at;
        uint8_t value;
    } bad[] = {{15, 6}, {16, 0x86}, {18, 8}, {19, 16}, {21, 3}, {21, 0}, {22, 1}};
    struct bench b;
    uint8_t f[64];
    unsigned i;

    (void)state;
    bench_init(&b);
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        make_arp(f, 1, peer_mac, PEER_IP, 0, OWN_IP);
        f[bad[i].at] = bad[i].value;
        bench_input(&b, f, 60);
        assert_int_equal(bench_counter(&b, TOEC_C_arp_bad), i + 1);
    }
    make_arp(f, 1, peer_mac, PEER_IP, 0, OWN_IP);
    bench_input(&b, f, 41); /* one byte short */
    assert_int_equal(bench_counter(&b, TOEC_C_arp_bad), i + 1);
    memset(f + 22, 0, 6);
    bench_input(&b, f, 60);
    assert_int_equal(bench_counter(&b, TOEC_C_arp_bad), i + 2);
    bench_input(&b, f, make_arp(f, 1, own_mac, PEER_IP, 0, OWN_IP));
    assert_int_equal(bench_counter(&b, TOEC_C_arp_bad), i + 3);
    assert_int_equal(neighbours(&b), 0);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

static void senders_off_the_link_are_refused(void **state)
{
    static const uint32_t off[] = {FAR_IP,     0x0a0000ff, 0x0a000000,
                                   0x7f000001, 0xffffffff, 0xe0000001};
    struct bench b;
    uint8_t f[64];
    unsigned i;

    (void)state;
    bench_init(&b);
    for (i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
        bench_input(&b, f, make_arp(f, 1, peer_mac, off[i], 0, OWN_IP));
        assert_int_equal(bench_counter(&b, TOEC_C_arp_off_link), i + 1);
    }
    assert_int_equal(neighbours(&b), 0);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* RFC 5227 2.1.1: a probe (sender 0.0.0.0) for our address is answered, and teaches nothing. */
static void probes_are_answered(void **state)
{
    struct bench b;
    uint8_t f[64];

    (void)state;
    bench_init(&b);
    bench_input(&b, f, make_arp(f, 1, peer_mac, 0, 0, OWN_IP));
    expect_arp(&b, 2, peer_mac, 0);
    assert_int_equal(neighbours(&b), 0);
    bench_stop(&b);
}

/* R826-04, RFC 5227 2.4 (b): defended by one announcement in ten seconds. */
static void our_address_is_defended(void **state)
{
    struct bench b;
    uint8_t f[64];
    unsigned i;

    (void)state;
    bench_init(&b);
    for (i = 0; i < 5; i++)
        bench_input(&b, f, make_arp(f, 1, other_mac, OWN_IP, 0, PEER_IP));
    expect_arp(&b, 1, broadcast_mac, OWN_IP);
    assert_null(bench_next(&b));
    assert_int_equal(bench_counter(&b, TOEC_C_arp_conflict), 5);
    bench_pass(&b, 11 * SEC);
    bench_input(&b, f, make_arp(f, 2, other_mac, OWN_IP, 0, OWN_IP));
    expect_arp(&b, 1, broadcast_mac, OWN_IP);
    assert_int_equal(neighbours(&b), 0);
    bench_stop(&b);
}

static void routes(void **state)
{
    struct toec_path path;
    struct bench b;

    (void)state;
    bench_init(&b);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(toec_addr_get4(&path.next_hop), PEER_IP);
    assert_int_equal(path.mtu, 1500); /* R1122-20 */
    assert_int_equal(toec_ip4_path(b.s, FAR_IP, &path), 0);
    assert_int_equal(toec_addr_get4(&path.next_hop), GW_IP);
    assert_int_equal(toec_ip4_path(b.s, 0x0a0000ff, &path), TOEC_E_UNREACH); /* broadcast */
    assert_int_equal(toec_ip4_path(b.s, 0x0a000000, &path), TOEC_E_UNREACH);
    assert_int_equal(toec_ip4_path(b.s, 0xffffffff, &path), TOEC_E_UNREACH);
    assert_int_equal(toec_ip4_path(b.s, 0xe0000001, &path), TOEC_E_UNREACH);
    assert_int_equal(toec_ip4_path(b.s, 0x7f000001, &path), TOEC_E_UNREACH);
    assert_int_equal(toec_ip4_path(b.s, 0, &path), TOEC_E_UNREACH);
    assert_int_equal(toec_ip4_path(b.s, OWN_IP, &path), TOEC_E_UNREACH);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_no_route), 7);
    bench_stop(&b);
    bench_config(&b);
    poke32(b.cfg.gateway, 0);
    bench_start(&b);
    assert_int_equal(toec_ip4_path(b.s, FAR_IP, &path), TOEC_E_UNREACH);
    bench_stop(&b);
    bench_config(&b);
    b.cfg.prefix_len = 0; /* everything is on the link */
    poke32(b.cfg.gateway, 0);
    bench_start(&b);
    assert_int_equal(toec_ip4_path(b.s, FAR_IP, &path), 0);
    assert_int_equal(toec_addr_get4(&path.next_hop), FAR_IP);
    bench_stop(&b);
    bench_config(&b);
    b.cfg.prefix_len = 31; /* RFC 3021: two hosts and no broadcast address */
    poke32(b.cfg.gateway, 0x0a000000);
    bench_start(&b);
    assert_int_equal(toec_ip4_path(b.s, 0x0a000000, &path), 0);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(announces_twice),
        cmocka_unit_test(resolves_then_sends),
        cmocka_unit_test(gives_up_after_three_requests),
        cmocka_unit_test(failure_changes_the_epoch),
        cmocka_unit_test(late_answer_revives_a_failed_neighbour),
        cmocka_unit_test(stale_entry_is_probed_on_use),
        cmocka_unit_test(doubt_is_settled_at_once),
        cmocka_unit_test(progress_spares_probes),
        cmocka_unit_test(unused_entries_go_away),
        cmocka_unit_test(answers_requests_and_learns),
        cmocka_unit_test(unsolicited_replies_teach_nothing_new),
        cmocka_unit_test(merge_updates_known_senders),
        cmocka_unit_test(malformed_packets_are_dropped),
        cmocka_unit_test(senders_off_the_link_are_refused),
        cmocka_unit_test(probes_are_answered),
        cmocka_unit_test(our_address_is_defended),
        cmocka_unit_test(routes),
    };

    return cmocka_run_group_tests_name("arp", tests, 0, 0);
}
