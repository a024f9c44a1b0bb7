/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair.c - two stacks of core/ on one processor exchange data over a lossy link, in virtual time:
 * handshake, BYTES in each direction, close. Reports what was delivered and the cycles that core/
 * took. The link loses frames by a seeded generator, so a run is the same each time.
 *
 * Streams are not stored: a byte of a stream is a function of its offset, so the receiver compares
 * each placed byte with what the sender must have sent.
 */
#include <stddef.h>

#include "soc.h"
#include "toe_core.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memset(void *dst, int c, size_t n);

#define BYTES      100000u
#define BUFFER     16384u /* of each stream, each way */
#define PORT       7
#define FRAMES     16u /* on the link at once */
#define FRAME_MAX  1514u
#define START      1000000000u /* ns */
#define DELAY      1000000u
#define LOSS       30u    /* frames of 1024 */
#define PERIOD     1021u  /* of the streams' bytes: prime, so no segment size repeats it */
#define STACK_SIZE 73728u /* a multiple of 64 */

struct side {
    struct toec_stack *stack;
    struct toec_tcb *flow;
    uint32_t sent, acked, received, unread;
    uint8_t established, peer_closed, shut, closed, gone;
    uint8_t number;
    uint32_t segments; /* frames with payload that it sent */
    toec_time next;
};

struct frame {
    toec_time at;
    uint32_t len;
    uint8_t to;
    uint8_t data[FRAME_MAX] __attribute__((aligned(4)));
};

static uint8_t memory[2][STACK_SIZE] __attribute__((aligned(64)));
static struct side sides[2];
static struct frame link_frames[FRAMES]; /* in order of arrival: the delay is constant */
static uint32_t link_head, link_tail, link_lost;
static uint8_t pattern[PERIOD + FRAME_MAX];
static uint32_t random_state = 1;
static toec_time now;
/* In input and poll of core/, all of it; and of that, in copying payload and in checksums. */
static uint64_t all_cycles, copy_cycles, sum_cycles;
static uint32_t wrong;

static uint32_t random_next(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 16;
}

/* ---- what core/ needs (toe/port.h) ---- */

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    struct side *s = user;
    struct frame *f = &link_frames[link_head % FRAMES];
    uint64_t began, copied;

    if (link_head - link_tail == FRAMES)
        return -1;
    if (tx->hdr_len + tx->len > FRAME_MAX || tx->src)
        soc_fail("a frame that the link does not carry");
    if (tx->len)
        s->segments++;
    began = soc_cycles();
    memcpy(f->data, tx->hdr, tx->hdr_len);
    memcpy(f->data + tx->hdr_len, pattern + tx->off % PERIOD, tx->len);
    copied = soc_cycles();
    f->len = tx->hdr_len + tx->len;
    toec_tx_finish(tx, f->data, f->len);
    copy_cycles += copied - began;
    sum_cycles += soc_cycles() - copied;
    if ((random_next() & 1023) < LOSS) {
        link_lost++;
        return 0;
    }
    f->at = now + DELAY;
    f->to = 1 - s->number;
    link_head++;
    return 0;
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    const uint8_t *expected = pattern + off % PERIOD;
    uint64_t began = soc_cycles();
    toec_u32 i;

    (void)user;
    (void)owner;
    for (i = 0; i < len; i++)
        if (p->data[p_off + i] != expected[i])
            wrong++;
    copy_cycles += soc_cycles() - began;
}

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    uint64_t began = soc_cycles();
    toec_u16 sum = toec_sum(p->data + p_off, len);

    (void)user;
    sum_cycles += soc_cycles() - began;
    return sum;
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
    switch (ev) {
    case TOEC_EV_ESTABLISHED:
        s->established = 1;
        break;
    case TOEC_EV_DATA:
        s->received += arg;
        s->unread += arg;
        break;
    case TOEC_EV_ACKED:
        s->acked += arg;
        break;
    case TOEC_EV_PEER_CLOSED:
        s->peer_closed = 1;
        break;
    case TOEC_EV_GONE:
        if (arg != TOEC_R_OK)
            soc_fail("a connection ended with an error");
        s->gone = 1;
        break;
    default:
        soc_fail("an event that this exchange does not have");
    }
}

/* ---- the application: sends BYTES, reads all, closes ---- */

static void must(int result, const char *what)
{
    if (result)
        soc_fail(what);
}

static void act(struct side *s)
{
    uint32_t room = BUFFER - (s->sent - s->acked), left = BYTES - s->sent;

    if (!s->established || s->gone)
        return;
    if (s->unread) {
        must(toec_recv(s->stack, s->flow, s->unread, now), "toec_recv() failed");
        s->unread = 0;
    }
    if (left > room)
        left = room;
    if (left) {
        must(toec_send(s->stack, s->flow, left, 1, now), "toec_send() failed");
        s->sent += left;
    }
    if (s->sent == BYTES && !s->shut) {
        must(toec_shutdown(s->stack, s->flow, now), "toec_shutdown() failed");
        s->shut = 1;
    }
    if (s->shut && s->peer_closed && !s->closed) {
        must(toec_close(s->stack, s->flow, now), "toec_close() failed");
        s->closed = 1;
    }
}

static void start(struct side *s, unsigned number)
{
    static struct toec_config cfg; /* too large for the stack */
    unsigned i;

    memset(&cfg, 0, sizeof(cfg));
    s->number = (uint8_t)number;
    cfg.user = s;
    for (i = 0; i < 6; i++)
        cfg.mac[i] = (uint8_t)(2 + (i == 5 ? number : 0));
    cfg.ip[0] = 10;
    cfg.ip[3] = (uint8_t)(1 + number);
    cfg.prefix_len = 24;
    cfg.max_flows = 2;
    cfg.max_records = 1;
    cfg.max_listeners = 1;
    cfg.max_time_wait = 2;
    cfg.max_neighbours = 2;
    cfg.max_datagrams = 1;
    cfg.secret[0] = (uint8_t)(1 + number);
    if (toec_size(&cfg) > STACK_SIZE) {
        soc_print_number((uint32_t)toec_size(&cfg));
        soc_fail(" bytes are needed for a stack: more than there are");
    }
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
    must(toec_listen(sides[1].stack, &to, PORT, &sides[1], 0, &id), "toec_listen() failed");
    to.b[10] = to.b[11] = 0xff;
    to.b[12] = 10;
    to.b[15] = 2;
    must(toec_connect(sides[0].stack, &to, PORT, 0, &buffers, now, &sides[0].flow),
         "toec_connect() failed");
}

/* ---- time ---- */

/* Returns when the next frame arrives or a stack has a deadline. While the link is full, a stack
 * that waits for room has its deadline now: only a frame can help. */
static toec_time next_time(void)
{
    toec_time next = sides[0].next < sides[1].next ? sides[0].next : sides[1].next;

    if (link_head != link_tail) {
        toec_time at = link_frames[link_tail % FRAMES].at;

        if (at < next || link_head - link_tail == FRAMES)
            next = at;
    }
    return next > now ? next : now;
}

/* Advances virtual time to the next frame or deadline and handles it. */
static void step(void)
{
    uint64_t began;
    struct frame *f = link_head != link_tail ? &link_frames[link_tail % FRAMES] : 0;
    unsigned i;

    if (f && f->at <= now) {
        struct toec_packet p = {f->data, f->len, f->len, 0, 0};

        began = soc_cycles();
        toec_input(sides[f->to].stack, &p, now);
        all_cycles += soc_cycles() - began;
        link_tail++;
    }
    for (i = 0; i < 2; i++) {
        act(&sides[i]);
        began = soc_cycles();
        sides[i].next = toec_poll(sides[i].stack, now);
        all_cycles += soc_cycles() - began;
    }
    now = next_time();
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
    uint64_t began;
    uint32_t i, segments;

    for (i = 0; i < sizeof(pattern); i++)
        pattern[i] = i < PERIOD ? (uint8_t)random_next() : pattern[i - PERIOD];
    now = START;
    start(&sides[0], 0);
    start(&sides[1], 1);
    connect_sides();
    began = soc_cycles();
    while (!sides[0].gone || !sides[1].gone)
        step();
    segments = sides[0].segments + sides[1].segments;
    report("received_0", sides[0].received);
    report("received_1", sides[1].received);
    report("wrong", wrong);
    report("lost_frames", link_lost);
    report("segments", segments);
    report("virtual_ms", (uint32_t)((now - START) >> 6) / 15625u); /* no 64-bit division */
    report("cycles", (uint32_t)(soc_cycles() - began));
    /* Both ends, ACKs included. */
    report("cycles_per_segment", (uint32_t)all_cycles / segments);
    report("copy_cycles_per_segment", (uint32_t)copy_cycles / segments);
    report("sum_cycles_per_segment", (uint32_t)sum_cycles / segments);
    if (wrong || sides[0].received != BYTES || sides[1].received != BYTES)
        soc_fail("the streams are not what was sent");
    return 0;
}
