/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrongsum.c - preloaded into toed on a TAP interface: leaves the checksum of every
 * WRONGSUM_EVERYth frame to the card at a wrong place, so that the card sends the frame with a
 * wrong checksum.
 */
#define _GNU_SOURCE
#include <linux/virtio_net.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECES 64 /* toed's frames have fewer */

static int is_due(void)
{
    static atomic_uint count;
    const char *every = getenv("WRONGSUM_EVERY");
    unsigned n = every ? (unsigned)strtoul(every, NULL, 10) : 0;

    return n && atomic_fetch_add(&count, 1) % n == n - 1;
}

/* Of toed's writes only frames begin with a virtio header that requests a checksum. */
ssize_t writev(int fd, const struct iovec *iov, int count)
{
    struct iovec changed[PIECES];
    struct virtio_net_hdr h;

    if (count < 2 || count > PIECES || iov[0].iov_len != sizeof(h))
        return syscall(SYS_writev, fd, iov, count);
    memcpy(&h, iov[0].iov_base, sizeof(h));
    if (!(h.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || !is_due())
        return syscall(SYS_writev, fd, iov, count);
    h.csum_offset += 2; /* the urgent pointer follows the checksum (RFC 9293 3.1) */
    memcpy(changed, iov, (size_t)count * sizeof(changed[0]));
    changed[0].iov_base = &h;
    return syscall(SYS_writev, fd, changed, count);
}
