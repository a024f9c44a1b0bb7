/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.c - a stack of core/ sends to another one through the hardware of the send path (tx.h):
 * first MEASURED times 1024 bytes, each step written to MARKER, then messages of all alignments
 * around the end of the send buffer. The frames leave the chip, where the simulation checks them,
 * and the second stack receives them from their slots. Time is virtual.
 *
 * With COMPLETE the header unit builds the headers of what the first stack sends.
 *
 * The send buffer is in host memory; with SOFTWARE in data memory, as after the host wrote it
 * there. Its bytes are a function of their place, which the simulation's host memory has too.
 */
#include "soc.h"
#include "tx.h"
#include "tx_header.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memset(void *dst, int c, size_t n);

#define HOST       0x10000000u
#define BUFFER     16384u
#define PORT       7
#define MEASURED   8u
#define SIZE       1024u
#define ODD        60u /* messages of odd lengths */
#define STACK_SIZE 73728u
#define START      1000000000u /* ns */
#define DELAY      50000u
#define QUEUE      16u

struct side {
    struct toec_stack *stack;
    struct toec_tcb *flow;
    uint32_t sent, acked, received, unread;
    uint8_t number, established;
    toec_time next;
};

struct frame {
    const uint8_t *data;
    uint32_t len;
};

static uint8_t memory[2][STACK_SIZE] __attribute__((aligned(64)));
static struct side sides[2];
static struct frame queues[2][QUEUE]; /* frames that a side has sent */
static uint32_t heads[2], tails[2];
static uint8_t answers[QUEUE][128] __attribute__((aligned(4)));
#ifdef SOFTWARE
static uint8_t buffer[BUFFER] __attribute__((aligned(4)));
#define BUFFER_AT ((uint32_t)buffer)
#else
#define BUFFER_AT HOST
#endif
static toec_time now;
static uint32_t wrong;

/* The byte of host memory at this offset of the send buffer (gateware/sim/hyb_bench.cpp). */
static uint8_t byte_at(uint32_t off)
{
    off %= BUFFER;
    return (uint8_t)(off * 7 + (off >> 8) * 31);
}

#ifdef COMPLETE
static struct tx_header header;

/* A payload that wraps around the end of the send buffer leaves with headers of core/: without
 * hyb_buffers.sv it is two jobs of the DFU. */
static int send_segment(void *user, const struct toec_tx_segment *g)
{
    struct frame *f = &queues[0][heads[0] % QUEUE];
    uint32_t at = g->off % BUFFER, slot;

    (void)user;
    if (g->len > BUFFER - at)
        return TOEC_SEGMENT_BUILD;
    if (heads[0] - tails[0] == QUEUE)
        return -1;
    slot = tx_header_send(&header, g, BUFFER_AT + at);
    if (slot == TX_REFUSED)
        return TOEC_SEGMENT_BUILD;
    if (slot == TX_FULL)
        return -1;
    f->data = (const uint8_t *)slot;
    f->len = (g->stamps ? 66 : 54) + g->len;
    heads[0]++;
    return 0;
}

static const struct toec_tx_segment_ops segments = {send_segment, 0};
#endif

/* ---- what core/ needs (toe/port.h) ---- */

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    struct side *s = user;
    struct frame *f = &queues[s->number][heads[s->number] % QUEUE];

    if (heads[s->number] - tails[s->number] == QUEUE)
        return -1;
    if (s->number == 0) {
        uint32_t at = tx->off % BUFFER, first = tx->len;
        struct tx_piece piece[2];

        if (first > BUFFER - at)
            first = BUFFER - at;
        piece[0].at = BUFFER_AT + at;
        piece[0].len = first;
        piece[1].at = BUFFER_AT;
        piece[1].len = tx->len - first;
#ifdef COMPLETE
        if (tx->owner)
            tx_header_learn(&header, 0, tx);
#endif
        f->data = (const uint8_t *)tx_frame(tx, piece);
        if ((uint32_t)f->data <= TX_REFUSED)
            return -1;
    } else {
        uint8_t *to = answers[heads[1] % QUEUE];

        if (tx->len || tx->hdr_len > sizeof(answers[0]))
            soc_fail("an answer with payload");
        memcpy(to, tx->hdr, tx->hdr_len);
        toec_tx_finish(tx, to, tx->hdr_len);
        f->data = to;
    }
    f->len = tx->hdr_len + tx->len;
    heads[s->number]++;
    return 0;
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    toec_u32 i;

    (void)user;
    (void)owner;
    for (i = 0; i < len; i++)
        if (p->data[p_off + i] != byte_at(off + i))
            wrong++;
}

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    (void)user;
    return toec_sum(p->data + p_off, len);
}

void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len)
{
    (void)user;
    memcpy(dst, p->data + p_off, len);
}

int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out)
{
    (void)listener_owner;
    (void)info;
    out->owner = user;
    out->tx_size = out->rx_size = BUFFER;
    return 0;
}

void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg)
{
    struct side *s = owner;

    (void)user;
    s->flow = flow;
    if (ev == TOEC_EV_ESTABLISHED)
        s->established = 1;
    else if (ev == TOEC_EV_DATA)
        s->received += arg, s->unread += arg;
    else if (ev == TOEC_EV_ACKED)
        s->acked += arg;
    else
        soc_fail("an event that this exchange does not have");
}

/* ---- the exchange ---- */

static void start(unsigned number)
{
    static struct toec_config cfg; /* too large for the stack */
    struct side *s = &sides[number];

    memset(&cfg, 0, sizeof(cfg));
    s->number = (uint8_t)number;
    cfg.user = s;
    cfg.mac[0] = 2;
    cfg.mac[5] = cfg.ip[3] = (uint8_t)(1 + number);
    cfg.ip[0] = 10;
    cfg.prefix_len = 24;
    cfg.max_flows = 2;
    cfg.max_records = 1;
    cfg.max_listeners = 1;
    cfg.max_time_wait = 2;
    cfg.max_neighbours = 2;
    cfg.max_datagrams = 1;
    cfg.secret[0] = (uint8_t)(1 + number);
#ifdef COMPLETE
    if (number == 0)
        cfg.segments = &segments;
#endif
    if (toec_size(&cfg) > STACK_SIZE)
        soc_fail("a stack needs more memory than there is");
    s->stack = toec_init(memory[number], STACK_SIZE, &cfg, now);
    if (!s->stack)
        soc_fail("toec_init() refuses the configuration");
}

static void connect_sides(void)
{
    struct toec_buffers buffers = {&sides[0], BUFFER, BUFFER};
    struct toec_addr to;
    toec_u32 id;

    memset(&to, 0, sizeof(to));
    if (toec_listen(sides[1].stack, &to, PORT, &sides[1], 0, &id))
        soc_fail("toec_listen() failed");
    to.b[10] = to.b[11] = 0xff;
    to.b[12] = 10;
    to.b[15] = 2;
    if (toec_connect(sides[0].stack, &to, PORT, 0, &buffers, now, &sides[0].flow))
        soc_fail("toec_connect() failed");
}

/* Advances time to the next deadline, and delivers what the sides have sent. */
static void step(void)
{
    unsigned i;

    while ((int32_t)(TX_REG(LEFT) - heads[0]) < 0)
        ; /* the hardware still writes frames that the second stack reads from their slots */
    for (i = 0; i < 2; i++) {
        struct side *to = &sides[1 - i];

        for (; tails[i] != heads[i]; tails[i]++) {
            const struct frame *f = &queues[i][tails[i] % QUEUE];
            struct toec_packet p = {f->data, f->len, f->len, 0, 0};

            toec_input(to->stack, &p, now);
        }
        if (to->unread && toec_recv(to->stack, to->flow, to->unread, now))
            soc_fail("toec_recv() failed");
        to->unread = 0;
    }
    for (i = 0; i < 2; i++)
        sides[i].next = toec_poll(sides[i].stack, now);
    if (heads[0] == tails[0] && heads[1] == tails[1]) {
        toec_time next = sides[0].next < sides[1].next ? sides[0].next : sides[1].next;

        if (next > now)
            now = next;
    } else
        now += DELAY;
}

/* Sends, and waits until all is acknowledged. */
static void send_bytes(uint32_t len, int measured)
{
    struct side *s = &sides[0];

    now += DELAY;
    if (measured)
        TX_STEP(TX_COMMAND);
    if (toec_send(s->stack, s->flow, len, 1, now))
        soc_fail("toec_send() failed");
    if (measured)
        TX_STEP(TX_POLL);
#ifdef COMPLETE
    toec_output_flow(s->stack, s->flow, now);
#else
    s->next = toec_poll(s->stack, now);
#endif
    if (measured)
        TX_STEP(TX_OUTSIDE);
    s->sent += len;
    while (s->acked != s->sent)
        step();
}

static void report(const char *name, uint32_t n)
{
    soc_print(name);
    soc_print("=");
    soc_print_number(n);
    soc_print("\n");
}

int main(void)
{
    uint32_t i, len = 1;

#ifdef SOFTWARE
    for (i = 0; i < BUFFER; i++)
        buffer[i] = byte_at(i);
#endif
    now = START;
    start(0);
    start(1);
    connect_sides();
    while (!sides[0].established || !sides[1].established)
        step();
    for (i = 0; i < MEASURED; i++)
        send_bytes(SIZE, 1);
    for (i = 0; i < ODD; i++) {
        len = (len * 77 + 91) % 1448;
        send_bytes(len + 1, 0);
    }
    report("sent", sides[0].sent);
    report("received", sides[1].received);
    report("wrong", wrong);
    if (wrong || sides[1].received != sides[0].sent)
        soc_fail("the stream is not what was sent");
    return 0;
}
