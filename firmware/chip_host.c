/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chip_host.c - host.h on the chip (toe/chip.h): what hyb_core does by hardware, the processor does
 * by itself in memory that it shares with the host's processor. There is one queue pair, 0. Rings
 * are in chip_rings.c; here: start, time, frames, payload, records.
 */
#include <stddef.h>

#include <toe/chip.h>
#include <toe/device.h>

#include "chip_rings.h"
#include "host.h"

#define QP_BIT    1u
#define RX_N      (HOST_RX_BYTES / HOST_FRAME)
#define TX_LOG    11u
#define RX_LOG    11u
#define SLOTS_LOG 4u

_Static_assert(1u << TX_LOG == TOECHIP_TX && 1u << RX_LOG == TOECHIP_RX, "buffers");
_Static_assert(1u << SLOTS_LOG == TOECHIP_SLOTS, "slots");

hyb_host_regs_t chip_values;

static volatile struct toechip_page *page(void)
{
    return (volatile struct toechip_page *)(TOECHIP_MEMORY + TOECHIP_PAGE);
}

/* ---- start: the registers that firmware reads are memory here ---- */

static uint32_t octets(const volatile uint8_t *b, unsigned n)
{
    uint32_t word = 0;

    while (n--)
        word = word << 8 | b[n];
    return word;
}

static void read_page(void)
{
    volatile struct toechip_page *p = page();
    unsigned i;

    HOST->MAC_LOW = octets(p->mac, 4);
    HOST->MAC_HIGH = octets(p->mac + 4, 2);
    HOST->MTU = p->mtu;
    HOST->IPV4 = p->ip4;
    HOST->IPV4_GATEWAY = p->gateway;
    HOST->OWN = p->prefix & HYB_HOST_REGS__OWN__PREFIX_bm;
    for (i = 0; i < 8; i++)
        HOST->SECRET[i] = p->secret[i];
    HOST->QP_SIZES = SLOTS_LOG | TX_LOG << HYB_HOST_REGS__QP_SIZES__TX_LOG_bp |
                     RX_LOG << HYB_HOST_REGS__QP_SIZES__RX_LOG_bp;
}

int toe_main(void); /* toe.c */
int main(void);
int main(void)
{
    while (page()->enable != TOECHIP_ENABLED)
        ;
    read_page();
    return toe_main();
}

void chip_ring_bell(void)
{
    TOECHIP_REG(BELL) = 1;
}

/* Follows what the host wants of the queue pair, and what the manager has done about it. */
static void follow(void)
{
    volatile struct toechip_page *p = page();

    if (HOST->QP_ATTACHED & QP_BIT) {
        HOST->QP_ATTACHED = 0;
        HOST->QP_TO_ATTACH = 0;
        rings_start();
        p->attached = 1;
        chip_ring_bell();
    }
    if (HOST->QP_RESET & QP_BIT) {
        HOST->QP_RESET = 0;
        HOST->QP_TO_RESET = 0;
        rings_stop();
        p->attached = 0;
        chip_ring_bell();
    }
    if (p->enable == TOECHIP_ENABLED && !p->attached && !rings_broken())
        HOST->QP_TO_ATTACH = QP_BIT;
    if (p->attached && (p->enable != TOECHIP_ENABLED || rings_broken()))
        HOST->QP_TO_RESET = QP_BIT;
}

/* ---- time ---- */

uint64_t host_now(void)
{
    uint32_t high, low;

    do {
        high = TOECHIP_REG(NOW_HIGH);
        low = TOECHIP_REG(NOW_LOW);
    } while (high != TOECHIP_REG(NOW_HIGH));
    return (uint64_t)high << 32 | low;
}

void host_sleep(uint64_t until)
{
    uint64_t due = rings_interrupt_due();

    if (due < until)
        until = due;
    TOECHIP_REG(WAKE_HIGH) = 0xffffffffu;
    TOECHIP_REG(WAKE_LOW) = (uint32_t)until;
    TOECHIP_REG(WAKE_HIGH) = (uint32_t)(until >> 32);
    TOECHIP_REG(BELL_CLEAR) = 1; /* a bell from here on ends the sleep */
    rings_sleeping(1);
    /* Enabled interrupts end the sleep; none is taken, as mstatus.MIE is 0. */
    if (!(host_pending() & (HOST_COMMAND | HOST_QUEUE_PAIR)))
        __asm__ volatile("csrw mie, %0\n\twfi" : : "r"(TOECHIP_WAKES) : "memory");
    rings_sleeping(0);
    rings_interrupt();
}

uint32_t host_pending(void)
{
    uint32_t bits = TOECHIP_REG(PENDING) & HOST_FRAME_IN;

    follow();
    if (rings_command())
        bits |= HOST_COMMAND;
    if (HOST->QP_TO_ATTACH | HOST->QP_TO_RESET)
        bits |= HOST_QUEUE_PAIR;
    return bits;
}

/* ---- frames ---- */

const uint8_t *host_frame(uint32_t *length)
{
    uint32_t tail = TOECHIP_REG(RX_TAIL);

    if (TOECHIP_REG(RX_HEAD) == tail)
        return 0;
    *length = TOECHIP_REG(RX_LENGTH);
    return HOST_RX + tail % RX_N * HOST_FRAME;
}

void host_frame_end(unsigned count)
{
    TOECHIP_REG(RX_TAIL) = TOECHIP_REG(RX_TAIL) + count;
}

/* ---- payload and records ---- */

/* Copies by words, aligned at the destination: the processor loads words from any address. */
static void copy(uint8_t *to, const uint8_t *from, uint32_t n)
{
    for (; n && ((uintptr_t)to & 3); n--)
        *to++ = *from++;
    for (; n >= 4; n -= 4, to += 4, from += 4)
        *(uint32_t *)(void *)to = *(const uint32_t *)(const void *)from;
    while (n--)
        *to++ = *from++;
}

void host_place(struct host_flow f, const uint8_t *from, uint32_t length, uint32_t to)
{
    uint8_t *buffer = (uint8_t *)(TOECHIP_MEMORY + TOECHIP_BUFFERS +
                                  f.slot * (TOECHIP_TX + TOECHIP_RX) + TOECHIP_TX);
    uint32_t at = to % TOECHIP_RX, first = TOECHIP_RX - at;

    if (first > length)
        first = length;
    copy(buffer + at, from, first);
    copy(buffer, from + first, length - first);
}

#define RECORD_WORDS (TOEDEV_RECORD / 4)
#define CLAIM        (offsetof(struct toedev_flow_record, claim) / 4)
#define GENERATION   (offsetof(struct toedev_flow_record, generation) / 4)

/* The claim is the host's while the slot has the same connection. */
void host_record(struct host_flow f, uint32_t *record, uint32_t seq)
{
    volatile uint32_t *to =
        (volatile uint32_t *)(TOECHIP_MEMORY + TOECHIP_RECORDS + f.slot * TOEDEV_RECORD);
    unsigned i;

    to[0] = seq - 1;
    if (to[GENERATION] != record[GENERATION])
        to[CLAIM] = TOEDEV_CLAIM_NONE;
    for (i = 1; i < RECORD_WORDS; i++)
        if (i != CLAIM)
            to[i] = record[i];
    to[0] = seq;
}
