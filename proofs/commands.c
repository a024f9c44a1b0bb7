/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.c - any command of a host, on slots in any state: what is not the host's is not touched,
 * tables are indexed within them, the sums of bytes stay within the buffers. core/ answers
 * anything.
 */
#include "proof.h"

#include "../engine/src/commands.c"

#define SLOTS     4
#define ADDRESSES 4
#define RING      4

static struct engine e;
static struct qp qp;
static struct slot slots[SLOTS];
static struct toe_cmd ring[RING];
static uint8_t area[ADDRESSES * sizeof(struct toedev_address)];

int toec_send(struct toec_stack *s, struct toec_tcb *flow, toec_u32 n, int push, toec_time now)
{
    (void)s;
    (void)flow;
    (void)push;
    (void)now;
    PROVE(n > 0 && n <= qp.cfg.tx_size);
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

int toec_connect_from(struct toec_stack *s, const struct toec_addr *local,
                      const struct toec_addr *remote, toec_u16 remote_port, toec_u16 local_port,
                      const struct toec_buffers *bufs, toec_time now, struct toec_tcb **flow)
{
    (void)s;
    (void)remote_port;
    (void)local_port;
    (void)now;
    READABLE(local, sizeof(*local));
    READABLE(remote, sizeof(*remote));
    WRITABLE(flow, sizeof(*flow));
    PROVE(bufs->tx_size == qp.cfg.tx_size && bufs->rx_size == qp.cfg.rx_size);
    return -(int)(nondet_u8() % 120);
}

/* Reasons of core/ are small negative numbers (core.h). */
int reason_of(int rc)
{
    return rc < 0 && rc > -4096 ? -rc : 0;
}

struct slot *slot_take(struct qp *q)
{
    unsigned i = nondet_u8();

    PROVE(q == &qp);
    return i < SLOTS ? &slots[i] : NULL;
}

struct slot *opening_find(const struct qp *q, uint32_t cookie)
{
    unsigned i = nondet_u8();

    (void)cookie;
    PROVE(q == &qp);
    return i < SLOTS ? &slots[i] : NULL;
}

static int sums_fit(void)
{
    unsigned i;

    for (i = 0; i < SLOTS; i++)
        if (slots[i].tx_used > qp.cfg.tx_size || slots[i].rx_told > qp.cfg.rx_size)
            return 0;
    return 1;
}

void proof(void)
{
    struct command c;
    unsigned i;

    ANYTHING(slots);
    ANYTHING(area);
    for (i = 0; i < SLOTS; i++)
        slots[i].qp = &qp;
    qp.engine = &e;
    qp.slots = slots;
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
