/* SPDX-License-Identifier: Apache-2.0 */
/*
 * double.c - what every netio in memory does the same way: nothing. It takes the place of the netio
 * library (toe/netio.h) together with a source that keeps the frames: engine/tests/memwire.c,
 * tests/virtual/src/wire.c, bench/ideal/wire.c.
 */
#include <toe/netio.h>

/* No offloads: the user computes checksums and cuts segments. */
uint32_t netio_set_features(struct netio *n, uint32_t wanted)
{
    (void)n;
    (void)wanted;
    return 0;
}

/* Frames to all addresses arrive. */
void netio_set_ip6(struct netio *n, const uint8_t addrs[][16], unsigned count)
{
    (void)n;
    (void)addrs;
    (void)count;
}

/* One frame is filled at a time, in a buffer of its own. */
void netio_tx_cancel(struct netio *n, const struct netio_frame *frame)
{
    (void)n;
    (void)frame;
}

/* What is submitted is sent already. */
void netio_tx_flush(struct netio *n, uint64_t now_ns)
{
    (void)n;
    (void)now_ns;
}

/* As there is no descriptor. */
void netio_keep_waking(struct netio *n, int on)
{
    (void)n;
    (void)on;
}

/* The user polls. */
int netio_fd(const struct netio *n)
{
    (void)n;
    return -1;
}

/* One process has the frames. */
void netio_listens(struct netio *n, int ip6, uint16_t port, unsigned how)
{
    (void)n;
    (void)ip6;
    (void)port;
    (void)how;
}

/* No claim would stay in a child. */
void netio_forget(struct netio *n)
{
    (void)n;
}
