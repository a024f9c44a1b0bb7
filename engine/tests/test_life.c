/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_life.c - attach, hostile rings, and the death of owners: the effects of one host stay
 * limited to it, and all its resources are freed (docs/device-contract.md: Doorbells, Host death).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "hosts/shared.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* ---- memory within a process ---- */

/* Whether the mapping that contains `at` is advised to use huge pages. */
static int asks_huge(const void *at)
{
    FILE *f = fopen("/proc/self/smaps", "re");
    unsigned long from, to;
    char line[512];
    int within = 0, asks = -1;

    assert_non_null(f);
    while (asks < 0 && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            within = (uintptr_t)at >= from && (uintptr_t)at < to;
        else if (within && strncmp(line, "VmFlags:", 8) == 0)
            asks = strstr(line, " hg") != NULL;
    }
    fclose(f);
    return asks;
}

static struct qp *inside(uint32_t slots, uint32_t size)
{
    struct toedev_qp_config cfg = bench_qp_config(slots);
    struct qp *qp;
    char err[256];

    cfg.tx_size = cfg.rx_size = size;
    qp = qp_new_inside(&cfg, -1, "inside", NULL, NULL, err, sizeof(err));
    assert_non_null(qp);
    return qp;
}

/* Small buffers of many flows are on huge pages; with large ones, only the part before them is. */
static void test_huge_pages_inside(void **state)
{
    struct qp *qp;

    (void)state;
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0)
        skip();
    qp = inside(16384, 1024);
    assert_int_equal(asks_huge(qp->area), 1);
    assert_int_equal(asks_huge(qp->area + qp->layout.buffers), 1);
    qp_free(qp);
    qp = inside(16384, 4096);
    assert_int_equal(asks_huge(qp->area), 1);
    assert_int_equal(asks_huge(qp->area + qp->layout.buffers), 0);
    qp_free(qp);
    qp = inside(64, 1024); /* it would fill no page */
    assert_int_equal(asks_huge(qp->area), 0);
    qp_free(qp);
}

/* ---- attach ---- */

static uint32_t attach_reason(int area_fd, int irq_fd, const struct toedev_qp_config *cfg,
                              uint64_t max_bytes, char *err, size_t err_size)
{
    struct qp_attach a = {.cfg = *cfg,
                          .area_fd = area_fd,
                          .irq_fd = irq_fd,
                          .name = "n\xff\n",
                          .max_bytes = max_bytes};
    uint32_t reason;
    struct qp *qp;

    err[0] = 0;
    qp = qp_new(&a, &reason, err, err_size);
    assert_int_equal(!qp, reason != 0);
    if (qp) {
        assert_string_equal(qp->name, "n??");
        qp_free(qp);
    } else
        assert_true(err[0] != 0);
    /* ownership passes in both cases */
    assert_int_equal(fcntl(area_fd, F_GETFD), -1);
    assert_int_equal(fcntl(irq_fd, F_GETFD), -1);
    return reason;
}

static int good_irq(void)
{
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

static void test_attach_checks_what_it_is_given(void **state)
{
    struct toedev_qp_config cfg = bench_qp_config(16), bad = cfg;
    struct toedev_layout l;
    char err[128];
    int p[2], fd;
#define REASON(area, irq) attach_reason(area, irq, &cfg, UINT64_MAX, err, sizeof(err))

    (void)state;
    toedev_layout(&cfg, &l);
    assert_int_equal(REASON(bench_memfd(l.total, SEALS), good_irq()), 0);
    /* a memfd that could shrink under us, or is sealed in part */
    assert_int_equal(REASON(bench_memfd(l.total, 0), good_irq()), TOE_R_INVAL);
    assert_int_equal(REASON(bench_memfd(l.total, F_SEAL_GROW | F_SEAL_SEAL), good_irq()),
                     TOE_R_INVAL);
    assert_int_equal(REASON(bench_memfd(l.total, F_SEAL_GROW | F_SEAL_SHRINK), good_irq()),
                     TOE_R_INVAL);
    assert_int_equal(REASON(bench_memfd(l.total, SEALS | F_SEAL_WRITE), good_irq()), TOE_R_INVAL);
    /* a size that differs from the configuration */
    assert_int_equal(REASON(bench_memfd(l.total - 4096, SEALS), good_irq()), TOE_R_INVAL);
    assert_int_equal(REASON(bench_memfd(l.total + 4096, SEALS), good_irq()), TOE_R_INVAL);
    assert_int_equal(REASON(bench_memfd(0, SEALS), good_irq()), TOE_R_INVAL);
    /* no memfd at all */
    assert_int_equal(REASON(open("/dev/zero", O_RDWR), good_irq()), TOE_R_INVAL);
    assert_int_equal(REASON(good_irq(), good_irq()), TOE_R_INVAL);
    /* no eventfd, or one that would block */
    assert_int_equal(pipe(p), 0);
    close(p[0]);
    assert_int_equal(REASON(bench_memfd(l.total, SEALS), p[1]), TOE_R_INVAL);
    fd = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(REASON(bench_memfd(l.total, SEALS), fd), TOE_R_INVAL);
    /* more than there is */
    assert_int_equal(
        attach_reason(bench_memfd(l.total, SEALS), good_irq(), &cfg, l.total - 1, err, sizeof(err)),
        TOE_R_NOBUFS);
    bad.slots = 3;
    assert_int_equal(
        attach_reason(bench_memfd(l.total, SEALS), good_irq(), &bad, UINT64_MAX, err, sizeof(err)),
        TOE_R_INVAL);
}

static void test_an_engine_takes_max_qps_and_no_more(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(1);
    struct host h[8];
    struct qp *extra = lines_calloc(1, sizeof(*extra)); /* aligned, which ASan's stack is not */
    unsigned i;

    assert_non_null(extra);
    extra->doorbell_fd = w->x.qp->doorbell_fd;
    for (i = 0; i < 7; i++)
        host_attach(&w->t, w->t.a, &h[i], &cfg);
    assert_int_equal(engine_adopt(w->t.a, extra), -1);
    free(extra);
    for (i = 0; i < 7; i++)
        host_detach(&w->t, &h[i]);
    host_attach(&w->t, w->t.a, &h[0], &cfg);
    host_detach(&w->t, &h[0]);
}

/* ---- hostile rings ---- */

static void assert_halted(struct hosts *w, struct host *bad)
{
    struct toe_cmd c;
    uint32_t fx, fy;

    assert_int_equal(bad->status->halted, TOE_R_PROTO);
    assert_int_equal(host_interrupts(bad), 1);
    assert_int_equal(w->t.a->counters[EC_qp_halted], 1);
    /* the others work on */
    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    host_send(&w->y, fy, 0, 100);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->x, TOE_CMD_DATA_RECEIVED);
    assert_int_equal(toe_cmd_arg0(&c), 100);
}

static void test_a_head_beyond_the_ring_halts_only_its_queue_pair(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host z;
    struct toe_cmd c;

    host_attach(&w->t, w->t.a, &z, &cfg);
    toe_ring_store(&z.doorbells->sw_head, cfg.sw_entries + 1);
    bench_run(&w->t, NS_PER_MS);
    c = host_want(&z, TOE_CMD_ERROR);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_PROTO);
    assert_int_equal(toe_cmd_arg0(&c), 0);
    assert_halted(w, &z);
    host_detach(&w->t, &z);
}

static void test_a_head_without_commands_halts(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host z;

    host_attach(&w->t, w->t.a, &z, &cfg);
    toe_ring_store(&z.doorbells->sw_head, 1); /* the phase of entry 0 is that of no command */
    bench_run(&w->t, NS_PER_MS);
    assert_halted(w, &z);
    host_detach(&w->t, &z);
}

static void test_an_impossible_hw_tail_halts_and_resets_the_flows(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host z, v;
    struct toe_cmd c;
    uint32_t fz, fv;

    host_attach(&w->t, w->t.a, &z, &cfg);
    host_attach(&w->t, w->t.b, &v, &cfg);
    bench_connect(&w->t, &z, &v, &fz, &fv);
    toe_ring_store(&z.doorbells->hw_tail, 1000);
    host_send(&v, fv, 0, 10);
    bench_run(&w->t, NS_PER_S);
    host_want(&v, TOE_CMD_SEND_COMPLETE); /* the first segments are acknowledged at once */
    c = host_want(&v, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_RESET);
    assert_int_equal(z.qp->free_count, 4);
    assert_halted(w, &z);
    host_detach(&w->t, &z);
    host_detach(&w->t, &v);
}

/* Its owner has exited with commands pending: the queue pair is freed all the same. */
static void test_a_queue_pair_that_is_halted_while_it_leaves(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host z, v;
    uint32_t fz, fv;
    unsigned i;

    host_attach(&w->t, w->t.a, &z, &cfg);
    host_attach(&w->t, w->t.b, &v, &cfg);
    bench_connect(&w->t, &z, &v, &fz, &fv);
    host_send(&v, fv, 0, 10);
    engine_step(w->t.b, w->t.now);
    for (i = 0; i < 200; i++)
        host_put(&z, TOE_CMD_LISTEN, 0, (uint16_t)(1000 + i % 8), i % 8, 0, 16);
    toe_ring_store(&z.doorbells->hw_tail, 1000); /* found out when DATA_RECEIVED is written */
    qp_drop(z.qp);
    bench_step_a(&w->t);
    assert_int_equal(z.qp->halted, TOE_R_PROTO);
    assert_in_range(z.qp->sw_commands, 1, 100);
    host_forget(&z);
    bench_run(&w->t, NS_PER_S);
    assert_int_equal(w->t.unused_count, 1);
    host_detach(&w->t, &v);
}

static void test_errors_without_room_wait_and_do_not_block_others(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host z;
    struct toe_cmd c;
    uint32_t i, fx, fy, n = 0;

    cfg.hw_entries = 64;
    host_attach(&w->t, w->t.a, &z, &cfg);
    for (i = 0; i < 200; i++)
        host_put(&z, 99, 0, 0, i, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    assert_int_equal(z.status->sw_tail, 64);
    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    for (i = 0; i < 2000 && n < 200; i++) {
        if (host_get(&z, &c)) {
            assert_int_equal(toe_cmd_flow(&c), n);
            assert_int_equal(toe_cmd_arg0(&c), n);
            n++;
        } else
            bench_run(&w->t, NS_PER_MS);
    }
    assert_int_equal(n, 200);
    host_detach(&w->t, &z);
}

/* ---- death ---- */

/* As the kernel does it: its connections end with a FIN, those not yet accepted are reset. */
static void test_the_flows_of_a_dead_owner_are_closed(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host z;
    struct toe_cmd c;
    uint32_t fz, fy, i, halves = 0;

    host_attach(&w->t, w->t.a, &z, &cfg);
    for (i = 0; i < 3; i++)
        bench_connect(&w->t, &z, &w->y, &fz, &fy);
    host_put(&z, TOE_CMD_ACCEPT, 0, 0, fz, 0, 0); /* the others wait in the backlog */
    bench_run(&w->t, NS_PER_MS);
    qp_drop(z.qp);
    bench_run(&w->t, 10 * NS_PER_MS);
    for (i = 0; i < 3; i++) {
        c = host_want(&w->y, TOE_CMD_CLOSE_EVENT);
        if (toe_cmd_flags(&c) == TOE_F_CLOSE_EVENT_HALF)
            host_put(&w->y, TOE_CMD_CLOSE, 0, 0, toe_cmd_flow(&c), 0, 0);
        else
            assert_int_equal(toe_cmd_aux(&c), TOE_R_RESET);
        halves += toe_cmd_flags(&c) == TOE_F_CLOSE_EVENT_HALF;
    }
    assert_int_equal(halves, 1);
    assert_int_equal(w->t.unused_count, 0);
    bench_run(&w->t, 10 * NS_PER_MS);
    c = host_want(&w->y, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_aux(&c), 0);
    assert_int_equal(w->t.unused_count, 1);
    assert_int_equal(w->t.a->counters[EC_orphan_closed], 1);
    assert_int_equal(w->t.a->counters[EC_orphan_aborted], 0);
    host_forget(&z);
    /* its listener is gone with it */
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 5, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CONNECT_FAILED);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_REFUSED);
}

static void what_the_dead_owner_had_closed_is_delivered(struct hosts *w, int taken)
{
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host z;
    struct toe_cmd c;
    uint32_t fz, fy, got = 0;

    host_attach(&w->t, w->t.a, &z, &cfg);
    bench_connect(&w->t, &z, &w->y, &fz, &fy);
    host_send(&z, fz, 0, 16000);
    host_put(&z, TOE_CMD_CLOSE, 0, 0, fz, 0, 0);
    if (taken)
        bench_step_a(&w->t); /* commands read, almost nothing sent */
    qp_drop(z.qp);
    host_forget(&z); /* the engine's mapping lives on */
    bench_run(&w->t, 5 * NS_PER_S);
    for (c = host_want(&w->y, TOE_CMD_DATA_RECEIVED);;) {
        if (toe_cmd_type(&c) == TOE_CMD_DATA_RECEIVED) {
            assert_true(host_holds(&w->y, fy, got, toe_cmd_arg0(&c)));
            got += toe_cmd_arg0(&c);
        } else
            break;
        assert_true(host_get(&w->y, &c));
    }
    assert_int_equal(got, 16000);
    assert_int_equal(toe_cmd_type(&c), TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_flags(&c), TOE_F_CLOSE_EVENT_HALF);
    host_put(&w->y, TOE_CMD_CLOSE, 0, 0, fy, 0, 0);
    host_put(&w->y, TOE_CMD_RECV, 0, 0, fy, 1, 0);
    bench_run(&w->t, 5 * NS_PER_S);
    assert_int_equal(w->t.unused_count, 1);
}

static void test_what_the_dead_owner_had_closed_is_still_delivered(void **state)
{
    what_the_dead_owner_had_closed_is_delivered(*state, 1);
}

/* A host that exits right after a send and a close is gone before the engine reads its ring. */
static void test_what_the_dead_owner_had_announced_is_still_done(void **state)
{
    what_the_dead_owner_had_closed_is_delivered(*state, 0);
}

/* Whatever a dead host announced, other hosts are served, and it gets no new connection. */
static void test_what_the_dead_owner_had_announced_is_done_in_turns(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host z;
    struct qp *qp;
    unsigned i;

    host_attach(&w->t, w->t.a, &z, &cfg);
    qp = z.qp;
    for (i = 0; i < 200; i++)
        host_put(&z, TOE_CMD_LISTEN, 0, (uint16_t)(1000 + i % 8), i % 8, 0, 16);
    host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 99, 0, 0);
    qp_drop(qp);
    host_forget(&z);
    bench_step_a(&w->t);
    assert_in_range(qp->sw_commands, 1, 64);
    host_want_error(&w->x, TOE_R_NOENT, 99, TOE_CMD_UNLISTEN);
    assert_int_equal(qp->member_count, 8);
    assert_null(slot_take(qp));
    for (i = 0; i < 3; i++)
        bench_step_a(&w->t);
    assert_int_equal(w->t.unused_count, 1);
    assert_int_equal(qp->sw_commands, 200);
    assert_int_equal(qp->member_count, 0);
}

static void test_orphans_do_not_live_for_ever(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host z;
    uint32_t fz, fy;

    host_attach(&w->t, w->t.a, &z, &cfg);
    bench_connect(&w->t, &z, &w->y, &fz, &fy);
    /* more than y's window: y never reads, so z's data never ends */
    host_send(&z, fz, 0, 16384);
    bench_run(&w->t, NS_PER_S);
    host_send(&z, fz, 16384, 16384);
    host_put(&z, TOE_CMD_CLOSE, 0, 0, fz, 0, 0);
    bench_run(&w->t, NS_PER_S);
    qp_drop(z.qp);
    bench_run(&w->t, 30 * NS_PER_S);
    assert_int_equal(w->t.unused_count, 0);
    bench_run(&w->t, 40 * NS_PER_S);
    assert_int_equal(w->t.unused_count, 1);
    host_forget(&z);
}

static void test_half_open_flows_of_a_dead_owner_come_back(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host z, v;

    host_attach(&w->t, w->t.a, &z, &cfg);
    host_attach(&w->t, w->t.b, &v, &cfg);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 1, 0, 4);
    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 1, 0, 4); /* keeps the group alive */
    bench_run(&w->t, NS_PER_MS);
    memwire_refuse(w->t.wire_a, -1); /* the SYN-ACKs do not leave */
    host_put(&v, TOE_CMD_CONNECT, 0, PORT, 1, IP_A, 0);
    host_put(&v, TOE_CMD_CONNECT, 0, PORT, 2, IP_A, 0);
    host_put(&v, TOE_CMD_CONNECT, 0, PORT, 3, IP_A, 0);
    bench_run(&w->t, 10 * NS_PER_MS);
    qp_drop(z.qp);
    bench_run(&w->t, 10 * NS_PER_MS);
    memwire_refuse(w->t.wire_a, 0);
    bench_run(&w->t, 200 * NS_PER_S);
    assert_int_equal(w->t.unused_count, 1);
    host_forget(&z);
    host_detach(&w->t, &v);
}

static void test_the_end_of_the_engine_resets_every_flow(void **state)
{
    struct hosts *w = *state;
    uint32_t fx, fy, i;
    struct toe_cmd c;

    for (i = 0; i < 5; i++)
        bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    host_put(&w->x, TOE_CMD_CLOSE, 0, 0, fx, 0, 0); /* this one too */
    bench_run(&w->t, NS_PER_MS);
    engine_stop(w->t.a);
    bench_run(&w->t, 10 * NS_PER_MS);
    assert_int_equal(engine_flows(w->t.a), 0);
    assert_int_equal(w->t.unused_count, 1);
    for (i = 0; i < 5;) {
        assert_true(host_get(&w->y, &c));
        if (toe_cmd_type(&c) == TOE_CMD_CLOSE_EVENT &&
            !(toe_cmd_flags(&c) & TOE_F_CLOSE_EVENT_HALF)) {
            assert_int_equal(toe_cmd_aux(&c), TOE_R_RESET);
            i++;
        }
    }
    /* x is detached already; hosts_teardown() expects an attached one */
    host_forget(&w->x);
    host_attach(&w->t, w->t.a, &w->x, &w->y.cfg);
}

static void take_none(void *arg, int ip6, uint16_t port, unsigned how)
{
    (void)arg;
    (void)ip6;
    (void)port;
    (void)how;
}

/* On a shared address: the engine owns the port already, so another user cannot get it. */
static void test_a_listener_of_another_user(void **state)
{
    static const uint8_t loopback[4] = {127, 0, 0, 1};
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    static const struct ports_ops ops = {.take = take_none}; /* of IPv4 there are no places */
    struct shared shared = {.ports = {ports_new(loopback, 1, &ops, NULL)}, .ask_fd = -1};
    struct host z;
    unsigned i;

    assert_non_null(shared.ports[0]);
    host_attach(&w->t, w->t.a, &z, &cfg);
    w->x.qp->uid = 1000;
    z.qp->uid = 1001;
    w->t.a->cfg.shared = &shared;
    for (i = 0; i < 2; i++) {
        host_put(&w->x, TOE_CMD_LISTEN, 0, 47001, 1, IP_A, 4);
        bench_run(&w->t, NS_PER_MS);
        host_want_nothing(&w->x);
        host_put(&z, TOE_CMD_LISTEN, 0, 47001, 1, i ? 0 : IP_A, 4); /* i: of any address */
        bench_run(&w->t, NS_PER_MS);
        host_want_error(&z, TOE_R_ADDRINUSE, 1, TOE_CMD_LISTEN);
    }
    host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 1, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_put(&z, TOE_CMD_LISTEN, 0, 47001, 1, IP_A, 4);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&z);
    host_put(&z, TOE_CMD_UNLISTEN, 0, 0, 1, 0, 0);
    host_detach(&w->t, &z);
    w->t.a->cfg.shared = NULL;
    ports_free(shared.ports[0]);
}

/* On an address of the TOE alone: processes of one user share a port, and so do those that inherit
 * it. */
static void test_a_port_of_another_user(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host z;
    struct toe_cmd c;

    host_attach(&w->t, w->t.a, &z, &cfg);
    w->x.qp->uid = 1000;
    z.qp->uid = 1001;
    owner_read(&w->x.qp->owner, getppid(), -1);
    owner_read(&z.qp->owner, 1, -1); /* not a child of the owner */
    host_put(&w->x, TOE_CMD_LISTEN, 0, 443, 1, 0, 4);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
    host_put(&z, TOE_CMD_LISTEN, 0, 443, 1, 0, 4);
    bench_run(&w->t, NS_PER_MS);
    host_want_error(&z, TOE_R_ADDRINUSE, 1, TOE_CMD_LISTEN);
    host_put(&z, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, 443, 1, IP_A, 4); /* of one address of all */
    bench_run(&w->t, NS_PER_MS);
    host_want_error(&z, TOE_R_ADDRINUSE, 1, TOE_CMD_LISTEN);
    host_put(&z, TOE_CMD_CONNECT, 0, 80, 5, IP_B, 443);
    bench_run(&w->t, NS_PER_MS);
    c = host_want(&z, TOE_CMD_CONNECT_FAILED);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_ADDRINUSE);
    assert_int_equal(w->t.a->counters[EC_port_refused], 3);
    owner_read(&z.qp->owner, getpid(), -1); /* a child of the other */
    host_put(&z, TOE_CMD_LISTEN, 0, 443, 1, 0, 4);
    z.qp->uid = 0;
    host_put(&z, TOE_CMD_LISTEN, 0, 443, 2, IP_A, 4);
    z.qp->uid = 1000;
    host_put(&z, TOE_CMD_LISTEN, 0, 443, 3, 0, 4);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&z);
    host_detach(&w->t, &z);
}

/* Engines of one TOE know of each other's. */
static void test_a_port_of_another_user_on_another_engine(void **state)
{
    struct hosts *w = *state;
    struct owners *o = owners_new();

    assert_non_null(o);
    w->t.a->cfg.owners = w->t.b->cfg.owners = o;
    w->x.qp->uid = 1000;
    w->y.qp->uid = 1001;
    host_put(&w->x, TOE_CMD_LISTEN, 0, 443, 1, 0, 4);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
    host_put(&w->y, TOE_CMD_LISTEN, 0, 443, 1, 0, 4);
    bench_run(&w->t, NS_PER_MS);
    host_want_error(&w->y, TOE_R_ADDRINUSE, 1, TOE_CMD_LISTEN);
    host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 1, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_put(&w->y, TOE_CMD_LISTEN, 0, 443, 1, 0, 4);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->y);
    host_put(&w->y, TOE_CMD_UNLISTEN, 0, 0, 1, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    w->t.a->cfg.owners = w->t.b->cfg.owners = NULL;
    free(o);
}

/* The number of a process that has ended may be another's. */
static void test_an_owner_that_has_ended(void **state)
{
    pid_t child = fork();
    struct owner o;
    int pidfd;

    (void)state;
    if (child == 0)
        _exit(0);
    pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    assert_true(pidfd >= 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    owner_read(&o, getpid(), -1);
    assert_true(o.self.born != 0 && o.parent[0].pid == getppid());
    owner_read(&o, getpid(), pidfd);
    assert_true(o.self.born == 0 && o.parent[0].pid == 0);
    close(pidfd);
}

#define T(f) cmocka_unit_test_setup_teardown(f, hosts_setup, hosts_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_huge_pages_inside),
        cmocka_unit_test(test_attach_checks_what_it_is_given),
        cmocka_unit_test(test_an_owner_that_has_ended),
        T(test_a_port_of_another_user_on_another_engine),
        T(test_an_engine_takes_max_qps_and_no_more),
        T(test_a_head_beyond_the_ring_halts_only_its_queue_pair),
        T(test_a_head_without_commands_halts),
        T(test_an_impossible_hw_tail_halts_and_resets_the_flows),
        T(test_a_queue_pair_that_is_halted_while_it_leaves),
        T(test_errors_without_room_wait_and_do_not_block_others),
        T(test_the_flows_of_a_dead_owner_are_closed),
        T(test_what_the_dead_owner_had_closed_is_still_delivered),
        T(test_what_the_dead_owner_had_announced_is_still_done),
        T(test_what_the_dead_owner_had_announced_is_done_in_turns),
        T(test_orphans_do_not_live_for_ever),
        T(test_half_open_flows_of_a_dead_owner_come_back),
        T(test_the_end_of_the_engine_resets_every_flow),
        T(test_a_listener_of_another_user),
        T(test_a_port_of_another_user),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
