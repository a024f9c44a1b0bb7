/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netio_echo.c - a host of one address for the tests of back ends: answers ARP and ICMP echo, and
 * sends UDP back to where it came from.
 *
 * netio_echo [-s] A.B.C.D SPEC...; prints "ready MODE" for each SPEC once all are open; on SIGTERM
 * or SIGINT prints the counters of each and exits. It sleeps in poll() when nothing arrives, with
 * -s it spins.
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

/* Writes the reply to request q of len bytes to p; returns 0 if there is none. */
static int make_answer(uint8_t *p, const uint8_t *q, uint32_t len, const uint8_t mac[6],
                       const uint8_t ip[4])
{
    uint32_t sum;

    if (len < 42)
        return 0;
    memcpy(p, q, len);
    memcpy(p, q + 6, 6);
    memcpy(p + 6, mac, 6);
    if (q[12] == 0x08 && q[13] == 0x06 && q[21] == 1 && !memcmp(q + 38, ip, 4)) {
        p[21] = 2;
        memcpy(p + 22, mac, 6);
        memcpy(p + 28, ip, 4);
        memcpy(p + 32, q + 22, 10); /* target from sender */
        return 1;
    }
    if (q[12] != 0x08 || q[13] != 0x00 || q[14] != 0x45 || memcmp(q + 30, ip, 4))
        return 0;
    memcpy(p + 26, q + 30, 4);
    memcpy(p + 30, q + 26, 4);
    if (q[23] == 17) { /* ports: the checksum stays right */
        memcpy(p + 34, q + 36, 2);
        memcpy(p + 36, q + 34, 2);
        return 1;
    }
    if (q[23] != 1 || q[34] != 8)
        return 0;
    p[34] = 0;
    sum = ((uint32_t)q[36] << 8 | q[37]) + 0x0800u; /* RFC 1624 */
    sum = (sum & 0xffffu) + (sum >> 16);
    p[36] = (uint8_t)(sum >> 8);
    p[37] = (uint8_t)sum;
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
    out.len = in->len;
    if (make_answer(out.data, in->data, in->len, mac, ip))
        netio_tx_submit(n, &out, t);
    else
        netio_tx_cancel(n, &out);
}

/* Receives and answers the pending frames; returns their number. */
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
            while (i--)
                netio_close(n[i]);
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
