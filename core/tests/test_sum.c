/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sum.c - the internet checksum against a naive one, at every alignment and length.
 */
#include "bench.h"
#include "random.h"

/* The big-endian value of a native sum. */
static unsigned as_number(uint16_t sum)
{
    uint8_t b[2];

    memcpy(b, &sum, 2);
    return b[0] * 256u + b[1];
}

/* Sums 0 and 0xffff are the same number in ones' complement. */
static unsigned canonical(unsigned sum)
{
    return sum == 0xffff ? 0 : sum;
}

static unsigned naive(const uint8_t *p, size_t n)
{
    return canonical(0xffff - naive_sum(p, n));
}

static void equals_naive_sum(void **state)
{
    static uint8_t buf[8 + 300];
    unsigned at, n, i;

    (void)state;
    random_begin(1);
    for (i = 0; i < sizeof(buf); i++)
        buf[i] = random64();
    for (at = 0; at < 8; at++)
        for (n = 0; n <= 300; n++)
            assert_int_equal(canonical(as_number(toec_sum(buf + at, n))), naive(buf + at, n));
}

/* Long runs of ones are where carries are lost. */
static void carries_are_kept(void **state)
{
    static uint8_t buf[65536];
    unsigned n;

    (void)state;
    memset(buf, 0xff, sizeof(buf));
    for (n = 1; n <= 65536; n = n * 2 + 1)
        assert_int_equal(canonical(as_number(toec_sum(buf, n))), naive(buf, n));
    assert_int_equal(toec_sum(buf, 65536), 0xffff);
    assert_int_equal(toec_sum(buf, 0), 0);
}

static void parts_add_up(void **state)
{
    uint8_t buf[64];
    unsigned cut, i;
    uint16_t sum;

    (void)state;
    random_begin(2);
    for (i = 0; i < sizeof(buf); i++)
        buf[i] = random64();
    for (cut = 0; cut <= sizeof(buf); cut++) {
        sum = toec_sum_add(toec_sum(buf, cut), toec_sum(buf + cut, sizeof(buf) - cut), cut & 1);
        assert_int_equal(canonical(as_number(sum)), naive(buf, sizeof(buf)));
    }
}

/* RFC 1071 3 works this example. */
static void rfc1071_example(void **state)
{
    static const uint8_t data[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

    (void)state;
    assert_int_equal(as_number(toec_sum(data, 8)), 0xddf2);
}

static void finishes_what_tx_asks_for(void **state)
{
    uint8_t frame[64];
    struct toec_tx tx;
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(frame); i++)
        frame[i] = i * 7;
    memset(&tx, 0, sizeof(tx));
    toec_tx_finish(&tx, frame, sizeof(frame));
    for (i = 0; i < sizeof(frame); i++)
        assert_int_equal(frame[i], (uint8_t)(i * 7));
    tx.csum_start = 34;
    tx.csum_offset = 16;
    toec_tx_finish(&tx, frame, 63);
    /* The previous value of the checksum field counts: it is a pseudo-header sum. */
    poke16(frame + 34 + 16, 0xffff - peek16(frame + 34 + 16));
    for (i = 0; i < 63; i++)
        if (i != 50 && i != 51)
            assert_int_equal(frame[i], (uint8_t)(i * 7));
    {
        uint8_t original[64];

        for (i = 0; i < sizeof(original); i++)
            original[i] = i * 7;
        assert_int_equal(canonical(peek16(frame + 50)), naive(original + 34, 63 - 34));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_naive_sum),
        cmocka_unit_test(carries_are_kept),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(rfc1071_example),
        cmocka_unit_test(finishes_what_tx_asks_for),
    };

    return cmocka_run_group_tests_name("sum", tests, 0, 0);
}
