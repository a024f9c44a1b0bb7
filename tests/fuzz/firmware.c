/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firmware.c - fuzz target: the hybrid TOE's firmware (firmware/; it sends as software-only and
 * receives as the complete configuration), compiled for the host on a model of what surrounds its
 * processor (firmware_units.c, firmware_look.c). Hosts, a peer and time act whenever it would
 * sleep.
 *
 * Input: a list of acts; act() has their codes. Checks: those of the model; at the end, when all
 * queue pairs have left and time has passed, agents, slots and listeners are free.
 */
#include <setjmp.h>

#include <toe/cmd.h>

#include "firmware.h"
#include "toe.h"

#define MOST_ACTS  400u
#define MOST_WAITS 2000u /* until the last connection has ended */
#define SEVERAL    216u
#define CONTINUES  0x8000u /* of the number that gives a segment's length */
#define HEADERS    54u     /* of Ethernet, IPv4 and TCP without options */

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };

int firmware_main(void);

static jmp_buf over;
static unsigned acts, waits;

/* ---- numbers ---- */

static uint32_t number(void)
{
    static const uint32_t likely[] = {
        0,    1,    2,     3,     SLOTS - 1, SLOTS, 80,         1000,       1448,       4095,
        4096, 4097, 40000, 65535, 65536,     65537, 0x0a000001, 0x0a000002, 0x0b000001, 0xffffffff};
    unsigned how = fuzz_u8(&units.in);

    if (how < 64)
        return how % SLOTS;
    how -= 64;
    return how < sizeof(likely) / sizeof(likely[0]) ? likely[how] : fuzz_u32(&units.in);
}

/* ---- hosts ---- */

static unsigned flags_of(unsigned type)
{
    static const uint8_t all[] = {[TOE_CMD_LISTEN] = TOE_F_LISTEN_ALL,
                                  [TOE_CMD_CONNECT] = TOE_F_CONNECT_ALL,
                                  [TOE_CMD_SEND] = TOE_F_SEND_ALL,
                                  [TOE_CMD_CLOSE] = TOE_F_CLOSE_ALL,
                                  [TOE_CMD_OPTION] = TOE_F_OPTION_ALL,
                                  [TOE_CMD_BIND] = TOE_F_BIND_ALL,
                                  [TOE_CMD_PORT] = 0};

    return all[type];
}

/* A command as toe_cmd passes it: of a known type, with flags of this type, in a slot that the
 * queue pair has where the type names a connection. */
static void command(unsigned type)
{
    unsigned about = fuzz_u8(&units.in);
    struct host_command c = {.type = (uint8_t)type, .qp = (uint8_t)(about % HOST_QPS)};

    c.flags = (uint8_t)(about >> 3 & flags_of(type));
    c.aux = (uint16_t)number();
    c.flow = number();
    c.arg0 = number();
    c.arg1 = number();
    c.position = acts;
    if ((type >= TOE_CMD_SEND && type <= TOE_CMD_RELEASE) && !(type == TOE_CMD_OPTION && c.flags))
        c.flow %= SLOTS;
    c.remote[15] = c.own[15] = 1;
    if (units.qps[c.qp].attached)
        units_command(&c);
}

static void queue_pair(unsigned n, int leaves)
{
    if (units.qps[n].attached != leaves || (units.pending & HOST_QUEUE_PAIR))
        return;
    HOST->QP_SIZES =
        3 | 12 << HYB_HOST_REGS__QP_SIZES__TX_LOG_bp | 12 << HYB_HOST_REGS__QP_SIZES__RX_LOG_bp;
    HOST->QP_FIRST = n * SLOTS;
    if (leaves)
        HOST->QP_TO_RESET = 1u << n;
    else
        HOST->QP_TO_ATTACH = 1u << n;
    units.pending |= HOST_QUEUE_PAIR;
}

/* ---- the peer ---- */

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v);
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_sum(uint8_t *p, uint16_t sum)
{
    sum = (uint16_t)~sum;
    memcpy(p, &sum, 2);
}

/* Completes the headers of a segment between these addresses. */
static void finish(uint8_t *f, uint32_t length)
{
    static const uint8_t link[14] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
    uint8_t pseudo[12] = {0};
    uint32_t tcp = length - 34;

    memcpy(f, link, sizeof link);
    f[14] = 0x45;
    put16(f + 16, length - 14);
    f[22] = 64;
    f[23] = 6;
    put_sum(f + 24, toec_sum(f + 14, 20));
    memcpy(pseudo, f + 26, 8);
    pseudo[9] = 6;
    put16(pseudo + 10, tcp);
    put_sum(f + 50, toec_sum_add(toec_sum(pseudo, 12), toec_sum(f + 34, tcp), 0));
}

/* A segment that answers the last one sent, or near that, or continues the one before; or a SYN. */
static void segment(int opens)
{
    static uint8_t f[HOST_FRAME];
    const uint8_t *last = units.last;
    unsigned flags = opens ? TCP_SYN : TCP_ACK | fuzz_u8(&units.in);
    uint32_t number = opens ? 0 : fuzz_u16(&units.in), length = number % (LINK_MTU - 39);
    uint32_t seq = get32(last + 42), ack = get32(last + 38) + units.last_payload;

    if (number & CONTINUES)
        seq = units.next;
    ack += (last[47] & (TCP_SYN | TCP_FIN)) != 0;
    memset(f, 0, sizeof f);
    memcpy(f + 26, last + 30, 4);
    memcpy(f + 30, last + 26, 4);
    memcpy(f + 34, last + 36, 2);
    memcpy(f + 36, last + 34, 2);
    if (opens || !last[12]) {
        put32(f + 26, 0x0a000002);
        put32(f + 30, 0x0a000001);
        put16(f + 34, 40000 + fuzz_u8(&units.in));
        put16(f + 36, 80);
        seq = 1000;
    }
    /* Half of the flags: what a peer seldom sets there. */
    if (flags & 128)
        seq += (uint32_t)(int8_t)fuzz_u8(&units.in) * 16u;
    if (flags & 64)
        ack += (uint32_t)(int8_t)fuzz_u8(&units.in) * 16u;
    units.next = seq + length;
    put32(f + 38, seq);
    put32(f + 42, ack);
    f[46] = 5 << 4;
    f[47] = flags & 63;
    put16(f + 48, fuzz_u16(&units.in));
    finish(f, HEADERS + length);
    units_frame(f, HEADERS + length);
}

/* Any bytes behind the addresses of the link. */
static void raw(void)
{
    static uint8_t f[HOST_FRAME] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
    const uint8_t *bytes;
    size_t got;

    bytes = fuzz_bytes(&units.in, fuzz_u8(&units.in), &got);
    memcpy(f + 12, bytes, got);
    if (got + 12 >= 34 && f[12] == 8 && f[13] == 0 && f[14] == 0x45) {
        f[24] = f[25] = 0;
        put_sum(f + 24, toec_sum(f + 14, 20));
    }
    units_frame(f, (uint32_t)got + 12);
}

/* ---- acts ---- */

static void one_act(unsigned what)
{
    if (what < 96)
        command(1 + what % TOE_CMD_PORT);
    else if (what < 112)
        segment(1);
    else if (what < 208)
        segment(0);
    else if (what < 212)
        raw();
    else if (what < 232)
        units.now += 1000000ull << fuzz_u8(&units.in) % 16; /* up to 32 s */
    else if (what < 240)
        units.qps[what % HOST_QPS].room = fuzz_u8(&units.in);
    else if (what < 244)
        units.full = fuzz_u8(&units.in);
    else if (what < 252)
        queue_pair(what % HOST_QPS, 0);
    else
        queue_pair(fuzz_u8(&units.in) % HOST_QPS, 1);
}

/* Codes from SEVERAL on: so many acts at once, of which one is a command. */
static void act(void)
{
    unsigned what = fuzz_u8(&units.in), n = 1;

    if (what >= SEVERAL && what < SEVERAL + FRAMES) {
        n = what - SEVERAL + 1;
        what = fuzz_u8(&units.in);
    }
    for (; n; n--, what = n ? fuzz_u8(&units.in) : 0)
        if (what >= 96 || !(units.pending & HOST_COMMAND))
            one_act(what);
}

/* ---- the end ---- */

static void check_all_free(void)
{
    unsigned i;

    for (i = 0; i < AGENTS; i++)
        FUZZ_CHECK(toe.agents[i].state == AGENT_FREE);
    for (i = 0; i < FLOWS; i++)
        FUZZ_CHECK(!toe.of_slot[i]);
    for (i = 0; i < MEMBERS; i++)
        FUZZ_CHECK(!toe.members[i].in_use);
    for (i = 0; i < GROUPS; i++)
        FUZZ_CHECK(!toe.groups[i].count);
    for (i = 0; i < HOST_QPS; i++)
        FUZZ_CHECK(!toe.qps[i].attached && !toe.qps[i].used && !toe.qps[i].listeners);
    FUZZ_CHECK(!toe.dooms && !toe.pend_first);
}

int units_ended(uint8_t qp, uint32_t slot)
{
    const struct agent *a = toe.of_slot[toe.qps[qp].first + slot];

    return !a || a->state == AGENT_GONE;
}

/* What an agent has accepted fits its buffers, and its listener is there. */
static void check_agents(void)
{
    unsigned i;

    for (i = 0; i < AGENTS; i++) {
        const struct agent *a = &toe.agents[i];

        if (a->state == AGENT_FREE)
            continue;
        FUZZ_CHECK(a->tx_used <= BUFFER && a->rx_reported <= BUFFER);
        FUZZ_CHECK(!a->member || a->member->in_use);
    }
}

void units_next(uint64_t until)
{
    unsigned i;

    check_agents();
    if (units.in.left && acts++ < MOST_ACTS) {
        act();
        return;
    }
    units.full = 0;
    for (i = 0; i < HOST_QPS; i++)
        if (units.qps[i].attached) {
            queue_pair(i, 1);
            return;
        }
    FUZZ_CHECK(waits++ < MOST_WAITS);
    if (until == TOEC_NEVER)
        longjmp(over, 1);
    units.now = until;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    units_start();
    units.in = (struct fuzz_in){data, size};
    memset(&toe, 0, sizeof toe);
    acts = waits = 0;
    if (setjmp(over) == 0) {
        queue_pair(0, 0);
        firmware_main();
    }
    check_all_free();
    return 0;
}
