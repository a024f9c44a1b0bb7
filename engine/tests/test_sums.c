/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sums.c - every implementation (sums.h) that this CPU supports gives the result of core/'s
 * plain C, at every alignment and length, and copies exactly the requested bytes. TOEHOLD_SEED.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "frames/sums.h"

#define MOST  70000u
#define GUARD 64u
#define LARGE (3u << 20) /* lanes would overflow if they were not emptied */

static uint8_t *from, *to;
static uint64_t random_state;

static uint64_t draw(void)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return random_state >> 16;
}

static void check(const struct sums *s, unsigned src, unsigned dst, unsigned n)
{
    uint16_t want = toec_sum(from + src, n);
    uint8_t *at = to + GUARD + dst;

    if (s->sum(from + src, n) != want)
        fail_msg("%s: sum of %u bytes at %u: %04x, not %04x", s->name, n, src,
                 s->sum(from + src, n), want);
    memset(at - GUARD, 0x5a, n + 2 * GUARD);
    if (s->copy(at, from + src, n) != want)
        fail_msg("%s: copy of %u bytes from %u to %u has another sum", s->name, n, src, dst);
    if (memcmp(at, from + src, n) != 0)
        fail_msg("%s: copy of %u bytes from %u to %u", s->name, n, src, dst);
    for (unsigned i = 1; i <= GUARD; i++)
        if (at[-(int)i] != 0x5a || at[n + i - 1] != 0x5a)
            fail_msg("%s: a copy of %u bytes from %u to %u wrote beside it", s->name, n, src, dst);
}

static void fill(int how, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        from[i] = how < 256 ? (uint8_t)how : (uint8_t)draw();
}

static void test_every_short_length_at_every_alignment(void **state)
{
    (void)state;
    fill(256, 1024);
    for (const struct sums *s = sums_all; s->name; s++)
        for (unsigned n = 0; s->works() && n < 400; n++)
            for (unsigned src = 0; src < 64; src++)
                check(s, src, (src * 7 + n) % 64, n);
}

static void test_random_lengths_to_70000(void **state)
{
    /* all zeros and all ones have the two sums that mean nothing */
    static const int fillings[] = {256, 0, 0xff, 0x7f, 0x80};

    (void)state;
    for (unsigned k = 0; k < sizeof(fillings) / sizeof(fillings[0]); k++) {
        fill(fillings[k], MOST + 64);
        for (const struct sums *s = sums_all; s->name; s++) {
            for (unsigned i = 0; s->works() && i < 400; i++)
                check(s, (unsigned)(draw() % 64), (unsigned)(draw() % 64),
                      (unsigned)(draw() % (MOST + 1)));
            if (s->works())
                check(s, 1, 3, MOST);
        }
    }
}

static void test_lengths_beyond_any_frame(void **state)
{
    static const int fillings[] = {256, 0, 0xff};

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        fill(fillings[k], LARGE + 64);
        for (const struct sums *s = sums_all; s->name; s++)
            for (unsigned i = 0; s->works() && i < 3; i++)
                check(s, i, 2, LARGE - i);
    }
}

/* Only zeros sum to 0; any other multiple of 0xffff gives 0xffff, as in plain C. */
static void test_the_two_zeros(void **state)
{
    (void)state;
    fill(0, 2048);
    for (const struct sums *s = sums_all; s->name; s++) {
        if (!s->works())
            continue;
        assert_int_equal(s->sum(from, 1500), 0);
        from[1000] = from[1001] = 0xff;
        assert_int_equal(s->sum(from, 1500), 0xffff);
        from[1000] = from[1001] = 0;
    }
}

static void test_the_widest_is_chosen(void **state)
{
    const struct sums *widest = sums_all, *s;

    (void)state;
    assert_string_equal(sums_all[0].name, "plain");
    assert_true(sums_all[0].works());
    for (s = sums_all; s->name; s++) {
        print_message("%s: %s\n", s->name, s->works() ? "tested" : "not on this CPU");
        if (s->works())
            widest = s;
    }
    sums_choose();
    assert_ptr_equal(sums, widest);
    sums_use(sums_all);
    sums_choose(); /* an earlier caller keeps it */
    assert_ptr_equal(sums, sums_all);
}

static unsigned summed, copied;

static toec_u16 count_sum(const void *data, unsigned long n)
{
    summed++;
    return toec_sum(data, n);
}

static toec_u16 count_copy(void *dst, const void *src, unsigned long n)
{
    copied++;
    memcpy(dst, src, n);
    return toec_sum(dst, n);
}

/* Engines use the chosen implementation: for received frames, joined or not, and for sent ones. */
static void test_engines_use_it(void **state)
{
    static const struct sums counting = {"counting", NULL, count_sum, count_copy};
    const struct sums *before = sums;
    void *made = NULL;
    struct hosts *w;
    uint32_t fx, fy, i;

    (void)state;
    assert_int_equal(hosts_setup(&made), 0);
    w = made;
    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    sums_use(&counting);
    for (i = 0; i < 2; i++) {
        offload_set(w->t.a, i ? OFFLOAD_GRO : 0);
        offload_set(w->t.b, i ? OFFLOAD_GSO : 0);
        summed = copied = 0;
        host_send(&w->y, fy, i * 5000, 5000);
        bench_run(&w->t, 500 * NS_PER_MS);
        assert_true(host_holds(&w->x, fx, i * 5000, 5000));
        assert_true(summed >= 4 && copied >= 4); /* segments */
    }
    sums_use(before);
    assert_int_equal(hosts_teardown(&made), 0);
}

static int make_room(void **state)
{
    (void)state;
    from = malloc(LARGE + 64);
    to = malloc(LARGE + 64 + 2 * GUARD);
    random_state = bench_seed();
    return from && to ? 0 : -1;
}

static int free_room(void **state)
{
    (void)state;
    free(from);
    free(to);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_short_length_at_every_alignment),
        cmocka_unit_test(test_random_lengths_to_70000),
        cmocka_unit_test(test_lengths_beyond_any_frame),
        cmocka_unit_test(test_the_two_zeros),
        cmocka_unit_test(test_the_widest_is_chosen),
        cmocka_unit_test(test_engines_use_it),
    };

    return cmocka_run_group_tests(tests, make_room, free_room);
}
