/* SPDX-License-Identifier: Apache-2.0 */
/* test_moderation.c - interrupt moderation that follows the load (SEEDS S3.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ctx.h"

static struct toedev_doorbells doorbells;
static struct toedev_status status;

static struct tqp sleeper(bool adaptive)
{
    doorbells = (struct toedev_doorbells){.irq_count = 1};
    return (struct tqp){.db = &doorbells, .status = &status, .adaptive = adaptive};
}

/* `times` sleeps, each ended by so many commands. */
static void sleeps(struct tqp *qp, unsigned times, uint32_t commands)
{
    for (unsigned i = 0; i < times; i++) {
        qp->hw.tail += commands;
        tqp_arm(qp);
    }
}

static void single_requests_are_never_held(void **state)
{
    struct tqp qp = sleeper(true);

    (void)state;
    sleeps(&qp, 1000, 2); /* a request and its ACK */
    assert_int_equal(doorbells.irq_count, 1);
}

static void batches_are_waited_for_but_not_for_long(void **state)
{
    struct tqp qp = sleeper(true);

    (void)state;
    sleeps(&qp, 50, 40);
    assert_in_range(doorbells.irq_count, 70, 80); /* twice what comes on average */
    assert_int_equal(doorbells.irq_usec, 100);
}

static void the_end_of_load_ends_it(void **state)
{
    struct tqp qp = sleeper(true);

    (void)state;
    sleeps(&qp, 50, 40);
    sleeps(&qp, 20, 1);
    assert_int_equal(doorbells.irq_count, 1);
}

static void one_long_batch_is_soon_forgotten(void **state)
{
    struct tqp qp = sleeper(true);

    (void)state;
    sleeps(&qp, 1, 1u << 31);
    sleeps(&qp, 40, 1);
    assert_int_equal(doorbells.irq_count, 1);
}

static void settings_win(void **state)
{
    struct tqp qp = sleeper(false);

    (void)state;
    doorbells.irq_count = 7;
    doorbells.irq_usec = 3;
    sleeps(&qp, 50, 40);
    assert_int_equal(doorbells.irq_count, 7);
    assert_int_equal(doorbells.irq_usec, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_requests_are_never_held),
        cmocka_unit_test(batches_are_waited_for_but_not_for_long),
        cmocka_unit_test(the_end_of_load_ends_it),
        cmocka_unit_test(one_long_batch_is_soon_forgotten),
        cmocka_unit_test(settings_win),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
