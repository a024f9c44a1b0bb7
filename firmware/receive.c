/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive.c - what receiving takes (gateware/sim/hyb_loop.sv): two stacks of core/, each frame of
 * which leaves the chip and comes back. The one with the chip's address receives as the TOE's
 * firmware does (receive_plain.c, receive_look.c), its payload placed in host memory, where the
 * simulation compares it; the other one is its peer. MARKER has what is measured. Time is virtual.
 */
#include "soc.h"
#include "sum.h"
#include "toe.h"
#include "tx.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memset(void *dst, int c, size_t n);

#define BUFFER     16384u /* as hyb_loop.sv has it */
#define PORT       7
#define MEASURED   16u
#define SIZE       1024u
#define ODD        40u /* messages of odd lengths, each way */
#define BURSTS     8u
#define LONG       14480u /* ten segments: as many as a new connection may send */
#define STACK_SIZE 73728u
#define START      1000000000u /* ns */
#define DELAY      50000u
#define PEER       0u
#define OURS       1u /* as the last octet of its address, less 1 */

/* What MARKER has (gateware/lib/hybrid.py). */
enum { OUTSIDE = 0, DATA = 1, ACK = 2, POLL = 3, BURST = 4, LEAVING = 5, MERGED = 6 };

struct side {
    struct toec_stack *stack;
    struct agent agent; /* of its flow; slot: PEER, OURS */
    uint32_t sent, acked, received, unread;
    uint8_t established;
};

struct toe toe;
static uint8_t memory[2][STACK_SIZE] __attribute__((aligned(64), section(".noinit")));
static struct side sides[2];
static toec_time now;
static uint32_t frames_sent, frames_handled;

/* ---- what core/ needs (toe/port.h) ---- */

#ifdef COMPLETE
static int send_segment(void *user, const struct toec_tx_segment *g)
{
    const struct agent *a = g->owner;
    uint32_t sent;

    (void)user;
    sent = tx_header_send(&a->header, g, g->off);
    if (sent == TX_REFUSED)
        return TOEC_SEGMENT_BUILD;
    if (sent == TX_FULL)
        return -1;
    frames_sent += g->len > g->mss ? (g->len + g->mss - 1) / g->mss : 1;
    return 0;
}

static const struct toec_tx_segment_ops segments = {send_segment, 1};
#endif

uint32_t tx_one(const struct toec_tx *tx)
{
    struct tx_piece piece[2] = {{tx->off, tx->len}, {0, 0}};
    const struct agent *a = tx->owner;
    uint32_t sent;

    if (tx->src || (tx->len && !a))
        soc_fail("a frame that this exchange does not have");
    if (a)
        TX_REG(DFU_HOST_HIGH) = (uint32_t)a->at.slot << 16;
    sent = tx_frame(tx, piece);
    if (sent == TX_REFUSED)
        soc_fail("host memory refuses a read");
    if (sent != TX_FULL)
        frames_sent++;
    return sent;
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
#ifdef COMPLETE
    struct agent *a = tx->owner;

    if (a)
        tx_header_learn(&a->header, (uint32_t)a->at.slot << 16 | a->at.slot, tx);
#endif
    (void)user;
    return (tx->gso_size ? tx_cut(tx) : tx_one(tx)) == TX_FULL ? -1 : 0;
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    const struct agent *a = owner;

    (void)user;
    receive_place(a->at, p, p_off, len, off);
}

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    (void)user;
    return sum_bytes(p->data + p_off, len);
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
    struct side *s = user;

    (void)listener_owner;
    (void)info;
    out->owner = &s->agent;
    out->tx_size = out->rx_size = BUFFER;
    return 0;
}

void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg)
{
    struct side *s = user;
    struct agent *a = owner;

    a->flow = flow;
    toe.active = a;
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
    s->agent.at.slot = (uint16_t)number;
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
    cfg.segments = &segments;
#endif
    cfg.max_gso = BUFFER;
    if (toec_size(&cfg) > STACK_SIZE)
        soc_fail("a stack needs more memory than there is");
    s->stack = toec_init(memory[number], STACK_SIZE, &cfg, now);
    if (!s->stack)
        soc_fail("toec_init() refuses the configuration");
}

static void connect_sides(void)
{
    struct toec_buffers buffers = {&sides[PEER].agent, BUFFER, BUFFER};
    struct toec_addr to;
    toec_u32 id;

    memset(&to, 0, sizeof(to));
    if (toec_listen(sides[OURS].stack, &to, PORT, &sides[OURS], 0, &id))
        soc_fail("toec_listen() failed");
    to.b[10] = to.b[11] = 0xff;
    to.b[12] = 10;
    to.b[15] = 2;
    if (toec_connect(sides[PEER].stack, &to, PORT, 0, &buffers, now, &sides[PEER].agent.flow))
        soc_fail("toec_connect() failed");
}

/* Takes the frame that waits, and those that are merged with it; `measured`: as what, if it is for
 * us. Returns how many. */
static unsigned take(const uint8_t *data, uint32_t length, uint32_t measured)
{
    struct toec_packet p = {data, length, length, TOEC_RX_L4_CSUM_OK | TOEC_RX_IP_CSUM_OK, 0};
    unsigned taken = 1;

    if (data[5] == 1 + PEER || data[0] & 1) {
        toec_input(sides[PEER].stack, &p, now);
        if (!(data[0] & 1)) {
            host_frame_end(1);
            return 1;
        }
    }
    TX_REG(MARKER) = measured;
    taken = receive_frames(data, length);
    host_frame_end(taken);
    TX_REG(MARKER) = OUTSIDE;
    return taken;
}

/* Handles all frames on their way, polls, and advances time. */
static void step(uint32_t measured)
{
    const uint8_t *data;
    uint32_t length;
    toec_time next, other;

    if (measured == MERGED)
        while (HOST->RX_HEAD - HOST->RX_TAIL != frames_sent - frames_handled)
            ; /* all are to wait one behind the other */
    while (frames_handled != frames_sent) {
        data = host_frame(&length);
        if (data)
            frames_handled += take(data, length, measured == BURST ? OUTSIDE : measured);
    }
    if (sides[PEER].unread &&
        toec_recv(sides[PEER].stack, sides[PEER].agent.flow, sides[PEER].unread, now))
        soc_fail("toec_recv() failed");
    if (sides[OURS].unread &&
        toec_recv(sides[OURS].stack, sides[OURS].agent.flow, sides[OURS].unread, now))
        soc_fail("toec_recv() failed");
    sides[PEER].unread = sides[OURS].unread = 0;
    next = toec_poll(sides[PEER].stack, now);
    TX_REG(MARKER) = measured == DATA ? POLL : OUTSIDE;
    other = toec_poll(sides[OURS].stack, now);
    TX_REG(MARKER) = OUTSIDE;
    if (other < next)
        next = other;
    if (frames_handled != frames_sent)
        now += DELAY;
    else if (next > now)
        now = next;
    toe.now = now;
}

/* Sends, and waits until all is acknowledged. */
static void send_bytes(struct side *s, uint32_t len, uint32_t measured)
{
    now += DELAY;
    toe.now = now;
    if (toec_send(s->stack, s->agent.flow, len, 1, now))
        soc_fail("toec_send() failed");
    if (measured == BURST)
        TX_REG(MARKER) = BURST;
    toec_output_flow(s->stack, s->agent.flow, now);
    if (measured == BURST) {
        TX_REG(MARKER) = LEAVING;
        while (TX_REG(LEFT) != frames_sent)
            ;
    }
    TX_REG(MARKER) = OUTSIDE;
    s->sent += len;
    while (s->acked != s->sent)
        step(measured);
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

    now = START;
    toe.now = now;
    start(PEER);
    start(OURS);
    toe.stack = sides[OURS].stack;
    connect_sides();
    while (!sides[PEER].established || !sides[OURS].established)
        step(OUTSIDE);
    for (i = 0; i < MEASURED; i++)
        send_bytes(&sides[PEER], SIZE, DATA);
    for (i = 0; i < MEASURED; i++)
        send_bytes(&sides[OURS], SIZE, ACK);
    for (i = 0; i < BURSTS; i++)
        send_bytes(&sides[OURS], LONG, BURST);
    for (i = 0; i < BURSTS; i++)
        send_bytes(&sides[PEER], LONG, MERGED);
    for (i = 0; i < ODD; i++) {
        len = (len * 77 + 91) % 1448;
        send_bytes(&sides[i & 1], len + 1, OUTSIDE);
    }
    if (sides[OURS].received != sides[PEER].sent || sides[PEER].received != sides[OURS].sent)
        soc_fail("not all that was sent is received");
    report("placed", sides[OURS].received + sides[PEER].received);
    return 0;
}
