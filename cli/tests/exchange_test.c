/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_test.c - parts of exchanges and their distribution (trace/exchange.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../trace/exchange.h"

#define COUNT 200

static const struct part *part(const char *name)
{
    size_t i;

    for (i = 0; i < PARTS; i++)
        if (strcmp(exchange_parts[i].name, name) == 0)
            return &exchange_parts[i];
    fail_msg("no part %s", name);
    return NULL;
}

/* The parts within an answer follow each other without a gap. */
static void test_parts_are_adjacent(void **state)
{
    enum moment at = IN;
    size_t i;

    (void)state;
    for (i = 0; i < PARTS; i++) {
        if (!exchange_parts[i].within)
            continue;
        assert_int_equal(exchange_parts[i].from, at);
        assert_non_null(exchange_parts[i].colour);
        at = exchange_parts[i].to;
    }
    assert_int_equal(at, OUT);
    assert_int_equal(part("answer")->from, IN);
    assert_int_equal(part("answer")->to, OUT);
}

static void test_distribution(void **state)
{
    static struct exchange x[COUNT];
    struct summary s;
    size_t i;

    (void)state;
    for (i = 0; i < COUNT; i++) { /* 1 to COUNT, not in order */
        x[i].at[IN] = 1000;
        x[i].at[EVENT] = 1000 + (i * 77) % COUNT + 1;
    }
    assert_true(exchange_summary(x, COUNT, part("toe_in"), &s));
    assert_int_equal(s.count, COUNT);
    assert_int_equal(s.min, 1);
    assert_int_equal(s.median, COUNT / 2 + 1);
    assert_int_equal(s.p99, 198);
    assert_int_equal(s.max, COUNT);
    assert_int_equal(s.sum, COUNT * (COUNT + 1) / 2);
}

/* Moments that are not known, or not in order, give no length. */
static void test_unknown_moments(void **state)
{
    struct exchange x[] = {{{[OUT] = 100, [ACKED] = 130}, 0, 0},
                           {{[OUT] = 100}, 0, 0},
                           {{[ACKED] = 100}, 0, 0},
                           {{[OUT] = 100, [ACKED] = 99}, 0, 0}};
    struct summary s;

    (void)state;
    assert_true(exchange_summary(x, 4, part("acked"), &s));
    assert_int_equal(s.count, 1);
    assert_int_equal(s.median, 30);
    assert_true(exchange_summary(x, 4, part("program"), &s));
    assert_int_equal(s.count, 0);
    assert_true(exchange_summary(x, 0, part("acked"), &s));
    assert_int_equal(s.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_adjacent),
        cmocka_unit_test(test_distribution),
        cmocka_unit_test(test_unknown_moments),
    };

    return cmocka_run_group_tests_name("trace_exchange", tests, NULL, NULL);
}
