/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo.h - the connections of an echo server, for echo_tap.c and echo_dpdk.c: the two functions of
 * toe/port.h that do not depend on the kind of frames, and the handling of their events.
 *
 * One ring buffer of a connection serves both directions without a copy, as both streams begin at
 * offset 0 and carry the same bytes.
 */
#ifndef ECHO_H
#define ECHO_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNS 256
#define RING  65536u /* a power of two */

struct conn {
    struct toec_tcb *flow; /* NULL: not open yet, or gone */
    struct conn *next;     /* in the list of unused ones, or of those with work */
    uint32_t arrived;      /* bytes to send back */
    uint32_t acked;        /* bytes acknowledged by the peer: their room is free */
    int ended, listed;
    uint8_t ring[RING];
};

static struct conn conns[CONNS], *unused, *to_do;

/* Returns how many of len bytes at this offset lie before the end of the ring. */
static uint32_t before_end(uint32_t at, uint32_t len)
{
    return RING - at < len ? RING - at : len;
}

/* Copies bytes to send from the ring. */
static void ring_get(uint8_t *to, const struct conn *c, uint32_t off, uint32_t len)
{
    uint32_t at = off % RING, first = before_end(at, len);

    memcpy(to, c->ring + at, first);
    memcpy(to + first, c->ring, len - first);
}

int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out)
{
    struct conn *c = unused;

    (void)user, (void)listener_owner, (void)info;
    if (!c)
        return -1;
    unused = c->next;
    c->arrived = c->acked = 0;
    c->ended = c->listed = 0;
    out->owner = c;
    out->tx_size = out->rx_size = RING;
    return 0;
}

/* Queues the connection for serve(): events may not call core/. */
void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg)
{
    struct conn *c = owner;

    (void)user;
    c->flow = ev == TOEC_EV_GONE ? NULL : flow;
    if (ev == TOEC_EV_DATA)
        c->arrived += arg;
    else if (ev == TOEC_EV_ACKED)
        c->acked += arg;
    else if (ev == TOEC_EV_PEER_CLOSED)
        c->ended = 1;
    if (!c->listed) {
        c->listed = 1;
        c->next = to_do;
        to_do = c;
    }
}

/* Does the work that events have queued. */
static void serve(struct toec_stack *stack, uint64_t now)
{
    while (to_do) {
        struct conn *c = to_do;

        to_do = c->next;
        c->listed = 0;
        if (!c->flow) { /* gone */
            c->next = unused;
            unused = c;
            continue;
        }
        if (c->arrived)
            toec_send(stack, c->flow, c->arrived, 1, now);
        if (c->acked)
            toec_recv(stack, c->flow, c->acked, now);
        c->arrived = c->acked = 0;
        if (c->ended)
            toec_shutdown(stack, c->flow, now); /* core/ rejects a second call; harmless */
    }
}

/* Creates a stack in mem (toec_size() bytes, aligned to 64) that listens on port. */
static struct toec_stack *start(void *mem, const struct toec_config *cfg, int port, uint64_t now)
{
    struct toec_stack *stack = toec_init(mem, toec_size(cfg), cfg, now);
    struct toec_addr any = {{0}};
    toec_u32 id;
    int i;

    for (i = 0; i < CONNS; i++) {
        conns[i].next = unused;
        unused = &conns[i];
    }
    if (!stack || port > 65535 || toec_listen(stack, &any, (toec_u16)port, NULL, 0, &id)) {
        fprintf(stderr, "the address or the port cannot be used, or there is no memory\n");
        exit(1);
    }
    return stack;
}

#endif
