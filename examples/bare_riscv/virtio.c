/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio.c - the driver (virtio.h). Split queues (VIRTIO 1.1, 2.6) with a fixed buffer per
 * descriptor. It negotiates only the card's MAC address; core/ computes the checksums.
 */
#include "virtio.h"

#include <stddef.h>

#include "board.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n);

#define FIRST_DEVICE 0x10001000u
#define DEVICE_STEP  0x1000u
#define DEVICES      8u
#define FIRST_IRQ    1u

enum reg { /* 4.2.2 */
           MAGIC = 0x00,
           VERSION = 0x04,
           DEVICE_ID = 0x08,
           FEATURES = 0x10,
           FEATURES_SEL = 0x14,
           DRIVER_FEATURES = 0x20,
           DRIVER_FEATURES_SEL = 0x24,
           QUEUE_SEL = 0x30,
           QUEUE_MAX = 0x34,
           QUEUE_NUM = 0x38,
           QUEUE_READY = 0x44,
           NOTIFY = 0x50,
           IRQ_STATUS = 0x60,
           IRQ_ACK = 0x64,
           STATUS = 0x70,
           QUEUE_DESC = 0x80,
           QUEUE_DRIVER = 0x90,
           QUEUE_DEVICE = 0xa0,
           CONFIG = 0x100
};
enum { ID_NET = 1, ID_RNG = 4 };
enum { S_ACK = 1, S_DRIVER = 2, S_DRIVER_OK = 4, S_FEATURES_OK = 8 };
enum { F_NET_MAC = 1u << 5 };           /* in the first word of features */
enum { F_VERSION_1 = 1u << (32 - 32) }; /* in the second */

#define QUEUE 64u
#define BUF   2048u
#define HDR   12u /* struct virtio_net_hdr: all zero, as no offload is in use */

struct queue {
    struct {
        uint64_t addr;
        uint32_t len;
        uint16_t flags, next;
    } desc[QUEUE] __attribute__((aligned(16)));
    struct {
        uint16_t flags, idx, ring[QUEUE], event;
    } avail __attribute__((aligned(4)));
    struct {
        uint16_t flags, idx;
        struct {
            uint32_t id, len;
        } ring[QUEUE];
    } used __attribute__((aligned(4)));
    uint16_t seen; /* of used.idx */
};

static uintptr_t card;
static struct queue rx, tx;
static uint8_t rx_buf[QUEUE][BUF], tx_buf[QUEUE][BUF];
static uint16_t tx_free[QUEUE];
static unsigned tx_free_n;
static int rx_held = -1; /* the descriptor that net_receive() returned last */
static int rx_given, tx_given;

static volatile uint32_t *reg(uintptr_t dev, enum reg r)
{
    return (volatile uint32_t *)(dev + r);
}

static uint16_t index_of(const uint16_t *idx)
{
    uint16_t now = *(const volatile uint16_t *)idx;

    __sync_synchronize();
    return now;
}

static uintptr_t find_device(uint32_t id, unsigned *irq)
{
    unsigned i;

    for (i = 0; i < DEVICES; i++) {
        uintptr_t dev = FIRST_DEVICE + i * DEVICE_STEP;

        if (*reg(dev, MAGIC) != 0x74726976 || *reg(dev, DEVICE_ID) != id)
            continue;
        if (*reg(dev, VERSION) != 2)
            board_fail("an old virtio: start QEMU with -global virtio-mmio.force-legacy=false");
        *irq = FIRST_IRQ + i;
        return dev;
    }
    return 0;
}

/* Initializes the device (3.1.1) up to the queues. */
static void begin(uintptr_t dev, uint32_t features)
{
    *reg(dev, STATUS) = 0;
    *reg(dev, STATUS) = S_ACK | S_DRIVER;
    *reg(dev, DRIVER_FEATURES_SEL) = 0;
    *reg(dev, DRIVER_FEATURES) = features;
    *reg(dev, DRIVER_FEATURES_SEL) = 1;
    *reg(dev, DRIVER_FEATURES) = F_VERSION_1;
    *reg(dev, STATUS) = S_ACK | S_DRIVER | S_FEATURES_OK;
    if (!(*reg(dev, STATUS) & S_FEATURES_OK))
        board_fail("virtio: the device refuses the features");
}

static void set_address(uintptr_t dev, enum reg r, const void *at)
{
    *reg(dev, r) = (uint32_t)(uintptr_t)at;
    *(reg(dev, r) + 1) = (uint32_t)((uint64_t)(uintptr_t)at >> 32);
}

static void start_queue(uintptr_t dev, uint32_t number, struct queue *q)
{
    *reg(dev, QUEUE_SEL) = number;
    if (*reg(dev, QUEUE_MAX) < QUEUE)
        board_fail("virtio: the device's queues are too short");
    *reg(dev, QUEUE_NUM) = QUEUE;
    set_address(dev, QUEUE_DESC, q->desc);
    set_address(dev, QUEUE_DRIVER, &q->avail);
    set_address(dev, QUEUE_DEVICE, &q->used);
    *reg(dev, QUEUE_READY) = 1;
}

/* Makes descriptor i available to the device. */
static void give(struct queue *q, uint16_t i, void *buf, uint32_t len, int device_writes)
{
    q->desc[i].addr = (uintptr_t)buf;
    q->desc[i].len = len;
    q->desc[i].flags = device_writes ? 2 : 0;
    q->avail.ring[q->avail.idx % QUEUE] = i;
    __sync_synchronize();
    *(volatile uint16_t *)&q->avail.idx = (uint16_t)(q->avail.idx + 1);
    __sync_synchronize();
}

int virtio_random(void *buf, uint32_t n)
{
    static struct queue q;
    unsigned irq;
    uintptr_t dev = find_device(ID_RNG, &irq);

    if (!dev)
        return -1;
    begin(dev, 0);
    start_queue(dev, 0, &q);
    *reg(dev, STATUS) = S_ACK | S_DRIVER | S_FEATURES_OK | S_DRIVER_OK;
    while (n) { /* a device may return less than requested */
        uint32_t got;

        give(&q, 0, buf, n, 1);
        *reg(dev, NOTIFY) = 0;
        while (index_of(&q.used.idx) == q.seen)
            ;
        got = q.used.ring[q.seen++ % QUEUE].len;
        buf = (uint8_t *)buf + got;
        n -= got;
    }
    *reg(dev, STATUS) = 0;
    return 0;
}

int net_start(uint8_t mac[6])
{
    unsigned irq, i;

    card = find_device(ID_NET, &irq);
    if (!card)
        return -1;
    begin(card, F_NET_MAC);
    start_queue(card, 0, &rx);
    start_queue(card, 1, &tx);
    *reg(card, STATUS) = S_ACK | S_DRIVER | S_FEATURES_OK | S_DRIVER_OK;
    for (i = 0; i < 6; i++)
        mac[i] = *(volatile uint8_t *)(card + CONFIG + i);
    for (i = 0; i < QUEUE; i++) {
        give(&rx, (uint16_t)i, rx_buf[i], BUF, 1);
        tx_free[tx_free_n++] = (uint16_t)i;
    }
    tx.avail.flags = 1; /* no interrupt when a frame is sent */
    rx_given = 1;
    board_wake_by(irq);
    net_flush();
    return 0;
}

uint32_t net_receive(const uint8_t **frame)
{
    uint32_t id, len;

    if (rx_held >= 0) {
        give(&rx, (uint16_t)rx_held, rx_buf[rx_held], BUF, 1);
        rx_given = 1;
    }
    rx_held = -1;
    if (index_of(&rx.used.idx) == rx.seen) {
        /* Acknowledge the interrupt before the last check, so that none is lost. */
        *reg(card, IRQ_ACK) = *reg(card, IRQ_STATUS);
        if (index_of(&rx.used.idx) == rx.seen)
            return 0;
    }
    id = rx.used.ring[rx.seen % QUEUE].id;
    len = rx.used.ring[rx.seen++ % QUEUE].len;
    rx_held = (int)id;
    *frame = rx_buf[id] + HDR;
    return len - HDR;
}

int net_send(const uint8_t *frame, uint32_t n)
{
    uint16_t i;

    while (index_of(&tx.used.idx) != tx.seen)
        tx_free[tx_free_n++] = (uint16_t)tx.used.ring[tx.seen++ % QUEUE].id;
    if (tx_free_n == 0 || n > BUF - HDR)
        return -1;
    i = tx_free[--tx_free_n];
    memcpy(tx_buf[i] + HDR, frame, n);
    give(&tx, i, tx_buf[i], HDR + n, 0);
    tx_given = 1;
    return 0;
}

void net_flush(void)
{
    if (rx_given)
        *reg(card, NOTIFY) = 0;
    if (tx_given)
        *reg(card, NOTIFY) = 1;
    rx_given = tx_given = 0;
}
