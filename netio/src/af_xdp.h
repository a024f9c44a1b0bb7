/* SPDX-License-Identifier: Apache-2.0 */
/*
 * af_xdp.h - what the opening (af_xdp_open.c) and the data path (af_xdp.c) of AF_XDP share.
 */
#ifndef TOE_NETIO_AF_XDP_H
#define TOE_NETIO_AF_XDP_H

#include <net/if.h>

#include "big.h"
#include "steer.h"
#include "watch.h"
#include "xsock.h"

#define XDP_HEADROOM  256u /* bytes that the kernel keeps free before a received frame */
#define SMALL_FRAME   2048u
#define LARGE_FRAME   4096u
#define FRAME_COUNT   4096u /* half of them fit in the fill ring, half in the transmit ring */
#define HOLD_SHARE    4u    /* the caller may hold one frame in HOLD_SHARE */
#define SEND_HEADROOM 64u   /* before a frame to send: the metadata, and whole cache lines */

_Static_assert(SEND_HEADROOM >= XSOCK_TX_METADATA, "the metadata have room");

/* The number of buffers that the largest frame fills; the kernel accepts no more for one frame. */
#define PIECES_MAX ((BIG_FRAME + LARGE_FRAME - SEND_HEADROOM - 1) / (LARGE_FRAME - SEND_HEADROOM))

struct af_xdp {
    struct netio n;
    struct steer *steer;
    struct xsock sock;
    struct watch watch; /* n.fd is its epoll set */
    struct pool pool;   /* the memory area */
    struct pool big;    /* received frames of several buffers */
    struct {            /* the frame that is being joined */
        uint8_t *data;
        uintptr_t token;
        uint32_t len;
        int begun, lost; /* lost: there was no memory for it, or it is too long */
    } joined;
    uint8_t *scratch;     /* to build frames that exceed one buffer; or NULL */
    uint32_t frame_max;   /* the largest frame received */
    uint32_t send_max;    /* the largest frame sent */
    uint16_t vlan;        /* frames have its tag; 0: no VLAN */
    uint32_t held;        /* buffers of netio_rx_hold() */
    uint32_t send_pieces; /* buffers of the largest frame to send */
    uint32_t tx_flags;    /* of frames to fill */
    int veth;
    int partial; /* received frames may have no checksum */
    unsigned ifindex;
    uint32_t ifqueue;
    char ifname[IF_NAMESIZE];
    int groups_fd;                  /* groups.h; -1: no IPv6, or another queue has it */
    int announcements_fd;           /* groups.h; -1: another queue or the kernel has it */
    uint64_t groups_at;             /* when they were last polled */
    uint8_t ip6[NETIO_IP6_MAX][16]; /* addresses asked for */
    unsigned ip6_count;
    uint64_t backlog_since; /* the time of a flush that could not send everything; 0: none */
};

extern const struct netio_ops af_xdp_ops;

/* As netio_activate(). */
int af_xdp_activate(struct netio *n, const struct netio_err *err);

/* Gives the kernel frames to receive into. */
void af_xdp_refill(struct af_xdp *x);

#endif
