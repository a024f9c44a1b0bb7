/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - the common part of all back ends of netio.
 *
 * A back end embeds struct netio as its first member, fills info, mode and fd when it opens, and
 * counts in stats as it goes. Private to netio/.
 */
#ifndef TOE_NETIO_BACKEND_H
#define TOE_NETIO_BACKEND_H

#include "toe/lines.h"
#include "toe/netio.h"

#define ETH_HEADER 14u
#define ETH_TAG    4u                     /* an 802.1Q tag: its type and its TCI */
#define ETH_TAGGED (ETH_HEADER + ETH_TAG) /* what a frame may have beyond the MTU */
#define MODE_TEXT  200u

struct netio_err;

struct netio_ops {
    void (*close)(struct netio *n);
    unsigned (*rx)(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns);
    void (*rx_release)(struct netio *n, const struct netio_frame *frames, unsigned count);
    /* As netio_rx_hold(); NULL: none is held. */
    int (*rx_hold)(struct netio *n, const struct netio_frame *frame);
    void (*rx_unhold)(struct netio *n, uintptr_t token);
    int (*tx_alloc)(struct netio *n, struct netio_frame *frame);
    void (*tx_submit)(struct netio *n, const struct netio_frame *frame, uint64_t now_ns);
    void (*tx_cancel)(struct netio *n, const struct netio_frame *frame);
    void (*tx_flush)(struct netio *n, uint64_t now_ns);
    int (*prepare_sleep)(struct netio *n);
    /* As netio_keep_waking(); NULL: every arrival makes fd readable. */
    void (*keep_waking)(struct netio *n, int on);
    uint64_t (*next_event)(const struct netio *n);
    /* As netio_set_ip6(); NULL: the back end takes every frame. */
    void (*set_ip6)(struct netio *n, const uint8_t addrs[][16], unsigned count);
    /* As netio_take_port(), netio_take_place(); NULL: there is no shared address. */
    void (*take_port)(struct netio *n, int ip6, uint16_t port, unsigned how);
    int (*take_place)(struct netio *n, const uint8_t addr[16], uint16_t port, int on);
    /* As netio_heir(), netio_settle(); NULL: there is none, nothing to do. */
    int (*heir)(const struct netio *n);
    int (*settle)(struct netio *n, const struct netio_err *err);
    /* As netio_activate(); NULL: the back end knows no standby. */
    int (*activate)(struct netio *n, const struct netio_err *err);
    /* As netio_listens(), netio_forget(); NULL: nothing to do. */
    void (*listens)(struct netio *n, int ip6, uint16_t port, unsigned how);
    void (*forget)(struct netio *n);
    /* As netio_tend(); NULL: other programs cannot undo anything. */
    int (*tend)(struct netio *n, const struct netio_err *text);
    /* n->features has changed; NULL: the back end only reads it. */
    void (*set_features)(struct netio *n);
    /* Adds the counters of the back end's kernel side to out; NULL: there are none. */
    void (*add_stats)(const struct netio *n, struct netio_stats *out);
};

struct netio {
    const struct netio_ops *ops;
    struct netio_stats stats;
    struct netio_info info; /* info.mode points to mode below */
    char mode[MODE_TEXT];
    int fd;            /* for sleeping, -1: none */
    uint32_t features; /* NETIO_O_* in use, of info.offered */
};

/* The buffer for a sentence for people when opening fails. */
struct netio_err {
    char *text;
    size_t size;
};

void netio_err_set(const struct netio_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The back ends. args is what follows the first colon of the specification. */
typedef struct netio *netio_open_fn(const char *args, const struct netio_config *cfg,
                                    const struct netio_err *err);
netio_open_fn af_xdp_open, tap_open, wire_open, dpdk_open, pcap_file_open;

/* Back ends that wrap another: between is the text between the parentheses, inner the specification
 * of the wrapped one. */
typedef struct netio *netio_wrap_fn(const char *between, const char *inner,
                                    const struct netio_config *cfg, const struct netio_err *err);
netio_wrap_fn impair_open, tee_open, workers_open;

/* The largest frame with offloads: the largest 16-bit IP length, after the Ethernet header and a
 * tag. */
#define BIG_FRAME   (65535u + ETH_TAGGED)
#define BIG_PAYLOAD 61440u /* of TSO: leaves room for the headers */

/* Returns the offset of the IP header of a frame to send, which may have an 802.1Q tag. */
static inline uint32_t frame_ip_at(const struct netio_frame *f)
{
    return f->data[12] == 0x81 && f->data[13] == 0 ? ETH_TAGGED : ETH_HEADER;
}

/* Returns whether that is IPv4: if it is not, it is IPv6. */
static inline int frame_is_ip4(const struct netio_frame *f)
{
    return f->data[frame_ip_at(f) - 2] == 0x08;
}

/* Returns the bytes of a frame to send, its references included. */
static inline uint32_t frame_total(const struct netio_frame *f)
{
    uint32_t total = f->len, i;

    for (i = 0; i < f->ref_count; i++)
        total += f->refs[i].len;
    return total;
}

/* For a back end with one queue: returns 0 when cfg requests that queue, else -1 and a sentence. */
int backend_one_queue(const char *who, const struct netio_config *cfg, const struct netio_err *err);

#endif
