/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - two engines on a wire in memory and hosts on their queue pairs (see bench.h). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static void let_go(void *arg, struct qp *qp)
{
    struct bench *t = arg;

    assert_true(t->unused_count < sizeof(t->unused) / sizeof(t->unused[0]));
    t->unused[t->unused_count++] = qp;
}

static struct engine *make_engine(struct bench *t, struct netio *n, uint8_t last)
{
    struct engine_config cfg = {
        .count = 1, .netio = n, .max_qps = 8, .spin_us = 50, .qp_unused = let_go, .arg = t};
    struct netio_info info;
    struct engine *e;
    char err[256];

    netio_get_info(n, &info);
    memcpy(cfg.core.mac, info.mac, sizeof(info.mac));
    memcpy(cfg.core.ip, ((uint8_t[]){10, 0, 0, last}), 4);
    memset(cfg.core.secret, last, sizeof(cfg.core.secret));
    cfg.core.prefix_len = 24;
    cfg.core.mtu = 1500;
    cfg.core.max_flows = 256;
    e = engine_new(&cfg, t->now, err, sizeof(err));
    if (!e)
        fail_msg("%s", err);
    return e;
}

void bench_init(struct bench *t)
{
    memset(t, 0, sizeof(*t));
    t->now = 1000 * NS_PER_S;
    memwire_pair(&t->wire_a, &t->wire_b);
    t->a = make_engine(t, t->wire_a, 1);
    t->b = make_engine(t, t->wire_b, 2);
    bench_run(t, 10 * NS_PER_MS);
}

static void free_unused(struct bench *t)
{
    while (t->unused_count)
        qp_free(t->unused[--t->unused_count]);
}

void bench_free(struct bench *t)
{
    struct toec_usage u;

    bench_run(t, 200 * NS_PER_S); /* whatever the other side still tries has ended by then */
    assert_int_equal(t->a->qp_count + t->b->qp_count, 0);
    toec_usage(t->a->stack, &u);
    assert_int_equal(u.flows + u.half_open + u.listeners, 0);
    toec_usage(t->b->stack, &u);
    assert_int_equal(u.flows + u.half_open + u.listeners, 0);
    free_unused(t);
    engine_free(t->a);
    engine_free(t->b);
}

void bench_run(struct bench *t, uint64_t ns)
{
    uint64_t end = t->now + ns;

    for (;;) {
        uint64_t next;

        while (engine_step(t->a, t->now) + engine_step(t->b, t->now) > 0)
            ;
        next = engine_deadline(t->a) < engine_deadline(t->b) ? engine_deadline(t->a)
                                                             : engine_deadline(t->b);
        if (next >= end)
            break;
        t->now = next > t->now ? next : t->now + NS_PER_US;
    }
    t->now = end;
    engine_step(t->a, t->now);
    engine_step(t->b, t->now);
}

int bench_memfd(uint64_t size, unsigned seals)
{
    int fd = memfd_create("area", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

struct toedev_qp_config bench_qp_config(uint32_t slots)
{
    return (struct toedev_qp_config){.sw_entries = 256,
                                     .hw_entries = 1024,
                                     .slots = slots,
                                     .tx_size = 16384,
                                     .rx_size = 16384,
                                     .addresses = 4};
}

void host_attach(struct bench *t, struct engine *e, struct host *h,
                 const struct toedev_qp_config *cfg)
{
    struct qp_attach a = {
        .cfg = *cfg, .id = t->next_qp++, .pid = 1, .name = "bench", .max_bytes = UINT64_MAX};
    uint32_t reason;
    char err[256];

    memset(h, 0, sizeof(*h));
    h->cfg = *cfg;
    assert_int_equal(toedev_layout(cfg, &h->layout), 0);
    h->size = h->layout.total;
    a.area_fd = bench_memfd(h->size, ALL_SEALS);
    h->irq_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    a.irq_fd = dup(h->irq_fd);
    h->area = mmap(NULL, h->size, PROT_READ | PROT_WRITE, MAP_SHARED, a.area_fd, 0);
    assert_true(h->area != MAP_FAILED);
    h->doorbells = (void *)(h->area + h->layout.doorbells);
    h->status = (void *)(h->area + h->layout.status);
    toe_ring_tx_init(&h->sw, h->area + h->layout.sw_ring, cfg->sw_entries, &h->status->sw_tail);
    toe_ring_rx_init(&h->hw, h->area + h->layout.hw_ring, cfg->hw_entries);
    h->qp = qp_new(&a, &reason, err, sizeof(err));
    if (!h->qp)
        fail_msg("%s", err);
    assert_int_equal(engine_adopt(e, h->qp), 0);
}

void host_forget(struct host *h)
{
    munmap(h->area, h->size);
    close(h->irq_fd);
}

void host_detach(struct bench *t, struct host *h)
{
    uint32_t before = t->unused_count;

    qp_drop(h->qp);
    bench_run(t, 200 * NS_PER_S);
    assert_int_equal(t->unused_count, before + 1);
    host_forget(h);
}

void host_put(struct host *h, uint8_t type, uint8_t flags, uint16_t aux, uint32_t flow,
              uint32_t arg0, uint32_t arg1)
{
    struct toe_cmd c = toe_cmd_make(type, flags, aux, flow, arg0, arg1);

    assert_in_range(toe_ring_room(&h->sw), 1, h->cfg.sw_entries);
    toe_ring_put(&h->sw, &c);
    toe_ring_store(&h->doorbells->sw_head, h->sw.head);
}

int host_get(struct host *h, struct toe_cmd *c)
{
    if (!toe_ring_get(&h->hw, c))
        return 0;
    toe_ring_store(&h->doorbells->hw_tail, h->hw.tail);
    return 1;
}

struct toe_cmd host_want(struct host *h, uint8_t type)
{
    struct toe_cmd c;
    const char *got;

    if (!host_get(h, &c))
        fail_msg("%s wanted, the HW ring is empty", toe_cmd_name(type));
    got = toe_cmd_name(toe_cmd_type(&c));
    if (toe_cmd_type(&c) != type)
        fail_msg("%s wanted, %s (aux %u, arg1 %u) came", toe_cmd_name(type), got ? got : "?",
                 toe_cmd_aux(&c), toe_cmd_arg1(&c));
    return c;
}

void host_want_nothing(struct host *h)
{
    struct toe_cmd c;

    if (host_get(h, &c))
        fail_msg("nothing wanted, %s (aux %u) came", toe_cmd_name(toe_cmd_type(&c)),
                 toe_cmd_aux(&c));
}

void host_want_error(struct host *h, uint16_t reason, uint32_t flow, uint8_t type)
{
    struct toe_cmd c = host_want(h, TOE_CMD_ERROR);

    if (toe_cmd_aux(&c) != reason || toe_cmd_flow(&c) != flow || toe_cmd_arg1(&c) != type)
        fail_msg("ERROR for command %u of flow %u: reason %u, wanted %u", toe_cmd_arg1(&c),
                 toe_cmd_flow(&c), toe_cmd_aux(&c), reason);
    assert_int_equal(toe_cmd_arg0(&c), h->sw.head - 1);
}

const struct toedev_flow_record *host_record(const struct host *h, uint32_t slot)
{
    return (const void *)(h->area + h->layout.records + (uint64_t)slot * TOEDEV_RECORD);
}

uint64_t host_interrupts(struct host *h)
{
    uint64_t n = 0;

    return read(h->irq_fd, &n, sizeof(n)) == (ssize_t)sizeof(n) ? n : 0;
}

void bench_connect(struct bench *t, struct host *x, struct host *y, uint32_t *fx, uint32_t *fy)
{
    struct toe_cmd c;

    host_put(x, TOE_CMD_LISTEN, 0, PORT, 7, 0, 16); /* again: only the backlog is set */
    bench_run(t, NS_PER_MS);
    host_put(y, TOE_CMD_CONNECT, 0, PORT, 4711, IP_A, 0);
    bench_run(t, 100 * NS_PER_MS);
    c = host_want(x, TOE_CMD_LISTEN_ESTABLISHED);
    assert_int_equal(toe_cmd_arg0(&c), IP_B);
    assert_int_equal(toe_cmd_arg1(&c), 7);
    *fx = toe_cmd_flow(&c);
    c = host_want(y, TOE_CMD_CONNECT_ESTABLISHED);
    assert_int_equal(toe_cmd_arg0(&c), 4711);
    *fy = toe_cmd_flow(&c);
}

static uint8_t pattern(uint32_t at)
{
    return (uint8_t)(at * 2654435761u >> 24);
}

void host_send(struct host *h, uint32_t slot, uint32_t offset, uint32_t n)
{
    uint8_t *tx = h->area + toedev_tx_offset(&h->cfg, &h->layout, slot);
    uint32_t i;

    for (i = 0; i < n; i++)
        tx[(offset + i) & (h->cfg.tx_size - 1)] = pattern(offset + i);
    host_put(h, TOE_CMD_SEND, TOE_F_SEND_PUSH, 0, slot, n, 0);
}

int host_holds(const struct host *h, uint32_t slot, uint32_t offset, uint32_t n)
{
    const uint8_t *rx = h->area + toedev_rx_offset(&h->cfg, &h->layout, slot);
    uint32_t i;

    for (i = 0; i < n; i++)
        if (rx[(offset + i) & (h->cfg.rx_size - 1)] != pattern(offset + i))
            return 0;
    return 1;
}

unsigned bench_seed(void)
{
    const char *text = getenv("TOEHOLD_SEED");
    unsigned seed = text ? (unsigned)strtoul(text, NULL, 0) : 20261121u;

    fprintf(stderr, "seed %u (TOEHOLD_SEED sets it)\n", seed);
    return seed;
}
