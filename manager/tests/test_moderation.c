/* SPDX-License-Identifier: Apache-2.0 */
/* test_moderation.c - interrupt moderation that follows the load (SEEDS S3.3); doorbells. */
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

/* Doorbells: the counts run free, past half of their range too without a bell in between. */
static void a_bell_of_long_ago_is_forgotten(void **state)
{
    struct toe_cmd ring[64];
    struct tqp qp = sleeper(true);
    uint64_t bells = 0;

    (void)state;
    qp.doorbell_fd = sys_eventfd(0, O_NONBLOCK);
    toe_ring_tx_init(&qp.sw, ring, 64, &status.sw_tail);
    for (int i = 0; i < 3; i++) { /* busy: the TOE does not sleep */
        status.sw_tail = qp.sw.head += 1u << 30;
        assert_true(tqp_make_room(&qp));
    }
    status.sleeping = 1;
    assert_true(tqp_send(&qp, TOE_CMD_RELEASE, 0, 0, 0, 0, 0));
    assert_int_equal(sys_read(qp.doorbell_fd, &bells, sizeof(bells)), sizeof(bells));
    assert_true(tqp_send(&qp, TOE_CMD_RELEASE, 0, 0, 0, 0, 0)); /* it is on its way */
    assert_int_equal(sys_read(qp.doorbell_fd, &bells, sizeof(bells)), -1);
    sys_close(qp.doorbell_fd);
    status = (struct toedev_status){0};
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_requests_are_never_held),
        cmocka_unit_test(batches_are_waited_for_but_not_for_long),
        cmocka_unit_test(the_end_of_load_ends_it),
        cmocka_unit_test(one_long_batch_is_soon_forgotten),
        cmocka_unit_test(settings_win),
        cmocka_unit_test(a_bell_of_long_ago_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
