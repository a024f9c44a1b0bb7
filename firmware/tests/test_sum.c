/* SPDX-License-Identifier: Apache-2.0 */
/* test_sum.c - the firmware's checksum is core/'s, for each length and alignment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <toe/core.h>

#include "sum.h"

#define MOST 300u

static uint8_t bytes[MOST + 8] __attribute__((aligned(8)));

/* 0 and 0xffff are one value in ones' complement, and core/ tests for the second one. */
static void check(const uint8_t *from, uint32_t n)
{
    if (sum_bytes(from, n) != toec_sum(from, n))
        fail_msg("%u bytes at %u: %x, and core/ has %x", n, (unsigned)(from - bytes),
                 sum_bytes(from, n), toec_sum(from, n));
}

static void check_all(void)
{
    uint32_t at, n;

    for (at = 0; at < 8; at++)
        for (n = 0; n <= MOST; n++)
            check(bytes + at, n);
}

static void test_bytes_of_all_kinds(void **state)
{
    uint32_t i, x = 1;

    (void)state;
    for (i = 0; i < sizeof bytes; i++) {
        x = x * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(x >> 24);
    }
    check_all();
}

static void test_carries(void **state)
{
    (void)state;
    memset(bytes, 0xff, sizeof bytes);
    check_all();
}

static void test_zeros(void **state)
{
    (void)state;
    memset(bytes, 0, sizeof bytes);
    check_all();
    assert_int_equal(sum_bytes(bytes, MOST), 0);
}

/* Each byte counts where it is: a sum that misses one, or has it in the other half, differs. */
static void test_each_byte_has_its_weight(void **state)
{
    uint32_t i;

    (void)state;
    for (i = 0; i < MOST; i++) {
        memset(bytes, 0, sizeof bytes);
        bytes[i] = 1;
        assert_int_not_equal(sum_bytes(bytes, MOST), 0);
        check(bytes, MOST);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_all_kinds),
        cmocka_unit_test(test_carries),
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_each_byte_has_its_weight),
    };

    return cmocka_run_group_tests_name("sum", tests, NULL, NULL);
}
