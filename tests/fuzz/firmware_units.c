/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firmware_units.c - firmware/host.c and soc.c for a host's processor (firmware.h). Payload that is
 * placed must be in the frame at hand and in the receive buffer, payload that is fetched must have
 * been given by SEND, events must fit the state that the host knows.
 */
#include <sys/mman.h>

#include <toe/cmd.h>

#include "firmware.h"
#include "soc.h"
#include "toe_core.h"

#define MOST_ROUNDS 200000u /* of one input: more is a loop without an end */

struct units units;
static uint8_t slot[HOST_FRAME];

static struct queue_pair *of(unsigned qp)
{
    FUZZ_CHECK(qp < HOST_QPS && units.qps[qp].attached);
    return &units.qps[qp];
}

static struct host_slot *at(struct host_flow f)
{
    FUZZ_CHECK(f.slot < SLOTS);
    return &of(f.qp)->slots[f.slot];
}

/* ---- soc.c ---- */

void soc_fail(const char *why)
{
    fprintf(stderr, "the firmware fails: %s\n", why);
    abort();
}

void soc_print(const char *text)
{
    (void)text;
}

void soc_print_number(uint32_t n)
{
    (void)n;
}

uint32_t soc_units(void)
{
    return 0;
}

/* ---- time ---- */

/* A round begins. The last one has taken all frames that it found: a round that sends before it has
 * received overflows the RX buffers with ACKs. */
uint64_t host_now(void)
{
    FUZZ_CHECK((int32_t)(units.tail - units.found) >= 0);
    units.found = units.head;
    FUZZ_CHECK(units.rounds++ < MOST_ROUNDS);
    units.now += 1000;
    return units.now;
}

void host_sleep(uint64_t until)
{
    FUZZ_CHECK(!units.pending);
    units_next(until);
}

/* The registers of queue pairs are memory here: what the firmware wrote is looked at when it asks
 * next. */
static void follow_queue_pairs(void)
{
    unsigned i;

    FUZZ_CHECK(!(HOST->QP_ATTACHED & ~HOST->QP_TO_ATTACH));
    FUZZ_CHECK(!(HOST->QP_RESET & ~HOST->QP_TO_RESET));
    for (i = 0; i < HOST_QPS; i++) {
        if (HOST->QP_ATTACHED >> i & 1)
            units.qps[i] = (struct queue_pair){.attached = 1, .room = 1000};
        if (HOST->QP_RESET >> i & 1)
            units.qps[i].attached = 0;
    }
    HOST->QP_TO_ATTACH &= ~HOST->QP_ATTACHED;
    HOST->QP_TO_RESET &= ~HOST->QP_RESET;
    HOST->QP_ATTACHED = HOST->QP_RESET = 0;
    if (!HOST->QP_TO_ATTACH && !HOST->QP_TO_RESET)
        units.pending &= ~HOST_QUEUE_PAIR;
}

uint32_t host_pending(void)
{
    follow_queue_pairs();
    return units.pending;
}

/* ---- commands ---- */

void units_command(const struct host_command *c)
{
    FUZZ_CHECK(!(units.pending & HOST_COMMAND));
    units.command = *c;
    units.pending |= HOST_COMMAND;
}

void host_command(struct host_command *c)
{
    FUZZ_CHECK(units.pending & HOST_COMMAND);
    *c = units.command;
}

static void end_command(void)
{
    FUZZ_CHECK(units.pending & HOST_COMMAND); /* one end for each */
    units.pending &= ~HOST_COMMAND;
}

/* Accepted, or ignored because the connection ended before. */
void host_done(void)
{
    const struct host_command *c = &units.command;
    struct host_slot *s;

    end_command();
    if (units.qps[c->qp].attached && c->type == TOE_CMD_CONNECT)
        units.qps[c->qp].connects++;
    if (!units.qps[c->qp].attached || c->flow >= SLOTS)
        return;
    s = &units.qps[c->qp].slots[c->flow];
    switch (c->type) {
    case TOE_CMD_SEND:
        s->sent += units_ended(c->qp, c->flow) ? 0 : c->arg0;
        break;
    case TOE_CMD_RECV:
        s->returned += units_ended(c->qp, c->flow) ? 0 : c->arg0;
        FUZZ_CHECK(s->received - s->returned <= BUFFER);
        break;
    case TOE_CMD_RELEASE:
        FUZZ_CHECK(s->ended);
        memset(s, 0, sizeof(*s));
        break;
    default:
        break;
    }
}

void host_answer(const struct host_command *c, uint32_t type, uint32_t aux, uint32_t flow,
                 uint32_t arg0, uint32_t arg1)
{
    (void)arg1;
    end_command();
    of(c->qp);
    FUZZ_CHECK(aux != 0 && aux <= 0xffff);
    if (type == TOE_CMD_CONNECT_FAILED)
        FUZZ_CHECK(c->type == TOE_CMD_CONNECT && arg0 == c->flow);
    else
        FUZZ_CHECK(type == TOE_CMD_ERROR && flow == c->flow && arg0 == c->position);
}

/* ---- writes ---- */

static void check_event(struct host_slot *s, unsigned type, uint32_t arg0)
{
    switch (type) {
    case TOE_CMD_LISTEN_ESTABLISHED:
    case TOE_CMD_CONNECT_ESTABLISHED:
        FUZZ_CHECK(!s->open && !s->ended);
        memset(s, 0, sizeof(*s));
        s->open = 1;
        break;
    case TOE_CMD_DATA_RECEIVED:
        FUZZ_CHECK(s->open && arg0 > 0);
        s->received += arg0;
        FUZZ_CHECK(s->received - s->returned <= BUFFER);
        break;
    case TOE_CMD_SEND_COMPLETE:
        FUZZ_CHECK(s->open && arg0 > 0 && arg0 <= s->sent - s->acked);
        s->acked += arg0;
        break;
    default: /* URGENT, CLOSE_EVENT */
        FUZZ_CHECK(s->open);
    }
}

int host_event(struct host_flow f, uint32_t type_aux, uint32_t arg0, uint32_t arg1,
               const struct host_peer *peer)
{
    unsigned type = type_aux & 0xff, flags = type_aux >> 8 & TOE_CMD_FLAGS;
    struct queue_pair *q = of(f.qp);
    struct host_slot *s = at(f);

    (void)arg1;
    FUZZ_CHECK(type > TOE_CMD_PORT && type <= TOE_CMD_CONNECT_PORT && type != TOE_CMD_ERROR);
    FUZZ_CHECK((type == TOE_CMD_LISTEN_ESTABLISHED || type == TOE_CMD_CONNECT_ESTABLISHED) ==
               !!peer);
    if (!q->room)
        return -1;
    q->room--;
    if (type == TOE_CMD_CONNECT_FAILED || type == TOE_CMD_CONNECT_ESTABLISHED)
        FUZZ_CHECK(q->connects-- > 0);
    if (type == TOE_CMD_CONNECT_FAILED) {
        FUZZ_CHECK(!s->open);
        return 0;
    }
    check_event(s, type, arg0);
    if (type == TOE_CMD_CLOSE_EVENT && !(flags & TOE_F_CLOSE_EVENT_HALF)) {
        s->open = 0;
        s->ended = 1;
    }
    return 0;
}

void host_record(struct host_flow f, uint32_t *record, uint32_t seq)
{
    at(f);
    record[0] = seq - 1;
    FUZZ_CHECK(!(seq & 1));
}

/* Returns not 0 when the bytes are those of a frame that waits. */
static int in_a_frame(const uint8_t *from, uint32_t length)
{
    uint32_t n;

    for (n = units.tail; n != units.head; n++) {
        uintptr_t frame = (uintptr_t)units.frames[n % FRAMES];
        uint32_t bytes = units.lengths[n % FRAMES];

        if ((uintptr_t)from - frame <= bytes && length <= bytes - ((uintptr_t)from - frame))
            return 1;
    }
    return 0;
}

void host_place(struct host_flow f, const uint8_t *from, uint32_t length, uint32_t to)
{
    const struct host_slot *s = at(f);

    FUZZ_CHECK(units.pending & HOST_FRAME_IN);
    FUZZ_CHECK(in_a_frame(from, length));
    FUZZ_CHECK(to - s->returned <= BUFFER && to - s->returned + length <= BUFFER);
}

/* ---- frames ---- */

int units_frame(const uint8_t *frame, uint32_t length)
{
    if (units.head - units.tail == FRAMES)
        return 0;
    units.frames[units.head % FRAMES] = fuzz_exact(frame, length);
    units.lengths[units.head % FRAMES] = length;
    units.head++;
    units.pending |= HOST_FRAME_IN;
    return 1;
}

const uint8_t *host_frame(uint32_t *length)
{
    if (units.head == units.tail)
        return NULL;
    *length = units.lengths[units.tail % FRAMES];
    return units.frames[units.tail % FRAMES];
}

const uint8_t *host_frame_ahead(unsigned n, uint32_t *length)
{
    if (units.head - units.tail <= n)
        return NULL;
    *length = units.lengths[(units.tail + n) % FRAMES];
    return units.frames[(units.tail + n) % FRAMES];
}

void host_frame_end(unsigned count)
{
    FUZZ_CHECK(count && units.head - units.tail >= count);
    for (; count; count--)
        free(units.frames[units.tail++ % FRAMES]);
    if (units.head == units.tail)
        units.pending &= ~HOST_FRAME_IN;
}

uint8_t *host_slot(void)
{
    if (units.full) {
        units.full--;
        return NULL;
    }
    return slot;
}

int host_fetch(struct host_flow f, uint32_t from, uint32_t length, uint8_t *to)
{
    const struct host_slot *s = at(f);
    uint32_t given = s->sent;

    /* core/ may send what the SEND at hand gives, before the command has its end. */
    if ((units.pending & HOST_COMMAND) && units.command.type == TOE_CMD_SEND &&
        units.command.qp == f.qp && units.command.flow == f.slot)
        given += units.command.arg0;
    FUZZ_CHECK(to >= slot && to + length <= slot + HOST_FRAME);
    FUZZ_CHECK(from - s->acked <= given - s->acked && length <= given - from);
    memset(to, (int)(from & 0xff), length);
    return 0;
}

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

/* Every address on the link is the peer's. */
static void answer_arp(void)
{
    static const uint8_t peer[6] = {2, 0, 0, 0, 0, 2};
    uint8_t frame[42], wanted[4];

    if (get16(slot + 20) != 1)
        return;
    memcpy(wanted, slot + 38, 4);
    memcpy(frame, slot, sizeof frame);
    memcpy(frame, slot + 6, 6);
    memcpy(frame + 6, peer, 6);
    frame[21] = 2;
    memcpy(frame + 32, slot + 22, 10);
    memcpy(frame + 22, peer, 6);
    memcpy(frame + 28, wanted, 4);
    units_frame(frame, sizeof frame);
}

/* Checks checksums and lengths of IPv4, and keeps the last segment of TCP. */
void host_send(uint32_t length)
{
    uint32_t ip = get16(slot + 16), pseudo;
    uint8_t head[12] = {0};

    FUZZ_CHECK(length >= 14 && length <= LINK_MTU + 14);
    if (get16(slot + 12) == 0x0806)
        answer_arp();
    if (get16(slot + 12) != 0x0800)
        return;
    FUZZ_CHECK(slot[14] >> 4 == 4 && ip + 14 <= length && toec_sum(slot + 14, 20) == 0xffff);
    if (slot[23] != 6)
        return;
    memcpy(head, slot + 26, 8);
    head[9] = 6;
    head[10] = (uint8_t)((ip - 20) >> 8);
    head[11] = (uint8_t)(ip - 20);
    pseudo = toec_sum(head, sizeof head);
    FUZZ_CHECK(toec_sum_add((uint16_t)pseudo, toec_sum(slot + 34, ip - 20), 0) == 0xffff);
    memcpy(units.last, slot, HEAD);
    units.last_payload = ip - 20 - (uint32_t)(slot[46] >> 4) * 4;
}

/* ---- start ---- */

void units_start(void)
{
    static void *mapped;
    unsigned i;

    if (!mapped) {
        mapped = mmap((void *)(uintptr_t)HOST, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        FUZZ_CHECK(mapped == (void *)(uintptr_t)HOST);
    }
    memset(&units, 0, sizeof units);
    memset(slot, 0, sizeof slot);
    memset(mapped, 0, 4096);
    units.now = 1ull << 32;
    HOST->MAC_LOW = 2;
    HOST->MAC_HIGH = 0x100;
    HOST->IPV4 = 0x0a000001;
    HOST->OWN = 24;
    HOST->MTU = LINK_MTU;
    for (i = 0; i < 8; i++)
        HOST->SECRET[i] = 0x01010101u * i;
}
