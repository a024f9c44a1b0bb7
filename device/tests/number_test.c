/* SPDX-License-Identifier: Apache-2.0 */
/* number_test.c - toe/number.h: what is a number, and what is not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <toe/number.h>

static void numbers_are_read_whole(void **state)
{
    static const struct {
        const char *text;
        int base;
        uint64_t value;
    } rows[] = {
        {"0", 10, 0},    {"4711", 10, 4711},
        {"007", 10, 7},  {"18446744073709551615", 10, UINT64_MAX},
        {"ff", 16, 255}, {"0x10", 0, 16},
        {"42", 0, 42},
    };
    uint64_t v;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        errno = EXDEV;
        assert_true(toe_number(rows[i].text, rows[i].base, &v));
        assert_true(v == rows[i].value);
        assert_int_equal(errno, EXDEV);
    }
}

static void anything_else_is_rejected(void **state)
{
    static const char *const rows[] = {"",   " 1",   "1 ", "-1",  "+1",
                                       "1x", "0x10", "x",  "1.5", "18446744073709551616"};
    uint64_t v = 77;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        errno = EXDEV;
        assert_false(toe_number(rows[i], 10, &v));
        assert_true(v == 77);
        assert_int_equal(errno, EXDEV);
    }
    assert_false(toe_number("g", 16, &v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_whole),
        cmocka_unit_test(anything_else_is_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
