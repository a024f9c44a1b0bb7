/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xsock.h - an AF_XDP socket with its memory area (UMEM) and four rings, opened with all features
 * that the kernel supports. It uses libxdp's rings, but not its set-up, which cannot request
 * features newer than libxdp.
 */
#ifndef TOE_NETIO_XSOCK_H
#define TOE_NETIO_XSOCK_H

#include <xdp/xsk.h>

#include "backend.h"
#include "if_xdp_new.h"
#include "pool.h"

#define XSOCK_RING 2048u /* entries of each ring */

/* Bytes before the data of a frame to send; the metadata are at their end. */
#define XSOCK_TX_METADATA 32u

struct xsock {
    int fd;
    struct xsk_ring_prod fill, tx;
    struct xsk_ring_cons completion, rx;
    struct {
        void *at;
        size_t size;
    } maps[4];
    int metadata; /* XDP_TX_METADATA may be used */
    int sg;       /* frames may have several descriptors */
    int zero_copy;
    unsigned way; /* how it was bound: for xsock_prepare() in another process */
};

enum xsock_copy { XSOCK_COPY_AUTO, XSOCK_COPY, XSOCK_ZERO_COPY };

/* Opens a socket on a queue with the frames of pool as its memory. Returns 0, or -1 and a sentence
 * in err; xsock_close() must follow in both cases. */
int xsock_open(struct xsock *s, const struct pool *pool, const char *ifname, uint32_t queue,
               enum xsock_copy copy, const struct netio_err *err);
/* Opens a socket as another process has bound its own (`way`), without binding it. xsock_bind()
 * does that once the other one has ended; it needs no rights. Both return 0, or -1 and a sentence.
 */
int xsock_prepare(struct xsock *s, const struct pool *pool, unsigned way,
                  const struct netio_err *err);
int xsock_bind(struct xsock *s, const char *ifname, uint32_t queue, const struct netio_err *err);
void xsock_close(struct xsock *s);

#endif
