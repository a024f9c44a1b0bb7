/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_impair.c - the impairing wire: each impairment alone, its share, its times, its bounds; and
 * that everything follows from the seed. Time is virtual.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/backend.h"
#include "../src/impair_path.h"
#include "testing.h"

#define FRAMES       20000u
#define BURST_FRAMES (UINT64_C(10) * FRAMES)
#define LEN          1000u

static char text[256];
static const struct netio_err err = {text, sizeof(text)};

static void start(struct impair_path *p, const char *options, uint64_t salt)
{
    struct impair_options o;

    if (impair_options_parse(&o, options, test_seed(), &err))
        fail_msg("%s", text);
    assert_int_equal(impair_path_init(p, &o, salt, 2048, 16), 0);
}

static void put(struct impair_path *p, uint32_t number, uint64_t now)
{
    uint32_t offset = 0;

    assert_int_equal(pool_get(&p->pool, &offset), 0);
    memset(p->pool.mem + offset, 0, LEN);
    memcpy(p->pool.mem + offset, &number, sizeof(number));
    impair_path_put(p, offset, LEN, NETIO_F_L4_CSUM_OK, now);
}

/* The number of the next frame due, -1: none. */
static int64_t take(struct impair_path *p, uint64_t now)
{
    struct impair_entry e;
    uint32_t number;

    if (impair_path_take(p, now, &e))
        return -1;
    assert_int_equal(e.len, LEN);
    memcpy(&number, p->pool.mem + e.offset, sizeof(number));
    pool_put(&p->pool, e.offset);
    return number;
}

/* Everything is back in the pool. */
static void finish(struct impair_path *p)
{
    assert_int_equal(p->pool.top, p->pool.count);
    impair_path_free(p);
}

static void assert_share(uint64_t count, uint64_t of, double share)
{
    double got = (double)count / (double)of;

    if (got < share * 0.85 || got > share * 1.15)
        fail_msg("share %g instead of %g", got, share);
}

static void nothing_set_changes_nothing(void **state)
{
    struct impair_path p;
    uint32_t i;

    (void)state;
    start(&p, "", 1);
    for (i = 0; i < 3000; i++)
        put(&p, i, i);
    for (i = 0; i < 3000; i++)
        assert_int_equal(take(&p, 3000), i);
    assert_int_equal(take(&p, UINT64_MAX), -1);
    assert_int_equal(impair_path_next(&p), UINT64_MAX);
    finish(&p);
}

static void loss_has_its_share(void **state)
{
    struct impair_path p;
    uint64_t got = 0;
    uint32_t i;

    (void)state;
    start(&p, "loss=5%", 1);
    for (i = 0; i < FRAMES; i++) {
        put(&p, i, i);
        got += take(&p, i) >= 0;
    }
    assert_share(p.stats.lost, FRAMES, 0.05);
    assert_int_equal(got + p.stats.lost, FRAMES);
    finish(&p);
}

static void extremes_of_loss(void **state)
{
    struct impair_path p;
    uint32_t i;

    (void)state;
    start(&p, "loss=100", 1);
    for (i = 0; i < 1000; i++)
        put(&p, i, i);
    assert_int_equal(p.stats.lost, 1000);
    finish(&p);
    start(&p, "loss=0,corrupt=0,duplicate=0,reorder=0", 1);
    for (i = 0; i < 1000; i++) {
        put(&p, i, i);
        assert_int_equal(take(&p, i), i);
    }
    finish(&p);
}

/* Gilbert-Elliott: the share lost is enter / (enter + leave), a run lasts 1 / leave frames. */
static void bursts_have_their_share_and_length(void **state)
{
    struct impair_path p;
    uint64_t runs = 0;
    int lost_before = 0;
    uint32_t i;

    (void)state;
    start(&p, "burst=1/25", 1);
    for (i = 0; i < BURST_FRAMES; i++) {
        int lost;

        put(&p, i, i);
        lost = take(&p, i) < 0;
        runs += lost && !lost_before;
        lost_before = lost;
    }
    assert_share(p.stats.lost, BURST_FRAMES, 1.0 / 26);
    assert_share(p.stats.lost, runs, 4);
    finish(&p);
}

static void delay_is_exact_and_jitter_keeps_order(void **state)
{
    struct impair_path p;
    uint32_t i;
    uint64_t last = 0;
    uint64_t spread_min = UINT64_MAX, spread_max = 0;

    (void)state;
    start(&p, "delay=10ms", 1);
    put(&p, 7, 5);
    assert_int_equal(impair_path_next(&p), 10 * MS + 5);
    assert_int_equal(take(&p, 10 * MS + 4), -1);
    assert_int_equal(take(&p, 10 * MS + 5), 7);
    finish(&p);

    start(&p, "delay=10ms,jitter=4ms", 1);
    for (i = 0; i < 1000; i++) {
        uint64_t at = i * (100 * MS);
        uint64_t due;

        put(&p, i, at);
        due = impair_path_next(&p) - at;
        assert_in_range(due, 10 * MS, 14 * MS);
        spread_min = due < spread_min ? due : spread_min;
        spread_max = due > spread_max ? due : spread_max;
        assert_int_equal(take(&p, at + 14 * MS), i);
    }
    assert_true(spread_min < 11 * MS && spread_max > 13 * MS);
    finish(&p);

    start(&p, "jitter=4ms", 1);
    for (i = 0; i < 1000; i++)
        put(&p, i, i * MS / 10);
    for (i = 0; i < 1000; i++) {
        assert_true(impair_path_next(&p) >= last);
        last = impair_path_next(&p);
        assert_int_equal(take(&p, last), i);
    }
    finish(&p);
}

static void reordered_frames_go_after_the_gap(void **state)
{
    struct impair_path p;
    uint64_t late = 0;
    int64_t highest = -1;
    uint32_t i;

    (void)state;
    start(&p, "reorder=10,gap=3", 1);
    for (i = 0; i < FRAMES; i++) {
        int64_t number;

        put(&p, i, i);
        while ((number = take(&p, i)) >= 0) {
            if (number > highest) {
                highest = number;
                continue;
            }
            late++;
            assert_true(highest - number >= 3);
        }
    }
    while (take(&p, FRAMES + 11 * MS) >= 0)
        ;
    assert_share(p.stats.reordered, FRAMES, 0.10);
    assert_true(late > p.stats.reordered * 9 / 10);
    assert_int_equal(p.stats.passed, FRAMES);
    finish(&p);
}

/* No frame follows the last one of a flight: it waits for hold= and no longer. */
static void a_held_frame_without_followers_goes_on(void **state)
{
    struct impair_path p;

    (void)state;
    start(&p, "reorder=100,hold=2ms", 1);
    put(&p, 1, 5);
    assert_int_equal(take(&p, 5), -1);
    assert_int_equal(impair_path_next(&p), 2 * MS + 5);
    assert_int_equal(take(&p, 2 * MS + 4), -1);
    assert_int_equal(take(&p, 2 * MS + 5), 1);
    finish(&p);
}

static void duplicates_are_the_same_frame(void **state)
{
    struct impair_path p;
    uint32_t i;

    (void)state;
    start(&p, "duplicate=10", 1);
    for (i = 0; i < FRAMES; i++) {
        uint64_t before = p.stats.duplicated;

        put(&p, i, i);
        assert_int_equal(take(&p, i), i);
        assert_int_equal(take(&p, i), p.stats.duplicated > before ? (int64_t)i : -1);
    }
    assert_share(p.stats.duplicated, FRAMES, 0.10);
    finish(&p);
}

static unsigned ones(const uint8_t *data, uint32_t len)
{
    unsigned count = 0;

    while (len--)
        count += (unsigned)__builtin_popcount(*data++);
    return count;
}

static void corruption_flips_one_bit_and_says_so(void **state)
{
    struct impair_path p;
    struct impair_entry e;
    uint64_t first_half = 0;
    uint32_t i;

    (void)state;
    start(&p, "corrupt=20", 1);
    for (i = 0; i < FRAMES; i++) {
        uint64_t before = p.stats.corrupted;
        unsigned flipped;

        put(&p, 0, i);
        assert_int_equal(impair_path_take(&p, i, &e), 0);
        flipped = ones(p.pool.mem + e.offset, LEN);
        assert_int_equal(flipped, p.stats.corrupted - before);
        assert_int_equal(e.flags, flipped ? 0 : NETIO_F_L4_CSUM_OK);
        first_half += ones(p.pool.mem + e.offset, LEN / 2);
        pool_put(&p.pool, e.offset);
    }
    assert_share(p.stats.corrupted, FRAMES, 0.20);
    assert_share(first_half, p.stats.corrupted, 0.5);
    finish(&p);
}

/* 1000 bytes at 8 Mbit/s: one frame each millisecond, and ten may wait. */
static void rate_spaces_frames_and_the_queue_overflows(void **state)
{
    struct impair_path p;
    uint32_t i;

    (void)state;
    start(&p, "rate=8M,queue=10", 1);
    for (i = 0; i < 30; i++)
        put(&p, i, 0);
    assert_int_equal(p.stats.overflowed, 20);
    for (i = 0; i < 10; i++) {
        assert_int_equal(impair_path_next(&p), (i + 1) * MS);
        assert_int_equal(take(&p, (i + 1) * MS - 1), -1);
        assert_int_equal(take(&p, (i + 1) * MS), i);
    }
    assert_int_equal(take(&p, 100 * MS), -1);
    finish(&p);
}

/* Frames in the delay after the line are not in its queue. */
static void delay_does_not_fill_the_queue(void **state)
{
    struct impair_path p;
    uint32_t i;

    (void)state;
    start(&p, "rate=8M,queue=2,delay=1s", 1);
    for (i = 0; i < 500; i++)
        put(&p, i, i * MS);
    assert_int_equal(p.stats.overflowed, 0);
    for (i = 0; i < 500; i++)
        assert_int_equal(take(&p, 2000 * MS), i);
    finish(&p);
}

static void memory_is_bounded(void **state)
{
    struct impair_path p;
    uint32_t i;

    (void)state;
    start(&p, "delay=1s,memory=100,duplicate=50", 1);
    for (i = 0; i < 1000; i++)
        put(&p, i, 0);
    assert_int_equal(p.stats.overflowed, 1000 + p.stats.duplicated - 100);
    for (i = 0; i < 100; i++)
        assert_true(take(&p, 1000 * MS) >= 0);
    assert_int_equal(take(&p, 1000 * MS), -1);
    finish(&p);
}

/* A hash of the output: frame numbers and times. */
static uint64_t trace(const char *options, uint64_t salt)
{
    struct impair_path p;
    uint64_t mixed = 0;
    uint64_t now = 0;
    int64_t number;
    uint32_t i;

    start(&p, options, salt);
    for (i = 0; i < 5000; i++) {
        now += (i % 7) * MS / 10;
        put(&p, i, now);
        while ((number = take(&p, now)) >= 0)
            mixed = (mixed ^ (uint64_t)number ^ now) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    }
    impair_path_free(&p);
    return mixed;
}

#define ALL "loss=2,burst=1/20,delay=2ms,jitter=1ms,reorder=3,duplicate=2,corrupt=2,rate=50M"

static void everything_follows_from_the_seed(void **state)
{
    uint64_t a = trace(ALL ",seed=1", 1);

    (void)state;
    assert_true(a == trace(ALL ",seed=0x1", 1));
    assert_true(a != trace(ALL ",seed=2", 1));
    assert_true(a != trace(ALL ",seed=1", 2)); /* the other direction */
}

static void bad_options_are_named(void **state)
{
    static const char *const bad[][2] = {
        {"loss=101", "loss=101 is not a percentage"},
        {"loss=-1", "loss=-1 is not a percentage"},
        {"loss=", "loss= is not a percentage"},
        {"loss=1e1", "not a percentage"},
        {"loss=1.2.3", "not a percentage"},
        {"corrupt=nan", "not a percentage"},
        {"burst=5", "not ENTER/LEAVE"},
        {"burst=5/", "not ENTER/LEAVE"},
        {"burst=5/101", "not ENTER/LEAVE"},
        {"delay=10", "delay=10 is not a time"},
        {"delay=10min", "not a time"},
        {"delay=3601s", "not a time"},
        {"jitter=ms", "not a time"},
        {"rate=0", "not a rate"},
        {"rate=10Mbit", "not a rate"},
        {"seed=x", "seed=x is not a 64-bit number"},
        {"seed=-1", "not a 64-bit number"},
        {"gap=0", "gap=0 is not a whole number from 1 to 1000"},
        {"queue=70000", "queue=70000 is not a whole number"},
        {"dir=up", "dir=up is not one of: both rx tx"},
        {"lossy=1", "unknown option 'lossy'"},
        {"loss", "'loss' has no value"},
    };
    struct impair_options o;
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(impair_options_parse(&o, bad[i][0], 0, &err), -1);
        if (!strstr(text, bad[i][1]))
            fail_msg("'%s': '%s' does not contain '%s'", bad[i][0], text, bad[i][1]);
    }
}

/* ---- as a back end, in front of a wire ---- */

static int64_t receive_after(struct netio *to, struct netio *between, uint64_t now)
{
    netio_tx_flush(between, now);
    return receive_number(to, now);
}

static void delays_what_is_sent_and_what_is_received(void **state)
{
    struct netio *a, *b;

    (void)state;
    make_folder();
    a = open_ok(in_folder("impair(delay=5ms):wire:@/w,side=a"));
    b = open_ok(in_folder("wire:@/w,side=b"));
    assert_int_equal(receive_number(a, 0), -1); /* both have looked after the link */
    assert_int_equal(receive_number(b, 0), -1);
    assert_int_equal(send_number(a, 1, 60, 100 * MS), 0);
    assert_int_equal(netio_next_event(a), 105 * MS);
    assert_int_equal(receive_after(b, a, 105 * MS - 1), -1);
    assert_int_equal(receive_after(b, a, 105 * MS), 1);
    assert_int_equal(send_number(b, 2, 60, 200 * MS), 0);
    assert_int_equal(receive_number(a, 200 * MS), -1);
    assert_int_equal(netio_next_event(a), 205 * MS);
    assert_int_equal(receive_number(a, 205 * MS), 2);
    netio_close(a);
    netio_close(b);
    remove_folder();
}

static void directions_are_apart_and_counted(void **state)
{
    struct netio_impair_stats rx, tx;
    struct netio_info info;
    struct netio *a, *b;
    uint32_t i;

    (void)state;
    make_folder();
    a = open_ok(in_folder("impair(loss=100,dir=tx,seed=77):wire:@/w,side=a"));
    b = open_ok(in_folder("wire:@/w,side=b"));
    netio_get_info(a, &info);
    assert_non_null(strstr(info.mode, "seed=77"));
    assert_int_equal(receive_number(a, 0), -1);
    assert_int_equal(receive_number(b, 0), -1);
    for (i = 0; i < 10; i++) {
        assert_int_equal(send_number(a, i, 60, i), 0);
        assert_int_equal(receive_number(b, i), -1);
        assert_int_equal(send_number(b, i, 60, i), 0);
        assert_int_equal(receive_number(a, i), i);
    }
    assert_int_equal(netio_impair_get_stats(a, &rx, &tx), 0);
    assert_int_equal(tx.lost, 10);
    assert_int_equal(rx.passed, 10);
    assert_int_equal(netio_impair_get_stats(b, &rx, &tx), -1);
    netio_close(a);
    netio_close(b);
    remove_folder();
}

/* The underlying back end has 1024 buffers; the delay holds more than that. */
static void delayed_frames_take_no_buffer_of_the_back_end(void **state)
{
    struct netio *a, *b;
    uint32_t i;

    (void)state;
    make_folder();
    a = open_ok(in_folder("impair(delay=5ms):wire:@/w,side=a"));
    b = open_ok(in_folder("wire:@/w,side=b"));
    assert_int_equal(receive_number(a, 0), -1);
    assert_int_equal(receive_number(b, 0), -1);
    for (i = 0; i < 3000; i++)
        assert_int_equal(send_number(a, i, 60, MS), 0);
    for (i = 0; i < 3000; i++)
        assert_int_equal(receive_after(b, a, 6 * MS), i);
    netio_close(a);
    netio_close(b);
    remove_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_set_changes_nothing),
        cmocka_unit_test(loss_has_its_share),
        cmocka_unit_test(extremes_of_loss),
        cmocka_unit_test(bursts_have_their_share_and_length),
        cmocka_unit_test(delay_is_exact_and_jitter_keeps_order),
        cmocka_unit_test(reordered_frames_go_after_the_gap),
        cmocka_unit_test(a_held_frame_without_followers_goes_on),
        cmocka_unit_test(duplicates_are_the_same_frame),
        cmocka_unit_test(corruption_flips_one_bit_and_says_so),
        cmocka_unit_test(rate_spaces_frames_and_the_queue_overflows),
        cmocka_unit_test(delay_does_not_fill_the_queue),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(everything_follows_from_the_seed),
        cmocka_unit_test(bad_options_are_named),
        cmocka_unit_test(delays_what_is_sent_and_what_is_received),
        cmocka_unit_test(directions_are_apart_and_counted),
        cmocka_unit_test(delayed_frames_take_no_buffer_of_the_back_end),
    };

    return cmocka_run_group_tests_name("netio impair", tests, NULL, NULL);
}
