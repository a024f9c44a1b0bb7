/* SPDX-License-Identifier: Apache-2.0 */
/* chip_rings.c - the queue pair's rings (chip_rings.h). The host is not trusted: each count and
 * command is read once, and checked. */
#include "chip_rings.h"

#include <stddef.h>

#include <toe/chip.h>
#include <toe/cmd.h>
#include <toe/device.h>

#include "host.h"

/* tests/test_chip_rings.c has an area of its own. */
#ifdef RINGS_TEST
extern uint8_t test_area[];
#define RINGS_AREA test_area
#else
#define RINGS_AREA ((uint8_t *)TOECHIP_MEMORY)
#endif

#define BELLS  ((volatile struct toedev_doorbells *)(void *)RINGS_AREA)
#define STATUS ((volatile struct toedev_status *)(void *)(RINGS_AREA + TOECHIP_STATUS))
#define PHASE  0x8000u /* in the first word */

static struct {
    uint8_t attached, broken, judged; /* judged: the command at sw_tail is sound */
    uint32_t sw_tail;                 /* commands handled */
    uint32_t hw_head, hw_tail;        /* events written; handled, as last read and checked */
    uint32_t armed;                   /* irq_seq of the last interrupt */
    uint64_t since;                   /* when the oldest unhandled event was written */
} rings;

static volatile uint32_t *entry(uint32_t ring, uint32_t at)
{
    return (volatile uint32_t *)(void *)(RINGS_AREA + ring) + 4 * (at % TOECHIP_ENTRIES);
}

static uint32_t phase(uint32_t at)
{
    return at & TOECHIP_ENTRIES ? 0 : PHASE;
}

void rings_start(void)
{
    rings.attached = 1;
    rings.broken = rings.judged = 0;
    rings.sw_tail = rings.hw_head = rings.hw_tail = 0;
    rings.armed = 0;
}

void rings_stop(void)
{
    rings.attached = 0;
}

int rings_broken(void)
{
    return rings.broken;
}

/* ---- events ---- */

static void publish(uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3)
{
    volatile uint32_t *e = entry(TOECHIP_HW_RING, rings.hw_head);

    if (rings.hw_head == rings.hw_tail)
        rings.since = host_now();
    e[1] = w1;
    e[2] = w2;
    e[3] = w3;
    e[0] = (w0 & ~PHASE) | phase(rings.hw_head); /* last: a host that polls sees the event now */
    STATUS->hw_head = ++rings.hw_head;
}

/* ERROR and an interrupt are the last that the host receives; its flows are reset. */
static void halt(void)
{
    rings.broken = 1;
    STATUS->halted = TOE_R_PROTO;
    if (rings.hw_head - rings.hw_tail < TOECHIP_ENTRIES)
        publish(TOE_CMD_ERROR | TOE_R_PROTO << 16, 0, rings.sw_tail, 0);
    chip_ring_bell();
}

/* Returns the room of the HW ring. A tail that goes back or past the head breaks it. */
static uint32_t room(void)
{
    uint32_t tail = BELLS->hw_tail;

    if (tail - rings.hw_tail > rings.hw_head - rings.hw_tail) {
        halt();
        return 0;
    }
    rings.hw_tail = tail;
    return TOECHIP_ENTRIES - (rings.hw_head - tail);
}

int host_event(struct host_flow f, uint32_t type_aux, uint32_t arg0, uint32_t arg1,
               const struct host_peer *peer)
{
    if (!rings.attached || rings.broken || room() == 0)
        return -1;
    if (peer && type_aux == TOE_CMD_LISTEN_ESTABLISHED) {
        type_aux |= (uint32_t)peer->remote_port << 16;
        arg0 = peer->ip4;
    } else if (peer)
        type_aux |= (uint32_t)peer->own_port << 16;
    publish(type_aux, f.slot, arg0, arg1);
    rings_interrupt();
    return 0;
}

/* ---- interrupts, with the host's moderation ---- */

#define MODERATION_MAX 1000000u /* us */

static int wanted(void)
{
    return rings.attached && BELLS->irq_arm != 0 && BELLS->irq_seq != rings.armed &&
           rings.hw_head != BELLS->hw_tail;
}

static uint64_t delay(void)
{
    uint32_t us = BELLS->irq_usec;

    return (uint64_t)(us < MODERATION_MAX ? us : MODERATION_MAX) * 1000u;
}

void rings_interrupt(void)
{
    uint32_t n;

    if (!wanted())
        return;
    n = BELLS->irq_count;
    if (n > 1 && delay() && rings.hw_head - BELLS->hw_tail < n &&
        host_now() < rings.since + delay())
        return;
    rings.armed = BELLS->irq_seq;
    chip_ring_bell();
}

uint64_t rings_interrupt_due(void)
{
    return wanted() ? rings.since + delay() : UINT64_MAX;
}

void rings_sleeping(int sleeping)
{
    STATUS->sleeping = (uint32_t)sleeping;
}

/* ---- commands ---- */

/* The flags that each type may have; 0xff: there is no such type. EOR is not offered. */
static uint8_t flags_of(uint8_t type)
{
    switch (type) {
    case TOE_CMD_LISTEN:
        return TOE_F_LISTEN_ALL;
    case TOE_CMD_CONNECT:
        return TOE_F_CONNECT_ALL;
    case TOE_CMD_SEND:
        return TOE_F_SEND_PUSH | TOE_F_SEND_URGENT;
    case TOE_CMD_CLOSE:
        return TOE_F_CLOSE_ALL;
    case TOE_CMD_OPTION:
        return TOE_F_OPTION_ALL;
    case TOE_CMD_UNLISTEN:
    case TOE_CMD_CANCEL:
    case TOE_CMD_RECV:
    case TOE_CMD_ACCEPT:
    case TOE_CMD_RELEASE:
        return 0;
    default:
        return 0xff;
    }
}

/* Whether `flow` names a slot. */
static int names_slot(uint8_t type, uint8_t flags)
{
    return type == TOE_CMD_SEND || type == TOE_CMD_RECV || type == TOE_CMD_CLOSE ||
           type == TOE_CMD_ACCEPT || type == TOE_CMD_RELEASE ||
           (type == TOE_CMD_OPTION && flags == 0);
}

/* Returns 0, or the reason to refuse the command: what the command alone decides. The V6 flag names
 * an entry of the address table, of which there is none. */
static uint32_t judge(const struct host_command *c)
{
    uint8_t allowed = flags_of(c->type);

    if (allowed == 0xff)
        return TOE_R_NOSYS;
    if (c->flags & (uint8_t)~allowed)
        return TOE_R_INVAL;
    if (names_slot(c->type, c->flags) && c->flow >= TOECHIP_SLOTS)
        return TOE_R_BADF;
    if ((c->type == TOE_CMD_LISTEN && (c->flags & TOE_F_LISTEN_V6)) ||
        (c->type == TOE_CMD_CONNECT && (c->flags & TOE_F_CONNECT_V6)))
        return TOE_R_INVAL;
    return 0;
}

static struct host_command command; /* at sw_tail, when judged */

static void read_command(uint32_t first)
{
    volatile uint32_t *e = entry(TOECHIP_SW_RING, rings.sw_tail);

    command.type = (uint8_t)first;
    command.flags = (uint8_t)(first >> 8) & TOE_CMD_FLAGS;
    command.aux = (uint16_t)(first >> 16);
    command.flow = e[1];
    command.arg0 = e[2];
    command.arg1 = e[3];
    command.position = rings.sw_tail;
    command.qp = 0;
}

void host_command(struct host_command *c)
{
    *c = command;
}

void host_done(void)
{
    rings.judged = 0;
    STATUS->sw_tail = ++rings.sw_tail;
}

void host_answer(const struct host_command *c, uint32_t type, uint32_t aux, uint32_t flow,
                 uint32_t arg0, uint32_t arg1)
{
    (void)c;
    publish(type | aux << 16, flow, arg0, arg1); /* rings_command() has seen the room */
    host_done();
    rings_interrupt();
}

/* Reads the next command. Returns 1 when it is sound; refuses it and returns 0 when not. */
static int take(void)
{
    uint32_t first = *entry(TOECHIP_SW_RING, rings.sw_tail), reason;

    if ((first & PHASE) != phase(rings.sw_tail)) {
        halt(); /* the head announces an entry that is not there */
        return 0;
    }
    read_command(first);
    reason = judge(&command);
    if (reason)
        host_answer(&command, TOE_CMD_ERROR, reason, command.flow, command.position, command.type);
    rings.judged = !reason;
    return !reason;
}

int rings_command(void)
{
    uint32_t head = BELLS->sw_head;

    if (!rings.attached || rings.broken)
        return 0;
    if (head - rings.sw_tail > TOECHIP_ENTRIES)
        halt();
    while (!rings.broken && !rings.judged && head != rings.sw_tail && room() > 0)
        take();
    return rings.judged && !rings.broken && room() > 0;
}
