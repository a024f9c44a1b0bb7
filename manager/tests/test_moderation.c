/* SPDX-License-Identifier: Apache-2.0 */
/* test_moderation.c - interrupt moderation that follows the load (SEEDS S3.3), in virtual time;
 * when the answers to a batch of sockets leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "batch.h"
#include "host.h"
#include "moderation.h"
#include "qp.h"

#define MS 1000000ull

/* A host that sleeps; clients with so many requests under way, each two commands. */
struct load {
    struct tmoderation m;
    uint64_t now;
    uint32_t tail, usec;
};

static void sleep_for(struct load *l, uint64_t ns, uint32_t commands)
{
    l->now += ns;
    l->tail += commands;
    l->usec = tmoderation_usec(&l->m, l->tail, l->now);
}

/* Clients that send independently of the replies: arrivals depend on time alone, 200 commands a
 * millisecond. */
static void open_load(struct load *l, uint64_t ms)
{
    uint64_t end = l->now + ms * MS;

    while (l->now < end) {
        uint64_t ns = 50000 + l->usec * 1000ull;

        sleep_for(l, ns, (uint32_t)(ns / 5000));
    }
}

/* Clients that wait for their answers: the same batch each time, the later the longer the wait. */
static unsigned closed_load(struct load *l, uint64_t ms, uint32_t commands)
{
    uint64_t end = l->now + ms * MS, waited = 0, start = l->now;

    do {
        waited += l->usec * 1000ull;
        sleep_for(l, 50000 + l->usec * 1000ull, commands);
    } while (l->now < end);
    return (unsigned)(waited * 100 / (l->now - start)); /* percent of the time spent waiting */
}

static void single_requests_are_hardly_held(void **state)
{
    struct load l = {.now = 1};

    (void)state;
    closed_load(&l, 60000, 2);
    assert_in_range(closed_load(&l, 60000, 2), 0, 1);
}

static void a_host_seldom_woken_is_never_held(void **state)
{
    struct load l = {.now = 1};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        sleep_for(&l, 1 * MS, 8);
        assert_int_equal(l.usec, 0);
    }
}

static void load_that_does_not_suffer_is_waited_for(void **state)
{
    struct load l = {.now = 1};

    (void)state;
    open_load(&l, 1000);
    assert_int_equal(l.usec, 100);
}

static void clients_that_wait_are_not_slowed_down_for_long(void **state)
{
    struct load l = {.now = 1};

    (void)state;
    assert_in_range(closed_load(&l, 10000, 16), 0, 10);
}

/* The rate seen before the load was mixed with idle time, so that the first steps passed unseen. */
static void a_wrong_start_is_found_out(void **state)
{
    struct load l = {.now = 1};

    (void)state;
    l.m.level = 2;
    closed_load(&l, 5000, 16); /* until it has polled */
    assert_in_range(closed_load(&l, 10000, 16), 0, 10);
}

static void the_end_of_load_ends_it(void **state)
{
    struct load l = {.now = 1};

    (void)state;
    open_load(&l, 1000);
    for (int i = 0; i < 32; i++) /* seldom: two windows, the first half of load */
        sleep_for(&l, 100 * MS, 1);
    assert_int_equal(l.usec, 0);
}

/* Returns the wait that a host requests of a TOE that sleeps or polls, when its load is worth it.
 */
static uint32_t requested(uint32_t toe_sleeps)
{
    static struct toedev_doorbells db; /* a stack of a sanitizer does not align by 64 */
    static struct toedev_status status;
    struct tqp qp = {.db = &db, .status = &status, .adaptive = true};

    db = (struct toedev_doorbells){0};
    status = (struct toedev_status){.sleeping = toe_sleeps};
    qp.moderation = (struct tmoderation){.since = tclock_ns(), .level = 2};
    tqp_arm(&qp);
    assert_int_equal(db.irq_arm, 1);
    assert_int_equal(db.irq_seq, 1);
    assert_int_equal(db.irq_count > 1, db.irq_usec > 0);
    return db.irq_usec;
}

static void a_sleeping_toe_adds_no_wait(void **state)
{
    (void)state;
    assert_int_equal(requested(0), 100);
    assert_int_equal(requested(1), 0);
}

static void counts_wrap(void **state)
{
    struct load l = {.now = 1, .tail = UINT32_MAX - 5000, .m.tail = UINT32_MAX - 5000};

    (void)state;
    open_load(&l, 1000);
    assert_int_equal(l.usec, 100);
}

static void answers_leave_together_unless_they_take_long(void **state)
{
    uint32_t n;

    (void)state;
    for (n = 1; n < 40; n++)
        assert_true(tbatch_gathers(n, 40 - n, 40, 0));
    assert_false(tbatch_gathers(40, 0, 40, 0));
    assert_false(tbatch_gathers(GATHER_MOST, 1, 256, 0));
    assert_true(tbatch_gathers(3, 5, 8, GATHER_NS));
    assert_false(tbatch_gathers(4, 4, 8, GATHER_NS));
    assert_true(tbatch_gathers(GATHER_SLOW - 1, 200, 256, GATHER_NS));
    assert_false(tbatch_gathers(GATHER_SLOW, 200, 256, GATHER_NS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_requests_are_hardly_held),
        cmocka_unit_test(a_host_seldom_woken_is_never_held),
        cmocka_unit_test(load_that_does_not_suffer_is_waited_for),
        cmocka_unit_test(clients_that_wait_are_not_slowed_down_for_long),
        cmocka_unit_test(a_wrong_start_is_found_out),
        cmocka_unit_test(the_end_of_load_ends_it),
        cmocka_unit_test(a_sleeping_toe_adds_no_wait),
        cmocka_unit_test(counts_wrap),
        cmocka_unit_test(answers_leave_together_unless_they_take_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
