/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arp_bounds.c - the neighbour cache when it is full: which entries stay, what is sent for
 * those that do not fit.
 */
#include "arp_bench.h"

static void small_table(struct bench *b, unsigned n)
{
    bench_config(b);
    b->cfg.max_neighbours = n;
    b->cfg.prefix_len = 8;
    poke32(b->cfg.gateway, 0);
    bench_start(b);
    bench_pass(b, 3 * SEC);
    bench_forget_sent(b);
}

/* Requests from a million made-up senders: those we talk to stay. */
static void flood_of_requests_evicts_no_used_entry(void **state)
{
    struct toec_path path[8];
    struct bench b;
    uint8_t f[64];
    unsigned i, k;

    (void)state;
    small_table(&b, 16);
    for (k = 0; k < 8; k++)
        resolve(&b, &path[k], PEER_IP + k, peer_mac);
    for (i = 0; i < 1000000; i++) {
        bench_input(&b, f, make_arp(f, 1, other_mac, 0x0a010000 + i, 0, OWN_IP));
        bench_forget_sent(&b);
    }
    assert_int_equal(neighbours(&b), 16);
    for (k = 0; k < 8; k++) {
        assert_int_equal(try_send(&b, &path[k]), 0);
        expect_sent_to(&b, peer_mac);
    }
    bench_stop(&b);
}

/* A scan of our own (or answers to forged SYNs): waiting entries push out only each other. */
static void flood_of_destinations_evicts_no_resolved_entry(void **state)
{
    struct toec_path path[8], p;
    struct bench b;
    unsigned i, k;

    (void)state;
    small_table(&b, 16);
    for (k = 0; k < 8; k++)
        resolve(&b, &path[k], PEER_IP + k, peer_mac);
    for (i = 0; i < 1000000; i++) {
        assert_int_equal(toec_ip4_path(b.s, 0x0a010000 + i, &p), 0);
        assert_int_equal(try_send(&b, &p), TOEC_SEND_WAIT);
        bench_forget_sent(&b);
    }
    assert_int_equal(neighbours(&b), 8 + 16 / 4);
    for (k = 0; k < 8; k++) {
        assert_int_equal(try_send(&b, &path[k]), 0);
        expect_sent_to(&b, peer_mac);
    }
    bench_pass(&b, 700 * SEC);
    assert_int_equal(neighbours(&b), 0);
    bench_stop(&b);
}

/*
 * More senders wait than entries are allowed: an evicted one is not called back to evict others,
 * and retries cause no broadcast storm.
 */
static void waiting_senders_make_no_storm(void **state)
{
    struct toec_path path[64];
    unsigned i, round, requests = 0;
    struct bench b;
    toec_u32 epoch;

    (void)state;
    small_table(&b, 16);
    for (i = 0; i < 64; i++)
        assert_int_equal(toec_ip4_path(b.s, PEER_IP + i, &path[i]), 0);
    epoch = toec_send_epoch(b.s);
    for (i = 0; i < 64; i++)
        assert_int_equal(try_send(&b, &path[i]), TOEC_SEND_WAIT);
    bench_pass(&b, 900 * MSEC);
    assert_int_equal(toec_send_epoch(b.s), epoch);
    bench_forget_sent(&b);
    for (round = 0; round < 10000; round++) { /* one second of trying */
        for (i = 0; i < 64; i++)
            assert_int_equal(try_send(&b, &path[i]), TOEC_SEND_WAIT);
        bench_pass(&b, 100000);
        requests += b.sent_count;
        bench_forget_sent(&b);
    }
    assert_true(requests <= 1000 + 64 + 3 * 4);
    assert_true(toec_send_epoch(b.s) - epoch <= 2); /* called back once a second */
    assert_true(toec_send_epoch(b.s) != epoch);
    bench_stop(&b);
}

/*
 * Ten times as many absent hosts as entries may wait, and their senders retry at each call back. A
 * live host that comes later is asked for at once and has time to answer; each absent one fails,
 * those that got an entry at first after three seconds.
 */
static void live_newcomer_beside_absent_hosts(void **state)
{
    struct toec_path path[40], live;
    toec_time failed[40] = {0}, begin;
    unsigned i, left = 40, soon = 0;
    struct bench b;
    uint8_t f[64];
    toec_u32 epoch;

    (void)state;
    small_table(&b, 16);
    begin = b.now;
    for (i = 0; i < 40; i++) {
        assert_int_equal(toec_ip4_path(b.s, PEER_IP + i, &path[i]), 0);
        assert_int_equal(try_send(&b, &path[i]), TOEC_SEND_WAIT);
    }
    bench_pass(&b, 150 * MSEC);
    bench_forget_sent(&b);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP + 100, &live), 0);
    assert_int_equal(try_send(&b, &live), TOEC_SEND_WAIT);
    expect_arp(&b, 1, broadcast_mac, PEER_IP + 100);
    for (epoch = 0; left && b.now - begin < 60 * SEC;) {
        if (epoch != toec_send_epoch(b.s)) {
            epoch = toec_send_epoch(b.s);
            for (i = 0; i < 40; i++)
                if (!failed[i] && try_send(&b, &path[i]) == TOEC_SEND_UNREACH) {
                    failed[i] = b.now;
                    left--;
                    soon += b.now - begin < 3050 * MSEC;
                }
        }
        bench_pass(&b, 10 * MSEC);
        if (b.now - begin < 250 * MSEC) {
            bench_input(&b, f, make_arp(f, 2, peer_mac, PEER_IP + 100, own_mac, OWN_IP));
            assert_int_equal(try_send(&b, &live), 0);
        }
        bench_forget_sent(&b);
    }
    assert_int_equal(left, 0);
    assert_int_equal(soon, 3); /* one of four was evicted for the live host */
    assert_true(bench_counter(&b, TOEC_C_neigh_failed) >= 40);
    bench_stop(&b);
}

/* A neighbour confirmed within five seconds is never evicted. */
static void live_neighbours_stay(void **state)
{
    struct toec_path path[8], more;
    struct bench b;
    unsigned i, k;

    (void)state;
    small_table(&b, 8);
    for (k = 0; k < 8; k++)
        resolve(&b, &path[k], PEER_IP + k, peer_mac);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP + 100, &more), 0);
    for (i = 0; i < 100; i++)
        assert_int_equal(try_send(&b, &more), TOEC_SEND_WAIT);
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_evicted), 0);
    for (k = 0; k < 8; k++)
        assert_int_equal(try_send(&b, &path[k]), 0);
    bench_forget_sent(&b);
    bench_pass(&b, 5 * SEC);
    for (k = 1; k < 8; k++)
        toec_path_confirm(b.s, &path[k], b.now);
    for (i = 0; i < 8; i++)
        assert_int_equal(try_send(&b, &more), TOEC_SEND_WAIT);
    expect_arp(&b, 1, broadcast_mac, PEER_IP + 100); /* in the place of the first */
    bench_stop(&b);
}

/* More neighbours in use than entries: all can be reached one after the other; the least used are
 * evicted. */
static void more_neighbours_than_entries(void **state)
{
    struct toec_path path[40];
    struct bench b;
    unsigned round, k;

    (void)state;
    small_table(&b, 8);
    for (round = 0; round < 5; round++)
        for (k = 0; k < 40; k++) {
            resolve(&b, &path[k], PEER_IP + k, peer_mac);
            bench_pass(&b, SEC);
        }
    assert_true(neighbours(&b) <= 8);
    bench_stop(&b);
}

static void one_entry_suffices(void **state)
{
    struct toec_path path;
    struct bench b;
    unsigned k;

    (void)state;
    small_table(&b, 1);
    for (k = 0; k < 10; k++) {
        resolve(&b, &path, PEER_IP + k, peer_mac);
        bench_pass(&b, 5 * SEC);
    }
    bench_stop(&b);
}

/* A path whose entry now serves another neighbour must not send there. */
static void reused_entry_is_not_mistaken(void **state)
{
    struct toec_path a, c;
    struct bench b;

    (void)state;
    small_table(&b, 1);
    resolve(&b, &a, PEER_IP, peer_mac);
    bench_pass(&b, 5 * SEC);
    resolve(&b, &c, PEER_IP + 1, other_mac);
    assert_int_equal(a.neigh, c.neigh);
    toec_path_confirm(b.s, &a, b.now); /* about the old one: no effect */
    bench_pass(&b, 5 * SEC);
    assert_int_equal(try_send(&b, &a), TOEC_SEND_WAIT);
    expect_arp(&b, 1, broadcast_mac, PEER_IP);
    bench_stop(&b);
}

static void lost_requests_are_asked_again(void **state)
{
    struct toec_path path;
    struct bench b;

    (void)state;
    bench_init(&b);
    b.tx_room = 0;
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT);
    assert_null(bench_next(&b));
    b.tx_room = -1;
    bench_pass(&b, 1002 * MSEC);
    expect_arp(&b, 1, broadcast_mac, PEER_IP);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flood_of_requests_evicts_no_used_entry),
        cmocka_unit_test(flood_of_destinations_evicts_no_resolved_entry),
        cmocka_unit_test(waiting_senders_make_no_storm),
        cmocka_unit_test(live_newcomer_beside_absent_hosts),
        cmocka_unit_test(live_neighbours_stay),
        cmocka_unit_test(more_neighbours_than_entries),
        cmocka_unit_test(one_entry_suffices),
        cmocka_unit_test(reused_entry_is_not_mistaken),
        cmocka_unit_test(lost_requests_are_asked_again),
    };

    return cmocka_run_group_tests_name("arp_bounds", tests, 0, 0);
}
