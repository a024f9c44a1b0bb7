/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflect.c - the far end of a wire, which sends every packet back with its addresses swapped, and
 * answers ARP for any address: packets of a TOE to LOOPTOE_PEER_IP return to it from that address.
 * So the tests of looptoe run on a whole stack within the program (docs/INLINE.md).
 */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <toe/netio.h>

#include "harness.h"
#include "reflect.h"

#define ETH 14

static void swap(uint8_t *a, uint8_t *b, size_t n)
{
    uint8_t t[8];

    memcpy(t, a, n);
    memcpy(a, b, n);
    memcpy(b, t, n);
}

/* In place. False: not to be answered. */
static bool reflect(uint8_t *f, uint32_t len, const uint8_t mac[6])
{
    memcpy(f, f + 6, 6);
    memcpy(f + 6, mac, 6);
    if (len >= ETH + 20 && f[12] == 8 && f[13] == 0) {
        swap(f + ETH + 12, f + ETH + 16, 4); /* leaves the sums as they are */
        return true;
    }
    if (len < ETH + 28 || f[12] != 8 || f[13] != 6 || f[ETH + 7] != 1)
        return false;
    f[ETH + 7] = 2;
    memcpy(f + ETH + 18, f + ETH + 8, 6);
    memcpy(f + ETH + 8, mac, 6);
    swap(f + ETH + 14, f + ETH + 24, 4);
    return true;
}

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void run(struct netio *n)
{
    struct netio_info info;
    struct netio_frame in[32], out;

    netio_get_info(n, &info);
    for (;;) {
        unsigned got = netio_rx(n, in, 32, now_ns());

        for (unsigned i = 0; i < got; i++) {
            if (!reflect(in[i].data, in[i].len, info.mac) || netio_tx_alloc(n, &out) != 0)
                continue;
            memcpy(out.data, in[i].data, in[i].len);
            out.len = in[i].len;
            netio_tx_submit(n, &out, now_ns());
        }
        netio_rx_release(n, in, got);
        netio_tx_flush(n, now_ns());
        if (!got && !netio_prepare_sleep(n)) {
            struct pollfd p = {.fd = netio_fd(n), .events = POLLIN};

            poll(&p, 1, 10);
        }
    }
}

pid_t reflect_start(const char *wire)
{
    char spec[160], err[256];
    struct netio_config cfg = {0};
    struct netio *n;
    int ready[2];
    pid_t pid;
    char byte;

    snprintf(spec, sizeof(spec), "wire:%s,side=a", wire);
    if (pipe(ready) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        n = netio_open(spec, &cfg, err, sizeof(err));
        if (!n) {
            fprintf(stderr, "reflect: %s\n", err);
            _exit(1);
        }
        (void)!write(ready[1], "", 1);
        run(n);
    }
    close(ready[1]);
    if (pid > 0 && read(ready[0], &byte, 1) != 1)
        fprintf(stderr, "reflect: no wire\n");
    close(ready[0]);
    return pid;
}
