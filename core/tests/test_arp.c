/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arp.c - ARP and the neighbour cache: each rule of RFC 826, 1122 2.3.2.1, 4861 7.3 and 5227
 * that arp.c and neigh.c follow, in virtual time.
 */
#include "bench.h"
#include "ip/ip4_out.h"

/* Sends a datagram without payload to dst; returns the result of toec_ip4_output(). */
static int try_send(struct bench *b, struct toec_path *path)
{
    struct toec_outbuf o;

    memset(&o, 0, sizeof(o));
    o.src = mapped(OWN_IP);
    o.dst = &path->next_hop;
    o.proto = 253; /* RFC 3692: for experiments */
    o.sum_off = TOEC_SUM_NONE;
    return toec_ip4_output(b->s, path, &o, b->now);
}

static void expect_arp(struct bench *b, int op, const uint8_t *eth_dst, uint32_t tpa)
{
    const struct sent *f = bench_next(b);

    assert_non_null(f);
    assert_int_equal(f->len, 60); /* R826-01: padded to the minimum */
    assert_memory_equal(f->data, eth_dst, 6);
    assert_memory_equal(f->data + 6, own_mac, 6);
    assert_int_equal(peek16(f->data + 12), 0x0806);
    assert_int_equal(peek16(f->data + 14), 1);
    assert_int_equal(peek16(f->data + 16), 0x0800);
    assert_int_equal(f->data[18], 6);
    assert_int_equal(f->data[19], 4);
    assert_int_equal(peek16(f->data + 20), op);
    assert_memory_equal(f->data + 22, own_mac, 6);
    assert_int_equal(peek32(f->data + 28), OWN_IP);
    assert_int_equal(peek32(f->data + 38), tpa);
}

static void expect_sent_to(struct bench *b, const uint8_t *mac)
{
    const struct sent *f = bench_next(b);

    assert_non_null(f);
    assert_int_equal(peek16(f->data + 12), 0x0800);
    assert_memory_equal(f->data, mac, 6);
}

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

static void resolve(struct bench *b, struct toec_path *path, uint32_t ip, const uint8_t *mac)
{
    uint8_t f[64];

    assert_int_equal(toec_ip4_path(b->s, ip, path), 0);
    assert_int_equal(try_send(b, path), TOEC_SEND_WAIT);
    bench_input(b, f, make_arp(f, 2, mac, ip, own_mac, OWN_IP));
    bench_forget_sent(b);
    assert_int_equal(try_send(b, path), 0);
    expect_sent_to(b, mac);
    bench_forget_sent(b);
}

static unsigned neighbours(struct bench *b)
{
    struct toec_usage u;

    toec_usage(b->s, &u);
    return u.neighbours;
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

/* ---- bounds ---- */

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
        cmocka_unit_test(flood_of_requests_evicts_no_used_entry),
        cmocka_unit_test(flood_of_destinations_evicts_no_resolved_entry),
        cmocka_unit_test(waiting_senders_make_no_storm),
        cmocka_unit_test(live_newcomer_beside_absent_hosts),
        cmocka_unit_test(live_neighbours_stay),
        cmocka_unit_test(more_neighbours_than_entries),
        cmocka_unit_test(one_entry_suffices),
        cmocka_unit_test(reused_entry_is_not_mistaken),
        cmocka_unit_test(lost_requests_are_asked_again),
        cmocka_unit_test(routes),
    };

    return cmocka_run_group_tests_name("arp", tests, 0, 0);
}
