/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_workers.c - several processes of one address (workers(N):SPEC): which worker gets a frame,
 * and what a worker that misbehaves can do.
 */
#include <stdlib.h>
#include <string.h>

#include "../src/workers_table.h"
#include "several.h"

static void new_connections_are_spread_and_stay(void **state)
{
    unsigned of[64], seen[3] = {0}, i;
    struct netio *w[3];

    (void)state;
    open_workers(w, 3);
    for (i = 0; i < 64; i++) {
        of[i] = open_flow(1000 + i, w, 3);
        seen[of[i]]++;
    }
    for (i = 0; i < 3; i++)
        assert_true(seen[i] > 5);
    for (i = 0; i < 3; i++) /* who listens matters no more */
        netio_listens(w[i], 0, PORT, i == 2 ? NETIO_LISTEN_SERVES : NETIO_LISTEN_NOT);
    for (i = 0; i < 64; i++) {
        struct segment data = tcp4(1, PORT, 1000 + i, 0x18), error = unreachable(PORT, 1000 + i);

        assert_int_equal(arrives_at(&data, w, 3), of[i]);
        assert_int_equal(arrives_at(&error, w, 3), of[i]);
    }
    for (i = 0; i < 8; i++)
        assert_int_equal(open_flow(2000 + i, w, 3), 2);
    close_workers(w, 3);
}

static void a_port_goes_to_workers_that_serve_it(void **state)
{
    struct segment syn;
    struct netio *w[3];
    unsigned i;

    (void)state;
    open_workers(w, 3);
    for (i = 0; i < 3; i++) {
        netio_listens(w[i], 0, 81, i == 1 ? NETIO_LISTEN_SERVES : NETIO_LISTEN_WEAK);
        netio_listens(w[i], 1, 82, i == 2 ? NETIO_LISTEN_WEAK : NETIO_LISTEN_NOT);
    }
    for (i = 0; i < 16; i++) {
        syn = tcp4(1, 81, 3000 + i, SEEN_SYN);
        assert_int_equal(arrives_at(&syn, w, 3), 1);
        syn = tcp6(1, 82, 3000 + i, SEEN_SYN);
        assert_int_equal(arrives_at(&syn, w, 3), 2);
        syn = tcp4(1, 82, 3000 + i, SEEN_SYN); /* no listener over IPv4: the stack rejects it */
        assert_int_equal(arrives_at(&syn, w, 3), 0);
    }
    close_workers(w, 3);
}

static void connections_of_ours_are_learned(void **state)
{
    struct segment s, last;
    struct netio *w[2];
    int ip6;

    (void)state;
    open_workers(w, 2);
    for (ip6 = 0; ip6 < 2; ip6++) {
        s = ip6 ? tcp6(0, 40000, 443, SEEN_SYN) : tcp4(0, 40000, 443, SEEN_SYN);
        send_frame(w[1], &s);
        (void)receive(w[0], NULL);
        assert_int_equal(receive(peer, &last), 1);
        assert_memory_equal(last.bytes, s.bytes, s.len);
        s = ip6 ? tcp6(1, 40000, 443, SEEN_SYN | 0x10) : tcp4(1, 40000, 443, SEEN_SYN | 0x10);
        assert_int_equal(arrives_at(&s, w, 2), 1);
    }
    close_workers(w, 2);
}

static void neighbours_are_for_all_and_requests_for_one(void **state)
{
    const struct segment reply = arp(2, peer_ip, our_ip), announced = arp(1, peer_ip, peer_ip);
    const struct segment request = arp(1, peer_ip, our_ip);
    struct netio *w[3];
    unsigned i;

    (void)state;
    open_workers(w, 3);
    send_frame(peer, &reply);
    for (i = 0; i < 3; i++)
        assert_int_equal(receive(w[i], NULL), 1);
    send_frame(peer, &announced);
    for (i = 0; i < 3; i++)
        assert_int_equal(receive(w[i], NULL), 1);
    assert_int_equal(arrives_at(&request, w, 3), 0);
    close_workers(w, 3);
}

static void fragments_of_tcp_are_dropped_and_counted(void **state)
{
    struct segment s = tcp4(1, PORT, 5, 0x10);
    struct netio_stats stats;
    struct netio *w[2];

    (void)state;
    open_workers(w, 2);
    s.bytes[14 + 6] = 0x20; /* MF */
    send_frame(peer, &s);
    assert_int_equal(receive(w[0], NULL) + receive(w[1], NULL), 0);
    netio_get_stats(w[0], &stats);
    assert_int_equal(stats.rx_dropped, 1);
    close_workers(w, 2);
}

/* After a reload, old workers accept no more; they must not get what they would reset. */
static void young_workers_come_first_for_a_while(void **state)
{
    struct netio *w[3];
    unsigned i;

    (void)state;
    open_workers(w, 3);
    for (i = 0; i < 2; i++) /* as if these had joined long before */
        inside(w[0])->g.shm->members[i].joined_ms -= 1500;
    inside(w[0])->g.shm->members[2].joined_ms += 3600 * 1000u;
    for (i = 0; i < 16; i++)
        assert_int_equal(open_flow(6000 + i, w, 3), 2);
    inside(w[0])->g.shm->members[2].joined_ms -= 3600 * 1000u + 2100;
    for (i = 0; i < 2; i++)
        inside(w[0])->g.shm->members[i].joined_ms -= 10000;
    for (i = 0; i < 64 && open_flow(7000 + i, w, 3) == 2; i++)
        ;
    assert_true(i < 64); /* later they share again */
    close_workers(w, 3);
}

static void a_port_pair_used_again_finds_the_listener(void **state)
{
    struct segment fin, syn = tcp4(1, PORT, 9000, SEEN_SYN);
    struct netio *w[2];
    unsigned at, other;

    (void)state;
    open_workers(w, 2);
    at = open_flow(9000, w, 2);
    other = 1 - at;
    fin = tcp4(0, PORT, 9000, SEEN_FIN | 0x10);
    send_frame(w[at], &fin);
    (void)receive(w[0], NULL);
    assert_int_equal(arrives_at(&syn, w, 2), at); /* TIME-WAIT is there */
    netio_listens(w[at], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(arrives_at(&syn, w, 2), other);
    close_workers(w, 2);
}

/* Between old and new workers a port has no listener: peers try again instead of being rejected. */
static void a_port_without_a_listener_for_a_moment(void **state)
{
    struct segment syn = tcp4(1, PORT, 9100, SEEN_SYN), ack = tcp4(1, PORT, 9101, 0x10);
    struct netio_stats stats;
    struct netio *w[2];
    unsigned i;

    (void)state;
    open_workers(w, 2);
    netio_listens(w[0], 0, PORT, NETIO_LISTEN_NOT);
    send_frame(peer, &syn);
    assert_int_equal(receive(w[0], NULL), 0); /* is on its way to the other one */
    netio_listens(w[1], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(receive(w[1], NULL), 0);
    netio_get_stats(w[1], &stats);
    assert_int_equal(stats.rx_dropped, 1);
    send_frame(peer, &syn);
    assert_int_equal(receive(w[0], NULL), 0);
    netio_get_stats(w[0], &stats);
    assert_int_equal(stats.rx_dropped, 1);
    assert_int_equal(arrives_at(&ack, w, 2), 0); /* of no connection: rejected */
    for (i = 0; i < WORKERS_CLOSED; i++)
        inside(w[0])->g.shm->closed[i].at_ms = 0; /* as if it was long ago */
    assert_int_equal(arrives_at(&syn, w, 2), 0);
    netio_listens(w[1], 0, PORT, NETIO_LISTEN_SERVES);
    assert_int_equal(arrives_at(&syn, w, 2), 1);
    close_workers(w, 2);
}

static void a_full_ring_costs_frames_only(void **state)
{
    struct segment data = tcp4(1, PORT, 1, 0x10);
    struct netio_stats stats;
    struct netio *w[2];
    unsigned i;

    (void)state;
    open_workers(w, 2);
    netio_listens(w[0], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(open_flow(1, w, 2), 1);
    for (i = 0; i < WORKERS_RING + 10; i++) {
        send_frame(peer, &data);
        assert_int_equal(receive(w[0], NULL), 0);
    }
    netio_get_stats(w[0], &stats);
    assert_int_equal(stats.rx_dropped, 10);
    assert_int_equal(receive(w[1], NULL), WORKERS_RING);
    for (i = 0; i < WORKERS_RING; i++)
        send_frame(w[1], &data);
    assert_int_equal(netio_tx_alloc(w[1], &(struct netio_frame){0}), -1);
    assert_true(netio_next_event(w[1]) != UINT64_MAX);
    while (workers_waiting(workers_ring(inside(w[0]), 1, WORKERS_TX)))
        (void)receive(w[0], NULL);
    assert_int_equal(receive(peer, NULL), WORKERS_RING);
    close_workers(w, 2);
}

/* ---- a worker that misbehaves ---- */

static void false_indices_and_lengths_cost_frames_only(void **state)
{
    struct segment syn = tcp4(1, PORT, 1, SEEN_SYN), data = tcp4(1, PORT, 1, 0x10);
    struct workers_ring *rx, *tx;
    struct netio_stats stats;
    struct netio *w[2];

    (void)state;
    open_workers(w, 2);
    netio_listens(w[0], 0, PORT, NETIO_LISTEN_NOT);
    assert_int_equal(open_flow(1, w, 2), 1);
    rx = workers_ring(inside(w[1]), 1, WORKERS_RX);
    tx = workers_ring(inside(w[1]), 1, WORKERS_TX);
    atomic_fetch_add(&tx->head, 5 * WORKERS_RING);
    assert_int_equal(receive(w[0], NULL), 0);
    atomic_fetch_sub(&tx->head, 5 * WORKERS_RING - 1);
    atomic_store(&tx->slots[(tx->head - 1) % WORKERS_RING].len, UINT32_MAX);
    assert_int_equal(receive(w[0], NULL), 0);
    netio_get_stats(w[0], &stats);
    assert_int_equal(stats.tx_dropped, 1);
    assert_int_equal(receive(peer, NULL), 0);
    send_frame(peer, &data);
    assert_int_equal(receive(w[0], NULL), 0);
    atomic_store(&rx->slots[(rx->head - 1) % WORKERS_RING].len, 13);
    assert_int_equal(receive(w[1], NULL), 0);
    netio_get_stats(w[1], &stats);
    assert_int_equal(stats.rx_dropped, 1);
    assert_int_equal(arrives_at(&syn, w, 2), 1);
    close_workers(w, 2);
}

/* ---- the table, and frames cut short ---- */

static struct workers_shm shm;

static void the_table_replaces_what_is_least_useful(void **state)
{
    /* 17 hashes of one place; the table has 16 for them */
    uint64_t base = 512, step = (uint64_t)1 << 40;
    unsigned i;

    (void)state;
    memset(&shm, 0, sizeof(shm));
    for (i = 1; i <= 16; i++)
        table_learn(&shm, base + i * step, i, UINT64_MAX, 10000);
    for (i = 1; i <= 16; i++)
        assert_int_equal(table_worker(table_find(&shm, base + i * step, i == 5 ? 10000 : 20000)),
                         i);
    table_learn(&shm, base + 17 * step, 17, UINT64_MAX, 20000); /* the one not used since */
    assert_null(table_find(&shm, base + 5 * step, 20000));
    table_learn(&shm, base + 18 * step, 18, ~(uint64_t)(1 << 7), 20000); /* of a dead worker */
    assert_null(table_find(&shm, base + 7 * step, 20000));
    table_close(table_find(&shm, base + 9 * step, 20000));
    assert_true(table_is_closed(table_find(&shm, base + 9 * step, 20000)));
    table_learn(&shm, base + 19 * step, 19, ~(uint64_t)(1 << 8), 20000); /* one that has ended */
    assert_null(table_find(&shm, base + 9 * step, 20000));
    assert_int_equal(table_worker(table_find(&shm, base + 8 * step, 20000)), 8);
    table_learn(&shm, base + 8 * step, 3, UINT64_MAX, 20000); /* the same addresses again */
    assert_int_equal(table_worker(table_find(&shm, base + 8 * step, 20000)), 3);
}

static void frames_of_any_length_are_looked_at(void **state)
{
    static const uint64_t key[2] = {1, 2};
    const struct segment of[] = {tcp4(1, 1, 2, 2), tcp6(1, 1, 2, 2), unreachable(1, 2),
                                 arp(2, peer_ip, our_ip)};
    const uint32_t whole[] = {48, 68, 66, 42}; /* from this length on it is understood */
    unsigned i, len;
    struct seen s;

    (void)state;
    for (i = 0; i < 4; i++)
        for (len = 0; len <= of[i].len; len++) {
            uint8_t *exact = malloc(len ? len : 1); /* a sanitizer sees what is read beyond it */

            assert_non_null(exact);
            memcpy(exact, of[i].bytes, len);
            workers_look(exact, len, 0, key, &s);
            assert_int_equal(s.kind != SEEN_ANY, len >= whole[i]);
            free(exact);
        }
}

static void both_directions_and_tags_have_one_hash(void **state)
{
    static const uint64_t key[2] = {1, 2};
    struct segment in = tcp4(1, 80, 999, 0x10), out = tcp4(0, 80, 999, SEEN_FIN), tagged = in;
    struct seen a, b;

    (void)state;
    workers_look(in.bytes, in.len, 0, key, &a);
    workers_look(out.bytes, out.len, 1, key, &b);
    assert_int_equal(a.kind, SEEN_FLOW);
    assert_int_equal(b.kind, SEEN_FLOW);
    assert_true(a.hash == b.hash);
    assert_int_equal(a.port, 80);
    memcpy(tagged.bytes + 16, in.bytes + 12, in.len - 12);
    put16(tagged.bytes + 12, 0x8100);
    workers_look(tagged.bytes, in.len + 4, 0, key, &b);
    assert_true(a.hash == b.hash);
    out = tcp4(0, 80, 999, 0x10); /* of sent segments, only the first and the last ones */
    workers_look(out.bytes, out.len, 1, key, &b);
    assert_int_equal(b.kind, SEEN_ANY);
    in = tcp4(1, 80, 998, 0x10);
    workers_look(in.bytes, in.len, 0, key, &b);
    assert_true(a.hash != b.hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_GROUP(new_connections_are_spread_and_stay),
        WITH_GROUP(a_port_goes_to_workers_that_serve_it),
        WITH_GROUP(connections_of_ours_are_learned),
        WITH_GROUP(neighbours_are_for_all_and_requests_for_one),
        WITH_GROUP(fragments_of_tcp_are_dropped_and_counted),
        WITH_GROUP(young_workers_come_first_for_a_while),
        WITH_GROUP(a_port_pair_used_again_finds_the_listener),
        WITH_GROUP(a_port_without_a_listener_for_a_moment),
        WITH_GROUP(a_full_ring_costs_frames_only),
        WITH_GROUP(false_indices_and_lengths_cost_frames_only),
        cmocka_unit_test(the_table_replaces_what_is_least_useful),
        cmocka_unit_test(frames_of_any_length_are_looked_at),
        cmocka_unit_test(both_directions_and_tags_have_one_hash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
