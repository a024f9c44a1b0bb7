/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_polling.c - the polling manager by rounds (polling.h): pending notifications while commands
 * are in transit, and a full ring. The other tests cover the rest under TOE_BENCH_MANAGER=polling.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

#define RING  64u
#define MANY  200u /* more than the common ring has entries */
#define WRONG 99   /* a command that is answered with ERROR */

static unsigned hand_out(struct hosts *w)
{
    unsigned n = 0, more;

    while ((more = polling_round(w->t.manager, w->t.now)))
        n += more;
    return n;
}

static void arm(struct host *h)
{
    toe_ring_store(&h->doorbells->irq_arm, 1);
    toe_ring_store(&h->doorbells->irq_seq, h->doorbells->irq_seq + 1);
}

static void put_wrong(struct host *h, uint32_t n)
{
    while (n--)
        host_put(h, WRONG, 0, 0, 0, 0, 0);
}

static void test_a_command_and_its_tail_come_by_the_manager(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;

    arm(&w->x);
    put_wrong(&w->x, 1);
    assert_int_not_equal(engine_step(w->t.a, w->t.now), 0);
    assert_int_equal(toe_ring_load(&w->x.status->sw_tail), 0); /* no ERROR in the ring yet */
    assert_false(host_get(&w->x, &c));
    assert_int_equal(host_interrupts(&w->x), 0);
    assert_int_equal(hand_out(w), 2);
    assert_int_equal(toe_ring_load(&w->x.status->sw_tail), 1);
    assert_int_equal(toe_ring_load(&w->x.status->hw_head), 1);
    assert_int_equal(host_interrupts(&w->x), 1);
    host_want_error(&w->x, TOE_R_NOSYS, 0, WRONG);
    common_tally(w->t.a);
    assert_int_equal(w->t.a->counters[EC_manager_commands], 2);
    assert_int_equal(w->t.a->counters[EC_manager_wakes], 1);
    assert_int_equal(w->t.a->counters[EC_interrupts], 0);
}

static void test_a_full_common_ring_holds_back_and_loses_nothing(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t i, taken;

    put_wrong(&w->x, MANY);
    for (i = 0; i < 2 * MANY; i++)
        engine_step(w->t.a, w->t.now);
    taken = w->x.qp->sw.tail;
    assert_in_range(taken, RING / 2, RING);
    assert_int_equal(w->t.a->counters[EC_manager_full], 1);
    assert_int_equal(w->t.a->counters[EC_hw_ring_full], 0);
    bench_run(&w->t, NS_PER_S);
    assert_false(w->x.qp->full); /* or its engine would look for ever */
    for (i = 0; host_get(&w->x, &c); i++)
        assert_int_equal(toe_cmd_arg0(&c), i);
    assert_int_equal(i, MANY);
    assert_int_equal(toe_ring_load(&w->x.status->sw_tail), MANY);
}

/* A host that has filled the ring does not suppress the pending notifications of others. */
static void test_a_halt_is_told_when_the_ring_has_room_again(void **state)
{
    struct hosts *w = *state;
    struct host z;
    struct toedev_qp_config cfg = bench_qp_config(16);
    uint32_t i;

    host_attach(&w->t, w->t.a, &z, &cfg);
    put_wrong(&w->x, MANY);
    for (i = 0; i < 2 * MANY; i++)
        engine_step(w->t.a, w->t.now);
    toe_ring_store(&z.doorbells->sw_head, 1u << 20);
    while (common_room(w->t.a->cfg.common)) /* up to its last entry */
        common_put(w->t.a->cfg.common, COMMON_LOOK, w->x.qp, NULL);
    engine_step(w->t.a, w->t.now);
    assert_int_equal(toe_ring_load(&z.status->halted), TOE_R_PROTO);
    assert_true(z.qp->last_due);
    assert_int_equal(host_interrupts(&z), 0);
    bench_run(&w->t, NS_PER_S);
    assert_false(z.qp->last_due);
    assert_int_equal(host_interrupts(&z), 1); /* not armed: it is notified all the same */
    (void)host_want(&z, TOE_CMD_ERROR);
    host_want_nothing(&z);
    host_detach(&w->t, &z);
}

static void test_a_queue_pair_lives_while_commands_for_it_are_on_their_way(void **state)
{
    struct hosts *w = *state;
    struct host z;
    struct toedev_qp_config cfg = bench_qp_config(16);
    uint32_t i;

    host_attach(&w->t, w->t.a, &z, &cfg);
    put_wrong(&z, RING / 2);
    engine_step(w->t.a, w->t.now);
    qp_drop(z.qp);
    for (i = 0; i < 10; i++)
        engine_step(w->t.a, w->t.now);
    assert_int_equal(w->t.a->qp_count, 1); /* the engine has released it */
    assert_int_equal(w->t.unused_count, 0);
    hand_out(w);
    assert_int_equal(w->t.unused_count, 1);
    host_forget(&z);
}

static void test_an_end_waits_for_room(void **state)
{
    struct hosts *w = *state;
    struct host z;
    struct toedev_qp_config cfg = bench_qp_config(16);

    host_attach(&w->t, w->t.a, &z, &cfg);
    while (common_room(w->t.a->cfg.common))
        common_put(w->t.a->cfg.common, COMMON_LOOK, z.qp, NULL);
    qp_drop(z.qp);
    engine_step(w->t.a, w->t.now);
    assert_int_equal(w->t.a->qp_count, 2);
    hand_out(w);
    assert_int_equal(w->t.unused_count, 0);
    engine_step(w->t.a, w->t.now);
    hand_out(w);
    assert_int_equal(w->t.unused_count, 1);
    host_forget(&z);
}

/* Every eventfd write of the manager fails: the engine is notified of that. */
static void test_a_broken_interrupt_halts_only_its_queue_pair(void **state)
{
    struct hosts *w = *state;
    struct host z;
    struct toedev_qp_config cfg = bench_qp_config(16);
    int not_for_writing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    host_attach(&w->t, w->t.a, &z, &cfg);
    assert_int_equal(dup2(not_for_writing, z.qp->irq_fd), z.qp->irq_fd);
    close(not_for_writing);
    arm(&z);
    put_wrong(&z, 1);
    bench_run(&w->t, NS_PER_MS);
    assert_int_equal(toe_ring_load(&z.status->halted), TOE_R_PROTO);
    assert_int_equal(w->t.a->counters[EC_interrupt_failed], 1);
    arm(&w->x);
    put_wrong(&w->x, 1);
    bench_run(&w->t, NS_PER_MS);
    assert_int_equal(host_interrupts(&w->x), 1);
    assert_int_equal(toe_ring_load(&w->x.status->halted), 0);
    host_detach(&w->t, &z);
}

#define T(f) cmocka_unit_test_setup_teardown(f, hosts_setup, hosts_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_command_and_its_tail_come_by_the_manager),
        T(test_a_full_common_ring_holds_back_and_loses_nothing),
        T(test_a_halt_is_told_when_the_ring_has_room_again),
        T(test_a_queue_pair_lives_while_commands_for_it_are_on_their_way),
        T(test_an_end_waits_for_room),
        T(test_a_broken_interrupt_halts_only_its_queue_pair),
    };

    setenv("TOE_BENCH_MANAGER", "polling", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
