/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo_tap.c - an echo server on a Linux TAP device: core/ with the functions of toe/port.h written
 * out, and nothing else. docs/EMBEDDING.md walks through it.
 *
 *   ip tuntap add dev tap0 mode tap && ip addr add 192.0.2.1/24 dev tap0 && ip link set tap0 up
 *   echo_tap tap0 192.0.2.10/24 7 &
 *   nc 192.0.2.10 7
 *
 * What a connection receives is sent from where it stands: one ring buffer serves both directions,
 * as both streams begin at offset 0 and carry the same bytes.
 */
#define _GNU_SOURCE
#ifdef TOE_ONE_FILE
#include "toe_core.h"
#else
#include <toe/core.h>
#endif

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define CONNS 256
#define RING  65536u /* a power of two */
#define MTU   1500

struct conn {
    struct toec_tcb *flow; /* NULL: not open yet, or gone */
    struct conn *next;     /* of the unused ones, or of those with something to do */
    uint32_t arrived;      /* bytes to send back */
    uint32_t acked;        /* bytes that have come back: their room is free */
    int ended, listed;
    uint8_t ring[RING];
};

static struct conn conns[CONNS], *unused, *to_do;
static int tap;

/* ---- the functions of toe/port.h ---- */

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    static uint8_t frame[MTU + 128];
    uint8_t *payload = frame + tx->hdr_len;
    const struct conn *c = tx->owner;

    (void)user;
    memcpy(frame, tx->hdr, tx->hdr_len);
    if (tx->src) { /* the answer to a ping */
        memcpy(payload, tx->src->data + tx->off, tx->len);
    } else if (tx->len) {
        uint32_t at = tx->off % RING, first = RING - at < tx->len ? RING - at : tx->len;

        memcpy(payload, c->ring + at, first);
        memcpy(payload + first, c->ring, tx->len - first);
    }
    toec_tx_finish(tx, frame, tx->hdr_len + tx->len);
    return write(tap, frame, tx->hdr_len + tx->len) < 0 && errno == EAGAIN ? -1 : 0;
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    struct conn *c = owner;
    uint32_t at = off % RING, first = RING - at < len ? RING - at : len;

    (void)user;
    memcpy(c->ring + at, p->data + p_off, first);
    memcpy(c->ring, p->data + p_off + first, len - first);
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

/* core/ must not be called from here: what there is to do is noted. */
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

/* ---- the server ---- */

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
            toec_shutdown(stack, c->flow, now); /* a second time: refused, and no harm */
    }
}

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void run(struct toec_stack *stack)
{
    static uint8_t frame[MTU + 128];
    struct pollfd p = {.fd = tap, .events = POLLIN};

    for (;;) {
        uint64_t now = clock_ns(), next;
        ssize_t n;

        while ((n = read(tap, frame, sizeof(frame))) > 0) {
            struct toec_packet in = {.data = frame, .head_len = (toec_u32)n, .len = (toec_u32)n};

            toec_input(stack, &in, now);
            serve(stack, now);
        }
        next = toec_poll(stack, now);
        serve(stack, now);
        if (next > now) {
            struct timespec wait = {.tv_sec = (time_t)((next - now) / 1000000000u),
                                    .tv_nsec = (long)((next - now) % 1000000000u)};

            ppoll(&p, 1, next == TOEC_NEVER ? NULL : &wait, NULL);
        }
    }
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

int main(int argc, char **argv)
{
    struct toec_config cfg = {.mac = {2}, .prefix_len = 24, .mtu = MTU, .max_flows = CONNS};
    struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    struct toec_addr any = {{0}};
    struct toec_stack *stack;
    unsigned long size;
    toec_u32 id;
    int i;

    if (argc < 3 || sscanf(argv[2], "%*[0-9.]/%hhu", &cfg.prefix_len) != 1 ||
        inet_pton(AF_INET, strtok(argv[2], "/"), cfg.ip) != 1) {
        fprintf(stderr, "usage: %s TAP ADDRESS/LENGTH [PORT]\n", argv[0]);
        return 2;
    }
    snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", argv[1]);
    tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (tap < 0 || ioctl(tap, TUNSETIFF, &ifr) < 0)
        die(argv[1]);
    if (getrandom(cfg.secret, sizeof(cfg.secret), 0) < 0 || getrandom(cfg.mac + 1, 5, 0) < 0)
        die("getrandom");
    for (i = 0; i < CONNS; i++) {
        conns[i].next = unused;
        unused = &conns[i];
    }
    size = toec_size(&cfg);
    stack = toec_init(aligned_alloc(64, size), size, &cfg, clock_ns());
    if (!stack ||
        toec_listen(stack, &any, (toec_u16)(argc > 3 ? atoi(argv[3]) : 7), NULL, 0, &id)) {
        fprintf(stderr, "%s: the address or the port cannot be used\n", argv[0]);
        return 1;
    }
    printf("listening; %lu KiB for the stack\n", size >> 10);
    fflush(stdout);
    run(stack);
}
