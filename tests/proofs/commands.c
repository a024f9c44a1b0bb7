/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.c - any command of a host, on slots in any state: tables are indexed within them, the
 * sums of bytes stay within the buffers. core/ may return anything. command_flow.c proves that a
 * command reaches only slots that the host was notified of. All slots are in any state, so the slot
 * named, found or allocated may as well be the first.
 */
#include "proof.h"

#include "../../engine/src/hosts/commands.c"

#define SLOTS     2
#define ADDRESSES 4
#define RING      4

static struct engine e;
static struct qp qp;
static struct slot slots[SLOTS];
static struct toe_cmd ring[RING];
static struct trace_ring events;
static struct trace_ring *traces[SLOTS]; /* slot 0 may have a ring of events, with room */
static uint8_t area[ADDRESSES * sizeof(struct toedev_address)];

int toec_send(struct toec_stack *s, struct toec_tcb *flow, toec_u32 n, int push, toec_time now)
{
    (void)s;
    (void)flow;
    (void)push;
    (void)now;
    /* none: where a SYN waits for data */
    PROVE(n <= qp.cfg.tx_size && (n > 0 || slots[0].fast || slots[1].fast));
    return nondet_u8() & 1 ? -(int)(1 + nondet_u8() % 120) : 0;
}

int toec_recv(struct toec_stack *s, struct toec_tcb *flow, toec_u32 n, toec_time now)
{
    (void)s;
    (void)flow;
    (void)now;
    PROVE(n > 0 && n <= qp.cfg.rx_size);
    return nondet_u8() & 1 ? -22 : 0;
}

int shared_connect(struct slot *s, const struct toec_addr *local, const struct toec_addr *to,
                   uint16_t to_port, uint32_t local_port, const struct toec_buffers *bufs)
{
    (void)to_port;
    (void)local_port;
    PROVE(s == &slots[0] || s == &slots[1]);
    READABLE(local, sizeof(*local));
    READABLE(to, sizeof(*to));
    PROVE(bufs->tx_size == qp.cfg.tx_size && bufs->rx_size == qp.cfg.rx_size);
    return -(int)(nondet_u8() % 120);
}

/* Held parts of its stream are released (engine/tests/test_rx_hold.c). */
void hold_drop(struct slot *s)
{
    PROVE(s == &slots[0] || s == &slots[1]);
}

/* Events are not part of this proof (engine/tests/test_trace.c). */
void trace_begin(struct slot *s, enum trace_event_kind what, uint32_t value)
{
    (void)what;
    (void)value;
    PROVE(s == &slots[0]);
}

void trace_end(struct slot *s, uint32_t reason)
{
    (void)reason;
    PROVE(s == &slots[0]);
}

void trace_settle(const struct engine *of, struct trace_ring *r)
{
    PROVE(of == &e && r == &events);
}

void trace_next_block(const struct traces *t, struct trace_ring *r)
{
    (void)t;
    PROVE(r == &events);
}

/* Reasons of core/ are small negative numbers (core.h). */
int reason_of(int rc)
{
    return rc < 0 && rc > -4096 ? -rc : 0;
}

int named(struct qp *q, const struct command *c, struct slot **out)
{
    (void)c;
    PROVE(q == &qp);
    if (!slots[0].announced)
        return TOE_R_BADF;
    *out = &slots[0];
    return 0;
}

struct slot *slot_take(struct qp *q)
{
    PROVE(q == &qp);
    return nondet_u8() & 1 ? &slots[0] : NULL;
}

struct slot *opening_find(const struct qp *q, uint32_t cookie)
{
    (void)cookie;
    PROVE(q == &qp);
    return nondet_u8() & 1 ? &slots[0] : NULL;
}

static int sums_fit(void)
{
    unsigned i;

    for (i = 0; i < SLOTS; i++) /* a share of the send buffer is 1 byte at least (tx_share.c) */
        if (slots[i].tx_less > 12 || slots[i].tx_used > slot_tx_size(&slots[i]) ||
            slots[i].rx_reported > qp.cfg.rx_size)
            return 0;
    return 1;
}

void proof(void)
{
    struct command c;
    unsigned i;

    ANYTHING(area);
    for (i = 0; i < SLOTS; i++) {
        struct slot any;

        slots[i] = any;
        slots[i].qp = &qp;
        slots[i].index = i;
    }
    qp.engine = &e;
    qp.slots = slots;
    events.next = &events.first[nondet_u8() % TRACE_BLOCK];
    traces[0] = nondet_u8() & 1 ? &events : NULL;
    qp.traces = traces;
    qp.area = area;
    qp.cfg.slots = SLOTS;
    qp.cfg.addresses = ADDRESSES;
    qp.cfg.tx_size = 4096;
    qp.cfg.rx_size = 4096;
    qp.layout.addresses = 0;
    qp.hw.entries = ring;
    qp.hw.count = RING;
    qp.hw.head = nondet_u32();
    qp.hw.tail = nondet_u32();
    ASSUME(toe_ring_has_room(&qp.hw)); /* commands_run() takes no command before there is */
    ASSUME(sums_fit());
    (void)run_one(&qp, &c);
    PROVE(sums_fit());
}
