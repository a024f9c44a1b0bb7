/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netio_ip6.c - queues of one interface for the tests of IPv6 by AF_XDP.
 *
 * netio_ip6 SPEC A B QUEUES: opens SPEC once or twice; queue 0 registers addresses A and B, queue 1
 * A. Prints "ready", waits for a line on stdin, then receives the pending frames in batches of at
 * most 16 and prints for each "other N dst-A N dst-B N": frames to neither address, to A, to B.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "toe/netio.h"

#define BATCH 16

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static unsigned take(struct netio *n, const uint8_t addrs[2][16])
{
    struct netio_frame f[BATCH];
    unsigned count = netio_rx(n, f, BATCH, now()), got[3] = {0, 0, 0}, i;

    for (i = 0; i < count; i++) {
        const uint8_t *dst = f[i].data + 14 + 24;

        got[f[i].len < 54                ? 0
            : !memcmp(dst, addrs[0], 16) ? 1
            : !memcmp(dst, addrs[1], 16) ? 2
                                         : 0]++;
    }
    netio_rx_release(n, f, count);
    if (count)
        printf("other %u dst-A %u dst-B %u\n", got[0], got[1], got[2]);
    return count;
}

int main(int argc, char **argv)
{
    struct netio_config cfg = {.seed = 1, .ip6 = 1};
    struct netio *n[2] = {NULL, NULL};
    uint8_t addrs[2][16];
    char err[512], line[16];
    unsigned i, empty, queues = argc == 5 && argv[4][0] == '1' ? 1 : 2;

    if (argc != 5 || inet_pton(AF_INET6, argv[2], addrs[0]) != 1 ||
        inet_pton(AF_INET6, argv[3], addrs[1]) != 1) {
        fprintf(stderr, "netio_ip6: want SPEC A B QUEUES\n");
        return 2;
    }
    for (i = 0; i < queues; i++) {
        cfg.queue = i;
        n[i] = netio_open(argv[1], &cfg, err, sizeof(err));
        if (!n[i]) {
            fprintf(stderr, "%s\n", err);
            return 1;
        }
        netio_set_ip6(n[i], (const uint8_t(*)[16])addrs, 2 - i);
        netio_prepare_sleep(n[i]); /* returns the frames to the kernel */
    }
    puts("ready");
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        return 1;
    for (empty = 0; empty < 100; empty++) {
        const struct timespec ms = {0, 2000000};

        for (i = 0; i < queues; i++)
            if (take(n[i], (const uint8_t(*)[16])addrs))
                empty = 0;
        if (empty)
            nanosleep(&ms, NULL);
    }
    for (i = 0; i < queues; i++)
        netio_close(n[i]);
    return 0;
}
