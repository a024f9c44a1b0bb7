/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_threads.c - engines with their threads, on a real shared-memory wire, asleep whenever idle.
 * No wake-up may be lost on any path: frame, doorbell, interrupt, call. A lost one shows as a wait
 * that does not end within WAIT_MS.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "round/thread.h"

#define WAIT_MS 100000
#define ROUNDS  1500

struct world {
    char dir[64];
    struct polling *manager; /* of both engines; NULL: they interrupt themselves */
    struct bench t;          /* only its list of unused queue pairs is used */
    struct engine *a, *b;
    pthread_mutex_t lock;
    uint32_t gone; /* queue pairs that are not used any more */
};

static void let_go(void *arg, struct qp *qp)
{
    struct world *w = arg;

    pthread_mutex_lock(&w->lock);
    w->t.unused[w->t.unused_count++] = qp;
    w->gone++;
    pthread_mutex_unlock(&w->lock);
}

/* The resources of a test's engines. */
static uint32_t spin_us, moderation;

static struct engine *start(struct world *w, char side, uint8_t last)
{
    struct netio_config ncfg = {.ip = {10, 0, 0, last}};
    struct engine_config cfg = {.count = 1,
                                .max_qps = 4,
                                .spin_us = spin_us,
                                .moderation = moderation,
                                .common = polling_ring(w->manager, last - 1u),
                                .qp_unused = let_go};
    struct netio_info info;
    char spec[128], err[256];
    struct engine *e;

    snprintf(spec, sizeof(spec), "wire:%s/w,side=%c", w->dir, side);
    cfg.netio = netio_open(spec, &ncfg, err, sizeof(err));
    if (!cfg.netio)
        fail_msg("%s", err);
    cfg.arg = w;
    netio_get_info(cfg.netio, &info);
    memcpy(cfg.core.mac, info.mac, 6);
    memcpy(cfg.core.ip, ncfg.ip, 4);
    memset(cfg.core.secret, last, sizeof(cfg.core.secret));
    cfg.core.prefix_len = 24;
    cfg.core.mtu = 1500;
    cfg.core.max_flows = 64;
    e = engine_new(&cfg, engine_clock(), err, sizeof(err));
    if (!e)
        fail_msg("%s", err);
    assert_int_equal(engine_start(e), 0);
    return e;
}

static int setup_with(void **state, uint32_t us, struct polling *manager)
{
    static struct world w;

    spin_us = us;
    memset(&w, 0, sizeof(w));
    w.manager = manager;
    if (manager)
        assert_int_equal(polling_start(manager, 0, 0), 0);
    snprintf(w.dir, sizeof(w.dir), "/tmp/toe-threads-XXXXXX");
    assert_non_null(mkdtemp(w.dir));
    pthread_mutex_init(&w.lock, NULL);
    w.a = start(&w, 'a', 1);
    w.b = start(&w, 'b', 2);
    *state = &w;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, 0, NULL);
}

static int setup_managed(void **state)
{
    struct polling *manager = polling_new(2, 64);

    assert_non_null(manager);
    return setup_with(state, 0, manager);
}

/* They poll for a while, and so do the fence of their hosts' doorbells. */
static int setup_ordering(void **state)
{
    return setup_with(state, 20, NULL);
}

/* Frames wait for a moment; doorbells, interrupts and calls do not. */
static int setup_moderated(void **state)
{
    int rc;

    moderation = 25;
    rc = setup_with(state, 0, NULL);
    moderation = 0;
    return rc;
}

static uint32_t gone(struct world *w)
{
    uint32_t n;

    pthread_mutex_lock(&w->lock);
    n = w->gone;
    pthread_mutex_unlock(&w->lock);
    return n;
}

/* A queue pair with flows that had not ended when its engine's thread stopped still belongs to the
 * engine: runs the missing rounds, and then the manager, which frees it. */
static void let_all_go(struct world *w)
{
    uint32_t i;

    engine_stop(w->a);
    engine_stop(w->b);
    for (i = 0; gone(w) < w->t.next_qp && i < WAIT_MS; i++) {
        engine_step(w->a, engine_clock());
        engine_step(w->b, engine_clock());
        usleep(1000);
    }
    assert_int_equal(gone(w), w->t.next_qp);
}

static int teardown(void **state)
{
    struct world *w = *state;
    char path[128];
    uint32_t i;

    engine_join(w->a);
    engine_join(w->b);
    let_all_go(w);
    polling_join(w->manager);
    for (i = 0; i < w->t.unused_count; i++)
        qp_free(w->t.unused[i]);
    engine_free(w->a);
    engine_free(w->b);
    polling_free(w->manager);
    snprintf(path, sizeof(path), "%s/w", w->dir);
    unlink(path);
    rmdir(w->dir);
    return 0;
}

struct adoption {
    struct host *h;
    struct bench *t;
};

static void attach_in_engine(struct engine *e, void *arg)
{
    struct adoption *a = arg;
    struct toedev_qp_config cfg = bench_qp_config(16);

    host_attach(a->t, e, a->h, &cfg);
}

static void drop_in_engine(struct engine *e, void *arg)
{
    (void)e;
    qp_drop(arg);
}

/* As in ring.h: publish, fence unless the TOE does, ring when it sleeps. */
static void ring_doorbell(struct host *h)
{
    uint64_t one = 1;

    if (h->status->orders)
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    else
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (toe_ring_load(&h->status->sleeping))
        assert_int_equal(write(h->qp->doorbell_fd, &one, sizeof(one)), sizeof(one));
}

static void put(struct host *h, uint8_t type, uint16_t aux, uint32_t flow, uint32_t arg0)
{
    host_put(h, type, 0, aux, flow, arg0, type == TOE_CMD_LISTEN ? 16 : 0);
    ring_doorbell(h);
}

/* Sleeps until the next HW command and returns it. */
static struct toe_cmd await(struct host *h)
{
    struct pollfd p = {h->irq_fd, POLLIN, 0};
    struct toe_cmd c;

    while (!host_get(h, &c)) {
        toe_ring_store(&h->doorbells->irq_arm, 1);
        toe_ring_store(&h->doorbells->irq_seq, h->doorbells->irq_seq + 1);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (host_get(h, &c))
            break;
        assert_int_equal(poll(&p, 1, WAIT_MS), 1);
        host_interrupts(h);
    }
    return c;
}

static struct toe_cmd await_type(struct host *h, uint8_t type)
{
    struct toe_cmd c;

    do
        c = await(h);
    while (toe_cmd_type(&c) == TOE_CMD_SEND_COMPLETE && type != TOE_CMD_SEND_COMPLETE);
    assert_int_equal(toe_cmd_type(&c), type);
    return c;
}

struct look {
    const struct qp *qp;
    uint32_t taken; /* SW commands of it */
    uint64_t wakes; /* by the manager */
    uint64_t deadline;
};

static void take_look(struct engine *e, void *arg)
{
    struct look *l = arg;

    common_tally(e);
    l->wakes = e->counters[EC_manager_wakes];
    l->taken = l->qp->sw.tail;
    l->deadline = engine_deadline(e);
}

/* Waits until the engine has taken n commands of h. */
static void await_taken(struct world *w, const struct host *h, uint32_t n)
{
    struct look l = {.qp = h->qp};

    do
        engine_call(w->a, take_look, &l);
    while (l.taken != n);
}

/* One byte there and one back, ROUNDS times; each side's engine and host sleep in between. */
static void ping_pong(struct host *x, struct host *y, uint32_t fx, uint32_t fy)
{
    struct toe_cmd c;
    uint32_t i;

    for (i = 0; i < ROUNDS; i++) {
        host_send(y, fy, i, 1);
        ring_doorbell(y);
        c = await_type(x, TOE_CMD_DATA_RECEIVED);
        assert_int_equal(toe_cmd_arg0(&c), 1);
        assert_true(host_holds(x, fx, i, 1));
        put(x, TOE_CMD_RECV, 0, fx, 1);
        host_send(x, fx, i, 1);
        ring_doorbell(x);
        c = await_type(y, TOE_CMD_DATA_RECEIVED);
        put(y, TOE_CMD_RECV, 0, fy, 1);
    }
}

static void read_ordered(struct engine *e, void *arg)
{
    *(uint64_t *)arg = e->counters[EC_hosts_ordered];
}

static void sleepers_are_always_woken(struct world *w, uint32_t orders)
{
    uint64_t ordered = 0;
    struct host x, y;
    struct adoption ax = {&x, &w->t}, ay = {&y, &w->t};
    struct toe_cmd c;
    uint32_t fx, fy;

    engine_call(w->a, attach_in_engine, &ax);
    engine_call(w->b, attach_in_engine, &ay);
    assert_int_equal(x.status->orders, orders);
    assert_int_equal(y.status->orders, orders);
    put(&x, TOE_CMD_LISTEN, PORT, 1, 0);
    await_taken(w, &x, 1); /* an earlier SYN would be rejected */
    put(&y, TOE_CMD_CONNECT, PORT, 1, IP_A);
    c = await_type(&x, TOE_CMD_LISTEN_ESTABLISHED);
    fx = toe_cmd_flow(&c);
    c = await_type(&y, TOE_CMD_CONNECT_ESTABLISHED);
    fy = toe_cmd_flow(&c);
    ping_pong(&x, &y, fx, fy);
    engine_call(w->a, read_ordered, &ordered);
    assert_int_equal(ordered != 0, orders);
    engine_call(w->b, drop_in_engine, y.qp);
    do
        c = await(&x);
    while (toe_cmd_type(&c) == TOE_CMD_SEND_COMPLETE);
    assert_int_equal(toe_cmd_type(&c), TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_flags(&c), TOE_F_CLOSE_EVENT_HALF);
    engine_call(w->a, drop_in_engine, x.qp);
    host_forget(&x);
    host_forget(&y);
}

static void test_sleepers_are_always_woken(void **state)
{
    sleepers_are_always_woken(*state, 0);
}

static void test_sleepers_are_woken_without_a_fence(void **state)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) != 0)
        skip(); /* Linux before 4.16: no engine offers it */
    sleepers_are_always_woken(*state, 1);
}

static void read_moderated(struct engine *e, void *arg)
{
    *(uint64_t *)arg = e->counters[EC_moderated_sleeps];
}

static void test_moderated_sleepers_are_always_woken(void **state)
{
    struct world *w = *state;
    uint64_t moderated = 0;

    sleepers_are_always_woken(w, 0);
    engine_call(w->b, read_moderated, &moderated);
    assert_in_range(moderated, 1, UINT64_MAX);
}

/* The host makes the TOE's next interrupt write block: it shares the descriptor's description. */
static void test_a_blocking_interrupt_halts_only_its_queue_pair(void **state)
{
    struct world *w = *state;
    struct host x, y;
    struct adoption ax = {&x, &w->t}, ay = {&y, &w->t};
    const uint64_t full = UINT64_MAX - 1;
    struct toe_cmd c;
    unsigned waited;

    engine_call(w->a, attach_in_engine, &ax);
    engine_call(w->a, attach_in_engine, &ay);
    assert_int_equal(write(x.irq_fd, &full, sizeof(full)), sizeof(full));
    assert_int_equal(fcntl(x.irq_fd, F_SETFL, 0), 0);
    toe_ring_store(&x.doorbells->irq_arm, 1);
    toe_ring_store(&x.doorbells->irq_seq, 1);
    put(&x, 99, 0, 0, 0); /* answered with ERROR, and an interrupt */
    for (waited = 0; !toe_ring_load(&x.status->halted); waited++) {
        assert_true(waited < WAIT_MS);
        engine_unblock(w->a, engine_clock());
        polling_unblock(w->manager, engine_clock());
        usleep(1000);
    }
    put(&y, 99, 0, 5, 0);
    c = await_type(&y, TOE_CMD_ERROR);
    assert_int_equal(toe_cmd_flow(&c), 5);
    engine_call(w->a, drop_in_engine, x.qp);
    engine_call(w->a, drop_in_engine, y.qp);
    host_forget(&x);
    host_forget(&y);
}

static void count_calls(struct engine *e, void *arg)
{
    (void)e;
    ++*(unsigned *)arg;
}

/* A host of a's, whose interrupt write blocks. */
static void attach_blocking(struct world *w, struct host *x)
{
    struct adoption ax = {x, &w->t};
    const uint64_t full = UINT64_MAX - 1;

    engine_call(w->a, attach_in_engine, &ax);
    assert_int_equal(write(x->irq_fd, &full, sizeof(full)), sizeof(full));
    assert_int_equal(fcntl(x->irq_fd, F_SETFL, 0), 0);
    toe_ring_store(&x->doorbells->irq_arm, 1);
    toe_ring_store(&x->doorbells->irq_seq, 1);
    put(x, 99, 0, 0, 0);
    while (atomic_load(&w->a->irq_since) == 0)
        usleep(100);
}

/* The caller is the thread that would have let the write complete. */
static void test_a_blocking_interrupt_does_not_keep_a_call(void **state)
{
    struct world *w = *state;
    struct host x;
    unsigned n = 0;

    attach_blocking(w, &x);
    alarm(WAIT_MS / 1000);
    engine_call(w->a, count_calls, &n);
    alarm(0);
    assert_int_equal(n, 1);
    assert_true(toe_ring_load(&x.status->halted));
    engine_call(w->a, drop_in_engine, x.qp);
    host_forget(&x);
}

/* Notifications in transit to a host that detaches are dropped; its memory stays until then (the
 * sanitizers check). */
static void test_hosts_come_and_go_under_a_manager(void **state)
{
    struct world *w = *state;
    unsigned i, n;

    for (i = 0; i < 50; i++) {
        struct host x, y;
        struct adoption ax = {&x, &w->t}, ay = {&y, &w->t};

        engine_call(w->a, attach_in_engine, &ax);
        engine_call(w->b, attach_in_engine, &ay);
        for (n = 0; n < 100; n++)
            put(&x, 99, 0, n, 0);
        put(&y, 99, 0, 0, 0);
        (void)await_type(&y, TOE_CMD_ERROR);
        engine_call(w->a, drop_in_engine, x.qp);
        engine_call(w->b, drop_in_engine, y.qp);
        for (n = 0; n < 2; usleep(100)) {
            pthread_mutex_lock(&w->lock);
            for (; w->t.unused_count; n++)
                qp_free(w->t.unused[--w->t.unused_count]);
            pthread_mutex_unlock(&w->lock);
        }
        host_forget(&x);
        host_forget(&y);
    }
}

/* The same, when the thread is to stop for a while, or to end. */
static void test_a_blocking_interrupt_does_not_keep_a_pause(void **state)
{
    struct world *w = *state;
    struct host x;

    attach_blocking(w, &x);
    alarm(WAIT_MS / 1000);
    engine_pause(w->a);
    alarm(0);
    assert_true(toe_ring_load(&x.status->halted));
    engine_resume(w->a);
    engine_call(w->a, drop_in_engine, x.qp);
    host_forget(&x);
}

static void test_a_blocking_interrupt_does_not_keep_an_end(void **state)
{
    struct world *w = *state;
    struct host x;

    attach_blocking(w, &x);
    alarm(WAIT_MS / 1000);
    engine_join(w->a);
    alarm(0);
    assert_true(toe_ring_load(&x.status->halted));
    engine_call(w->a, drop_in_engine, x.qp);
    while (!w->t.unused_count)
        engine_step(w->a, engine_clock());
    host_forget(&x);
}

/* No host is served during the pause, and all are afterwards; also if the engine slept. */
static void test_a_paused_engine_does_nothing(void **state)
{
    struct world *w = *state;
    struct host x;
    struct adoption ax = {&x, &w->t};
    struct toe_cmd c;
    unsigned i;

    engine_call(w->a, attach_in_engine, &ax);
    for (i = 0; i < 20; i++) {
        usleep(i * 100);
        engine_pause(w->a);
        put(&x, 99, 0, i, 0);
        usleep(2000);
        assert_int_equal(toe_ring_waiting(&x.qp->sw, &x.doorbells->sw_head), 1);
        engine_resume(w->a);
        c = await_type(&x, TOE_CMD_ERROR);
        assert_int_equal(toe_cmd_flow(&c), i);
    }
    engine_pause(w->a); /* an end ends that too */
    engine_join(w->a);
    drop_in_engine(w->a, x.qp);
    while (!w->t.unused_count)
        engine_step(w->a, engine_clock());
    host_forget(&x);
}

static void *caller(void *arg)
{
    struct world *w = arg;
    unsigned n = 0, i;

    for (i = 0; i < 500; i++)
        engine_call(i & 1 ? w->a : w->b, count_calls, &n);
    return n == 500 ? arg : NULL;
}

static void test_calls_of_several_threads_are_all_made(void **state)
{
    pthread_t threads[3];
    void *result;
    unsigned i;

    for (i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, caller, *state), 0);
    for (i = 0; i < 3; i++) {
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, *state);
    }
}

/* ---- a late manager ---- */

/* Its address is announced a second time: from then on no timer wakes it. */
static void await_no_deadline(struct world *w, const struct host *h)
{
    struct look l = {.qp = h->qp};

    do {
        usleep(10000);
        engine_call(w->a, take_look, &l);
    } while (l.deadline != UINT64_MAX);
}

/*
 * libtoe rings once for the commands that the TOE has not read yet, as the SW tail shows; the
 * manager writes that tail. An engine that has read all and sleeps must find a command for which no
 * doorbell was rung for this reason.
 */
static void test_one_bell_is_enough_when_the_manager_is_late(void **state)
{
    struct world *w = *state;
    struct host x;
    struct adoption ax = {&x, &w->t};
    struct toe_cmd c;
    uint32_t i;

    engine_call(w->a, attach_in_engine, &ax);
    await_no_deadline(w, &x);
    polling_pause(w->manager);
    put(&x, 99, 0, 0, 0);
    await_taken(w, &x, 1);
    assert_int_equal(toe_ring_load(&x.status->sw_tail), 0);
    while (!toe_ring_load(&x.status->sleeping))
        usleep(100);
    usleep(10000); /* after its last poll */
    host_put(&x, 99, 0, 0, 1, 0, 0);
    polling_resume(w->manager);
    for (i = 0; i < 2; i++) {
        c = await_type(&x, TOE_CMD_ERROR);
        assert_int_equal(toe_cmd_flow(&c), i);
    }
    engine_call(w->a, drop_in_engine, x.qp);
    host_forget(&x);
}

/*
 * After a pause of engines and manager all notifications are delivered, even if the manager was in
 * the middle of a round. Here it blocks in the interrupt of x, found due in an empty round, while a
 * notification for y arrives.
 */
static void test_a_paused_manager_has_handed_out_all(void **state)
{
    struct world *w = *state;
    struct host x, y;
    struct adoption ax = {&x, &w->t}, ay = {&y, &w->t};
    const uint64_t full = UINT64_MAX - 1;
    struct look l;

    engine_call(w->a, attach_in_engine, &ax);
    engine_call(w->a, attach_in_engine, &ay);
    assert_int_equal(write(x.irq_fd, &full, sizeof(full)), sizeof(full));
    assert_int_equal(fcntl(x.irq_fd, F_SETFL, 0), 0);
    x.doorbells->irq_count = 1000;
    x.doorbells->irq_usec = 1000;
    toe_ring_store(&x.doorbells->irq_arm, 1);
    toe_ring_store(&x.doorbells->irq_seq, 1);
    put(&x, 99, 0, 0, 0);
    l = (struct look){.qp = x.qp};
    do
        engine_call(w->a, take_look, &l);
    while (!l.wakes);
    put(&y, 99, 0, 0, 0);
    await_taken(w, &y, 1);
    engine_pause(w->a);
    engine_pause(w->b);
    polling_pause(w->manager);
    assert_int_equal(toe_ring_load(&y.status->sw_tail), 1);
    host_want_error(&y, TOE_R_NOSYS, 0, 99);
    polling_resume(w->manager);
    engine_resume(w->a);
    engine_resume(w->b);
    engine_call(w->a, drop_in_engine, x.qp);
    engine_call(w->a, drop_in_engine, y.qp);
    host_forget(&x);
    host_forget(&y);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define M(f) cmocka_unit_test_setup_teardown(f, setup_managed, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_sleepers_are_always_woken),
        cmocka_unit_test_setup_teardown(test_sleepers_are_woken_without_a_fence, setup_ordering,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_moderated_sleepers_are_always_woken, setup_moderated,
                                        teardown),
        T(test_a_blocking_interrupt_halts_only_its_queue_pair),
        T(test_a_blocking_interrupt_does_not_keep_a_call),
        T(test_a_blocking_interrupt_does_not_keep_a_pause),
        T(test_a_blocking_interrupt_does_not_keep_an_end),
        T(test_a_paused_engine_does_nothing),
        T(test_calls_of_several_threads_are_all_made),
        M(test_sleepers_are_always_woken),
        M(test_a_blocking_interrupt_halts_only_its_queue_pair),
        M(test_hosts_come_and_go_under_a_manager),
        M(test_one_bell_is_enough_when_the_manager_is_late),
        M(test_a_paused_manager_has_handed_out_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
