/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - the registers of hyb_core (host.h). */
#include "host.h"

#include <stddef.h>

#include <toe/cmd.h>

#define SLOTS     ((uint8_t *)0x30000000u)
#define SLOT_N    16u
#define RX_N      (HOST_RX_BYTES / HOST_FRAME)
#define LOOKS     ((const volatile struct host_look *)0x38010000u)
#define WINDOW    ((volatile uint32_t *)0x3c000000u)
#define RECORD    192u
#define BIT(name) HYB_HOST_REGS__PENDING__##name##_bm

enum { GO_EVENT = 0, GO_PLACE = 1, GO_RECORD = 2, GO_RECORD_END = 3 };

static void wait_for(uint32_t bits)
{
    while (HOST->PENDING & bits)
        ;
}

/* ---- time ---- */

uint64_t host_now(void)
{
    uint32_t high, low;

    do {
        high = HOST->NOW_HIGH;
        low = HOST->NOW_LOW;
    } while (high != HOST->NOW_HIGH);
    return (uint64_t)high << 32 | low;
}

void host_sleep(uint64_t until)
{
    HOST->WAKE_HIGH = 0xffffffffu;
    HOST->WAKE_LOW = (uint32_t)until;
    HOST->WAKE_HIGH = (uint32_t)(until >> 32);
    /* Enabled interrupts end the sleep; none is taken, as mstatus.MIE is 0. They are levels, so one
     * that came before ends it at once. */
    __asm__ volatile("csrw mie, %0\n\twfi" : : "r"(0xfu << 16) : "memory");
}

uint32_t host_pending(void)
{
    return HOST->PENDING;
}

/* ---- commands ---- */

static void read_words(uint8_t *to, const volatile uint32_t *from)
{
    unsigned i;

    for (i = 0; i < 4; i++) {
        uint32_t word = from[i];

        to[4 * i] = (uint8_t)word;
        to[4 * i + 1] = (uint8_t)(word >> 8);
        to[4 * i + 2] = (uint8_t)(word >> 16);
        to[4 * i + 3] = (uint8_t)(word >> 24);
    }
}

void host_command(struct host_command *c)
{
    uint32_t first = HOST->CMD[0];

    c->type = (uint8_t)first;
    c->flags = (uint8_t)(first >> 8) & TOE_CMD_FLAGS;
    c->aux = (uint16_t)(first >> 16);
    c->flow = HOST->CMD[1];
    c->arg0 = HOST->CMD[2];
    c->arg1 = HOST->CMD[3];
    c->position = HOST->CMD_POSITION;
    c->qp = (uint8_t)HOST->CMD_ABOUT;
    if ((c->type == TOE_CMD_LISTEN && (c->flags & TOE_F_LISTEN_V6)) ||
        (c->type == TOE_CMD_CONNECT && (c->flags & TOE_F_CONNECT_V6))) {
        read_words(c->remote, &HOST->CMD_ENTRY[0]);
        read_words(c->own, &HOST->CMD_ENTRY[4]);
    }
}

void host_done(void)
{
    HOST->CMD_END = 1;
}

/* ---- writes ---- */

static void begin(struct host_flow f)
{
    wait_for(BIT(WRITE));
    HOST->WRITE_FLOW = (uint32_t)f.slot << HYB_HOST_REGS__WRITE_FLOW__SLOT_bp | f.qp;
}

static void put_event(struct host_flow f, uint32_t type_aux, uint32_t flow, uint32_t arg0,
                      uint32_t arg1, uint32_t answers)
{
    begin(f);
    HOST->WRITE_CMD[0] = type_aux;
    HOST->WRITE_CMD[1] = flow;
    HOST->WRITE_CMD[2] = arg0;
    HOST->WRITE_CMD[3] = arg1;
    HOST->WRITE_GO = GO_EVENT | (answers ? HYB_HOST_REGS__WRITE_GO__ANSWERS_bm : 0);
}

void host_answer(const struct host_command *c, uint32_t type, uint32_t aux, uint32_t flow,
                 uint32_t arg0, uint32_t arg1)
{
    put_event((struct host_flow){c->qp, 0}, type | aux << 16, flow, arg0, arg1, 1);
    HOST->CMD_END = 0;
}

int host_event(struct host_flow f, uint32_t type_aux, uint32_t arg0, uint32_t arg1,
               const struct host_peer *peer)
{
    HOST->ROOM_ASK = f.qp;
    wait_for(BIT(ROOM));
    if (!(HOST->PENDING & BIT(ROOM_THERE)))
        return -1;
    if (peer) {
        wait_for(BIT(WRITING)); /* of an event before, which still uses them */
        HOST->PEER_IPV4 = peer->ip4;
        HOST->PEER_PORTS =
            (uint32_t)peer->own_port << HYB_HOST_REGS__PEER_PORTS__OWN_bp | peer->remote_port;
    }
    put_event(f, type_aux, 0, arg0, arg1, 0);
    return 0;
}

void host_record(struct host_flow f, uint32_t *record, uint32_t seq)
{
    unsigned i;

    wait_for(BIT(WRITING)); /* the window is still read */
    record[0] = seq - 1;
    for (i = 0; i < RECORD / 4; i++)
        WINDOW[i] = record[i];
    begin(f);
    HOST->WRITE_GO = GO_RECORD;
    wait_for(BIT(WRITING));
    WINDOW[0] = seq;
    HOST->WRITE_GO = GO_RECORD_END;
}

void host_place(struct host_flow f, const uint8_t *from, uint32_t length, uint32_t to)
{
    uint32_t at = (uint32_t)(from - HOST_RX);

    begin(f);
    HOST->PLACE_FROM = at / HOST_FRAME << HYB_HOST_REGS__PLACE_FROM__BUFFER_bp | at % HOST_FRAME;
    HOST->PLACE_LENGTH = length;
    HOST->PLACE_TO = to;
    HOST->WRITE_GO = GO_PLACE;
}

/* ---- frames ---- */

/* RX_TAIL as last written, RX_HEAD as last read: a register takes longer than memory. */
static uint32_t rx_tail, rx_head;

/* Returns not 0 when there is a frame `n` behind the tail. */
static int there_is(unsigned n)
{
    if (rx_head - rx_tail <= n)
        rx_head = HOST->RX_HEAD;
    return rx_head - rx_tail > n;
}

const uint8_t *host_frame(uint32_t *length)
{
    if (!there_is(0))
        return 0;
    *length = HOST->RX_LENGTH;
    return HOST_RX + rx_tail % RX_N * HOST_FRAME;
}

void host_frame_end(unsigned count)
{
    wait_for(BIT(WRITING)); /* their payload is still read */
    rx_tail += count;
    HOST->RX_TAIL = rx_tail;
}

const volatile struct host_look *host_look(unsigned n)
{
    return LOOKS + (rx_tail + n) % RX_N;
}

const uint8_t *host_frame_ahead(unsigned n, uint32_t *length)
{
    uint32_t at = (rx_tail + n) % RX_N;

    if (!there_is(n))
        return 0;
    *length = LOOKS[at].lengths >> 20;
    return HOST_RX + at * HOST_FRAME;
}

uint8_t *host_slot(void)
{
    uint32_t head = HOST->TX_HEAD;

    return head - HOST->TX_TAIL < SLOT_N ? SLOTS + head % SLOT_N * HOST_FRAME : 0;
}

int host_fetch(struct host_flow f, uint32_t from, uint32_t length, uint8_t *to)
{
    HOST->FETCH_FLOW = (uint32_t)f.slot << HYB_HOST_REGS__FETCH_FLOW__SLOT_bp | f.qp;
    HOST->FETCH_FROM = from;
    HOST->FETCH_TO = (uint32_t)(to - SLOTS);
    HOST->FETCH_GO = length;
    wait_for(BIT(FETCH));
    return HOST->PENDING & BIT(FETCH_REFUSED) ? -1 : 0;
}

void host_send(uint32_t length)
{
    HOST->TX_GO = length;
}
