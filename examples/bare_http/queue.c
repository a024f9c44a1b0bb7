/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - the host's end of the rings (queue.h). The chip's memory has one port: each processor's
 * accesses arrive in the order of its program, so volatile is all the ordering there is to keep. */
#include "queue.h"

#include <toe/device.h>

#define AREA   ((uint8_t *)TOECHIP_MEMORY)
#define BELLS  ((volatile struct toedev_doorbells *)TOECHIP_MEMORY)
#define STATUS ((volatile struct toedev_status *)(TOECHIP_MEMORY + TOECHIP_STATUS))
#define PAGE   ((volatile struct toechip_page *)(TOECHIP_MEMORY + TOECHIP_PAGE))
#define PHASE  0x8000u

static uint32_t sw_head, rung, hw_tail;

static volatile uint32_t *entry(uint32_t ring, uint32_t at)
{
    return (volatile uint32_t *)(void *)(AREA + ring) + 4 * (at % TOECHIP_ENTRIES);
}

static uint32_t phase(uint32_t at)
{
    return at & TOECHIP_ENTRIES ? 0 : PHASE;
}

void queue_open(const struct toechip_page *page)
{
    volatile uint32_t *words = (volatile uint32_t *)TOECHIP_MEMORY;
    unsigned i;

    PAGE->enable = 0;
    for (i = 0; i < TOECHIP_BUFFERS / 4; i++)
        words[i] = 0; /* a fresh area: the phase of an entry not yet written */
    for (i = 0; i < 6; i++)
        PAGE->mac[i] = page->mac[i];
    for (i = 0; i < 8; i++)
        PAGE->secret[i] = page->secret[i];
    PAGE->mtu = page->mtu;
    PAGE->ip4 = page->ip4;
    PAGE->gateway = page->gateway;
    PAGE->prefix = page->prefix;
    PAGE->attached = 0;
    PAGE->enable = TOECHIP_ENABLED;
    TOECHIP_REG(BELL) = 1;
    while (!PAGE->attached)
        ;
}

int queue_event(struct queue_event *e)
{
    volatile uint32_t *at = entry(TOECHIP_HW_RING, hw_tail);
    uint32_t first = at[0];

    if ((first & PHASE) != phase(hw_tail))
        return 0;
    e->type = (uint8_t)first;
    e->flags = (uint8_t)(first >> 8) & TOE_CMD_FLAGS;
    e->aux = (uint16_t)(first >> 16);
    e->flow = at[1];
    e->arg0 = at[2];
    e->arg1 = at[3];
    hw_tail++;
    return 1;
}

uint32_t queue_room(void)
{
    return TOECHIP_ENTRIES - (sw_head - STATUS->sw_tail);
}

void queue_command(uint32_t type_aux, uint32_t flow, uint32_t arg0, uint32_t arg1)
{
    volatile uint32_t *at = entry(TOECHIP_SW_RING, sw_head);

    at[1] = flow;
    at[2] = arg0;
    at[3] = arg1;
    at[0] = (type_aux & ~PHASE) | phase(sw_head);
    sw_head++;
}

void queue_publish(void)
{
    BELLS->hw_tail = hw_tail;
    if (rung == sw_head)
        return;
    BELLS->sw_head = rung = sw_head;
    if (STATUS->sleeping)
        TOECHIP_REG(BELL) = 1;
}

void queue_wait(int room)
{
    uint32_t tail = STATUS->sw_tail;
    volatile uint32_t *at = entry(TOECHIP_HW_RING, hw_tail);

    if (room) { /* the TOE does not interrupt when it takes commands */
        while (STATUS->sw_tail == tail && (at[0] & PHASE) != phase(hw_tail) && !STATUS->halted)
            ;
        return;
    }
    TOECHIP_REG(BELL_CLEAR) = 1;
    BELLS->irq_seq = BELLS->irq_seq + 1;
    BELLS->irq_arm = 1;
    if ((at[0] & PHASE) != phase(hw_tail)) /* armed first, so an event now rings the bell */
        __asm__ volatile("csrw mie, %0\n\twfi" : : "r"(1u << 16) : "memory");
    BELLS->irq_arm = 0;
}

uint32_t queue_halted(void)
{
    return STATUS->halted;
}
