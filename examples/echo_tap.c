/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo_tap.c - an echo server on a Linux TAP device: core/ and the functions of toe/port.h,
 * without other libraries. docs/EMBEDDING.md walks through it.
 *
 *   ip tuntap add dev tap0 mode tap && ip addr add 192.0.2.1/24 dev tap0 && ip link set tap0 up
 *   echo_tap tap0 192.0.2.10/24 7 &
 *   nc 192.0.2.10 7
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

#include "echo.h"

#define MTU 1500

static int tap;

/* ---- the functions of toe/port.h ---- */

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    static uint8_t frame[MTU + 128];
    uint8_t *payload = frame + tx->hdr_len;

    (void)user;
    memcpy(frame, tx->hdr, tx->hdr_len);
    if (tx->src) /* the answer to a ping */
        memcpy(payload, tx->src->data + tx->off, tx->len);
    else if (tx->len)
        ring_get(payload, tx->owner, tx->off, tx->len);
    toec_tx_finish(tx, frame, tx->hdr_len + tx->len);
    return write(tap, frame, tx->hdr_len + tx->len) < 0 && errno == EAGAIN ? -1 : 0;
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    struct conn *c = owner;
    uint32_t at = off % RING, first = before_end(at, len);

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

/* ---- the loop ---- */

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
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
        if (n < 0 && errno != EAGAIN) /* the device is gone */
            die("read");
        next = toec_poll(stack, now);
        serve(stack, now);
        if (next > now) {
            struct timespec wait = {.tv_sec = (time_t)((next - now) / 1000000000u),
                                    .tv_nsec = (long)((next - now) % 1000000000u)};

            ppoll(&p, 1, next == TOEC_NEVER ? NULL : &wait, NULL);
        }
    }
}

int main(int argc, char **argv)
{
    struct toec_config cfg = {.mac = {2}, .prefix_len = 24, .mtu = MTU, .max_flows = CONNS};
    struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    struct toec_stack *stack;
    unsigned long size;
    char more;

    if (argc < 3 || sscanf(argv[2], "%*[0-9.]/%2hhu%c", &cfg.prefix_len, &more) != 1 ||
        inet_pton(AF_INET, strtok(argv[2], "/"), cfg.ip) != 1) {
        fprintf(stderr, "usage: %s TAP ADDRESS/LENGTH [PORT]\n", argv[0]);
        return 2;
    }
    tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", argv[1]) >= (int)sizeof(ifr.ifr_name)) {
        errno = ENAMETOOLONG;
        die(argv[1]);
    }
    if (tap < 0 || ioctl(tap, TUNSETIFF, &ifr) < 0)
        die(argv[1]);
    if (getrandom(cfg.secret, sizeof(cfg.secret), 0) < 0 || getrandom(cfg.mac + 1, 5, 0) < 0)
        die("getrandom");
    size = toec_size(&cfg);
    stack = start(aligned_alloc(64, size), &cfg, argc > 3 ? atoi(argv[3]) : 7, clock_ns());
    printf("listening; %lu KiB for the stack\n", size >> 10);
    fflush(stdout);
    run(stack);
}
