/* SPDX-License-Identifier: Apache-2.0 */
/* number_test.c - which texts are numbers, and what the error text says (toe/number.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <toe/number.h>

static const char *const not_whole[] = {
    "", " 1", "1 ", "+1", "-1", "a", "1a", "1.", "1x", "1e+3", "18446744073709551616"};

static void whole_numbers_within_the_range(void **state)
{
    uint64_t v = 7;

    (void)state;
    assert_true(toe_number("0", 0, 9, &v, NULL, 0));
    assert_int_equal(v, 0);
    assert_true(toe_number("0010", 0, 10, &v, NULL, 0));
    assert_int_equal(v, 10);
    assert_true(toe_number("18446744073709551615", 0, UINT64_MAX, &v, NULL, 0));
    assert_true(v == UINT64_MAX);
    v = 7;
    assert_false(toe_number("11", 0, 10, &v, NULL, 0));
    assert_false(toe_number("1", 2, 10, &v, NULL, 0));
    assert_int_equal(v, 7);
}

static void what_is_no_whole_number(void **state)
{
    uint64_t v = 7;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(not_whole) / sizeof(not_whole[0]); i++) {
        assert_false(toe_number(not_whole[i], 0, UINT64_MAX, &v, NULL, 0));
        assert_false(toe_number_c(not_whole[i], 0, UINT64_MAX, &v, NULL, 0));
    }
    assert_false(toe_number("0x10", 0, 100, &v, NULL, 0));
    assert_int_equal(v, 7);
}

static void whole_numbers_as_c_writes_them(void **state)
{
    uint64_t v;

    (void)state;
    assert_true(toe_number_c("0x1F", 0, 100, &v, NULL, 0));
    assert_int_equal(v, 31);
    assert_true(toe_number_c("017", 0, 100, &v, NULL, 0));
    assert_int_equal(v, 15);
    assert_true(toe_number_c("19", 0, 100, &v, NULL, 0));
    assert_int_equal(v, 19);
    assert_false(toe_number_c("08", 0, 100, &v, NULL, 0));
    assert_false(toe_number_c("0x65", 0, 100, &v, NULL, 0));
}

static const struct toe_unit times[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {NULL, 0}};
static const struct toe_unit sizes[] = {{"", 1}, {"kB", 1e3}, {NULL, 0}};

static void quantities_with_units(void **state)
{
    double v;

    (void)state;
    assert_true(toe_quantity("2.5ms", times, 0, 1e9, &v, NULL, 0));
    assert_true(v == 2.5e6);
    assert_true(toe_quantity("1e3us", times, 0, 1e9, &v, NULL, 0));
    assert_true(v == 1e6);
    assert_true(toe_quantity("1E-1s", times, 0, 1e9, &v, NULL, 0));
    assert_true(v == 1e8);
    assert_true(toe_quantity(".5", NULL, 0, 1, &v, NULL, 0));
    assert_true(v == 0.5);
    assert_true(toe_quantity("3", sizes, 0, 1e9, &v, NULL, 0));
    assert_true(v == 3);
    assert_true(toe_quantity("3kB", sizes, 0, 1e9, &v, NULL, 0));
    assert_true(v == 3000);
    assert_false(toe_quantity("2s", times, 0, 1e9, &v, NULL, 0)); /* the range is that of the ns */
}

static void what_is_no_quantity(void **state)
{
    static const char *const bad[] = {"",    ".",   "e3",   "-1",    "+1",    " 1", "1 ",  "1s",
                                      "inf", "nan", "0x10", "1e999", "1.2.3", "1e", "1kB "};
    double v = 7;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(toe_quantity(bad[i], sizes, 0, 1e300, &v, NULL, 0));
    assert_false(toe_quantity("1", times, 0, 1e9, &v, NULL, 0)); /* the unit is required */
    assert_false(toe_quantity("1kB", NULL, 0, 1e9, &v, NULL, 0));
    assert_true(v == 7);
}

static void the_error_text_names_what_is_accepted(void **state)
{
    char want[128];
    uint64_t v;
    double d;

    (void)state;
    toe_number("x", 1, 64, &v, want, sizeof(want));
    assert_string_equal(want, "a whole number from 1 to 64");
    toe_number("x", 0, UINT64_MAX, &v, want, sizeof(want));
    assert_string_equal(want, "a whole number of up to 64 bits");
    toe_number("x", UINT64_MAX, UINT64_MAX, &v, want, TOE_NUMBER_WANT);
    assert_string_equal(want, "a whole number from 18446744073709551615 to 18446744073709551615");
    toe_quantity("x", NULL, 0.001, 86400, &d, want, sizeof(want));
    assert_string_equal(want, "a number from 0.001 to 86400");
    toe_quantity("x", times, 0, 1e9, &d, want, sizeof(want));
    assert_string_equal(want, "a number from 0 to 1e+09, with a unit (s, ms, us)");
    toe_quantity("x", sizes, 0, 5, &d, want, sizeof(want));
    assert_string_equal(want, "a number from 0 to 5, alone or with a unit (kB)");
}

static void ethernet_addresses(void **state)
{
    static const char *const bad[] = {
        "",
        "02",
        "02:00:00:00:00:0",
        "02:00:00:00:00:0a:",
        "02:00:00:00:00:0a:01",
        "02-00-00-00-00-0a",
        "2:0:0:0:0:a",
        "02:00:00:00:00:0g",
        " 2:00:00:00:00:0a",
        "+2:00:00:00:00:0a",
        "02:00:00:00:00:0a ",
        "0x:00:00:00:00:0a",
    };
    uint8_t mac[6] = {7};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(toe_mac(bad[i], mac));
    assert_int_equal(mac[0], 7);
    assert_true(toe_mac("02:00:5e:Ff:09:0a", mac));
    assert_memory_equal(mac, "\x02\x00\x5e\xff\x09\x0a", 6);
}

static void hexadecimal_digits(void **state)
{
    static const char digits[] = "0123456789abcdef", capital[] = "ABCDEF";
    int i;

    (void)state;
    for (i = 0; i < 16; i++)
        assert_int_equal(toe_hex_digit(digits[i]), i);
    for (i = 0; i < 6; i++)
        assert_int_equal(toe_hex_digit(capital[i]), 10 + i);
    for (i = 1; i < 256; i++)
        if (!strchr(digits, i) && !strchr(capital, i))
            assert_int_equal(toe_hex_digit((char)i), -1);
    assert_int_equal(toe_hex_digit(0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_within_the_range),
        cmocka_unit_test(what_is_no_whole_number),
        cmocka_unit_test(whole_numbers_as_c_writes_them),
        cmocka_unit_test(quantities_with_units),
        cmocka_unit_test(what_is_no_quantity),
        cmocka_unit_test(ethernet_addresses),
        cmocka_unit_test(hexadecimal_digits),
        cmocka_unit_test(the_error_text_names_what_is_accepted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
