/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcap.c - fuzz target: a capture file as back end. Input: [pace][the file]. Checks: frames lie
 * within their buffers, and a file ends.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <toe/netio.h>

#include "fuzz.h"

#define BURST  32u
#define ROUNDS 70000u /* an input of 64 KiB cannot hold more frames */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct netio_config cfg = {.ip = {10, 0, 0, 1}};
    struct netio_frame f[BURST];
    char spec[96], err[256];
    uint64_t now = 1;
    unsigned n, i, rounds = 0;
    struct netio *io;
    int fd;

    if (size < 1)
        return 0;
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    snprintf(spec, sizeof(spec), "pcap:in=/proc/self/fd/%d,pace=%s", fd,
             data[0] & 1 ? "recorded" : "asked");
    io = netio_open(spec, &cfg, err, sizeof(err));
    if (io) {
        for (;;) {
            uint64_t next = netio_next_event(io);

            if (next == UINT64_MAX)
                break;
            FUZZ_CHECK(++rounds < ROUNDS);
            now = next > now ? next : now;
            n = netio_rx(io, f, BURST, now);
            for (i = 0; i < n; i++)
                FUZZ_CHECK(f[i].len <= f[i].cap);
            netio_rx_release(io, f, n);
        }
        netio_close(io);
    } else {
        FUZZ_CHECK(memchr(err, 0, sizeof(err)) && err[0]);
    }
    close(fd);
    return 0;
}
