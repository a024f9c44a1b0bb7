/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netio_echo.c - a host of one address for the tests of back ends: answers ARP and ICMP echo, and
 * sends UDP back to where it came from.
 *
 * netio_echo [-s] A.B.C.D SPEC...; says "ready MODE" for each SPEC when all are open; ends at
 * SIGTERM or SIGINT with the counters of each on stdout. It sleeps in poll() when nothing arrives,
 * with -s it spins.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "toe/netio.h"

#define BATCH      64
#define INTERFACES 8

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
    (void)number;
    ended = 1;
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void swap(uint8_t *a, uint8_t *b, size_t n)
{
    uint8_t held[6];

    memcpy(held, a, n);
    memcpy(a, b, n);
    memcpy(b, held, n);
}

/* Turns a request into its answer in place; 0 when there is none. */
static int make_answer(uint8_t *p, uint32_t len, const uint8_t mac[6], const uint8_t ip[4])
{
    uint8_t *ip_header = p + 14;
    uint8_t *l4 = p + 34;
    uint32_t sum;

    if (len >= 42 && p[12] == 0x08 && p[13] == 0x06 && p[21] == 1 && !memcmp(p + 38, ip, 4)) {
        p[21] = 2;
        memcpy(p, p + 6, 6);
        memcpy(p + 6, mac, 6);
        memcpy(p + 32, p + 22, 10); /* target from sender */
        memcpy(p + 22, mac, 6);
        memcpy(p + 28, ip, 4);
        return 1;
    }
    if (len < 42 || p[12] != 0x08 || p[13] != 0x00 || p[14] != 0x45 || memcmp(p + 30, ip, 4))
        return 0;
    swap(p, p + 6, 6);
    swap(ip_header + 12, ip_header + 16, 4);
    if (ip_header[9] == 17) {
        swap(l4, l4 + 2, 2); /* ports: the checksum stays right */
        return 1;
    }
    if (ip_header[9] != 1 || l4[0] != 8)
        return 0;
    l4[0] = 0;
    sum = ((uint32_t)l4[2] << 8 | l4[3]) + 0x0800u; /* RFC 1624 */
    sum = (sum & 0xffffu) + (sum >> 16);
    l4[2] = (uint8_t)(sum >> 8);
    l4[3] = (uint8_t)sum;
    return 1;
}

static void answer(struct netio *n, const struct netio_frame *in, const uint8_t mac[6],
                   const uint8_t ip[4], uint64_t t)
{
    struct netio_frame out;

    if (netio_tx_alloc(n, &out))
        return;
    if (out.cap < in->len) {
        netio_tx_cancel(n, &out);
        return;
    }
    memcpy(out.data, in->data, in->len);
    out.len = in->len;
    if (make_answer(out.data, out.len, mac, ip))
        netio_tx_submit(n, &out, t);
    else
        netio_tx_cancel(n, &out);
}

/* Takes in and answers what is there; the number of frames. */
static unsigned serve(struct netio *n, const uint8_t mac[6], const uint8_t ip[4])
{
    struct netio_frame frames[BATCH];
    uint64_t t = now();
    unsigned count = netio_rx(n, frames, BATCH, t);
    unsigned i;

    for (i = 0; i < count; i++)
        answer(n, &frames[i], mac, ip, t);
    netio_rx_release(n, frames, count);
    netio_tx_flush(n, t);
    return count;
}

static void rest(struct netio **n, unsigned count)
{
    struct pollfd p[INTERFACES];
    int timeout = 100;
    unsigned i;

    for (i = 0; i < count; i++) {
        p[i] = (struct pollfd){.fd = netio_fd(n[i]), .events = POLLIN};
        if (netio_next_event(n[i]) != UINT64_MAX)
            timeout = 1;
        if (netio_prepare_sleep(n[i]))
            return;
    }
    poll(p, count, timeout);
}

static void run(struct netio **n, const struct netio_info *info, unsigned count,
                const uint8_t ip[4], int spin)
{
    while (!ended) {
        unsigned frames = 0;
        unsigned i;

        for (i = 0; i < count; i++)
            frames += serve(n[i], info[i].mac, ip);
        if (!frames && !spin)
            rest(n, count);
    }
}

int main(int argc, char **argv)
{
    struct netio_config cfg = {.seed = 1};
    struct netio_info info[INTERFACES];
    struct netio *n[INTERFACES];
    struct netio_stats stats;
    char err[512];
    int spin = argc > 1 && strcmp(argv[1], "-s") == 0;
    unsigned count = argc > 2 + spin ? (unsigned)(argc - 2 - spin) : 0;
    unsigned i;

    if (!count || count > INTERFACES || inet_pton(AF_INET, argv[1 + spin], cfg.ip) != 1) {
        fprintf(stderr, "usage: netio_echo [-s] A.B.C.D SPEC...\n");
        return 2;
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    for (i = 0; i < count; i++) {
        n[i] = netio_open(argv[2 + spin + (int)i], &cfg, err, sizeof(err));
        if (!n[i]) {
            fprintf(stderr, "%s\n", err);
            return 1;
        }
        netio_get_info(n[i], &info[i]);
    }
    for (i = 0; i < count; i++)
        printf("ready %s\n", info[i].mode);
    fflush(stdout);
    run(n, info, count, cfg.ip, spin);
    for (i = 0; i < count; i++) {
        netio_get_stats(n[i], &stats);
        printf("rx %" PRIu64 " tx %" PRIu64 " rx_dropped %" PRIu64 " tx_dropped %" PRIu64 "\n",
               stats.rx_frames, stats.tx_frames, stats.rx_dropped, stats.tx_dropped);
        netio_close(n[i]);
    }
    return 0;
}
