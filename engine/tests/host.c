/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - the host side of a queue pair, for tests (see bench.h). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../device/tests/seed.h"
#include "bench.h"

#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

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
    struct toe_cmd c = {{0, 0}};
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
    return (unsigned)seed_of_run(20261121, UINT_MAX);
}
