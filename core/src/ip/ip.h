/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip.h - what the layers above IP use: a received datagram, a path to a destination, output, and
 * access to payload in the integrator's buffer or in a reassembled datagram.
 */
#ifndef TOEC_IP_H
#define TOEC_IP_H

#include "../wire/wire_eth.h"
#include "../wire/wire_ip4.h"
#include "../wire/wire_ip6.h"
#include "../wire/wire_tcp.h"

struct toec_stack;

/* A checked IP datagram, passed to the upper layers. Valid during the call only. */
struct toec_ip_in {
    const struct toec_packet *pkt;
    const toec_u8 *ip; /* IP header */
    const toec_u8 *l4; /* L4 header: l4_head contiguous bytes (may be fewer than l4_len) */
    toec_u32 l4_head;
    toec_u32 l4_off;     /* frame offset of l4, for the payload functions below */
    toec_u32 l4_len;     /* L4 header and payload, according to the IP header (padding excluded) */
    toec_u32 src4, dst4; /* IPv4 addresses as values; 0 for IPv6 */
    struct toec_addr src, dst;
    toec_u8 proto, tos, ttl;
    toec_u8 fragmented; /* IPv6: a fragment header preceded l4 (RFC 6980) */
};

/*
 * The route to one destination: next hop and its neighbour entry. Cached per flow so that the
 * per-packet path needs no lookup. It stays usable when the neighbour is evicted or changes: output
 * detects this by the generation and resolves the next hop again.
 */
struct toec_path {
    toec_u32 gen; /* 0: no entry yet */
    /* Index of the neighbour's entry, valid while gen equals that entry's generation */
    toec_u16 neigh;
    toec_u16 mtu;
    toec_u16 hlen;  /* of the IP header: TOEC_IP4_LEN or TOEC_IP6_LEN; identifies the family */
    toec_u16 epoch; /* toec_stack.route_epoch when the next hop was chosen */
    struct toec_addr next_hop; /* address of the neighbour to send to */
};

/* Not 0 for a path of IPv6. */
#define TOEC_PATH_IP6(path) ((path)->hlen != TOEC_IP4_LEN)

#define TOEC_OUT_PAD     2 /* aligns IP and L4 headers to 4 bytes */
#define TOEC_OUT_EXT     8 /* room for an IPv6 extension header */
#define TOEC_OUT_L4      (TOEC_OUT_PAD + TOEC_ETH_LEN + TOEC_IP6_LEN + TOEC_OUT_EXT)
#define TOEC_OUT_L4_ROOM 64
#define TOEC_SUM_NONE    0xffffu

/*
 * One datagram to send. The caller writes the L4 header to toec_out_l4() and fills the fields;
 * payload is described as in struct toec_tx.
 */
struct toec_outbuf {
    union {
        toec_u32 align;
        toec_u8 b[TOEC_OUT_L4 + TOEC_OUT_L4_ROOM];
    } room;
    const struct toec_addr *src, *dst; /* src is not read for IPv4, which has one own address */
    toec_u16 l4_len;                   /* bytes of L4 header */
    toec_u16 ext_len;  /* IPv6: 0, or TOEC_OUT_EXT bytes of extension header precede it ... */
    toec_u16 ext_next; /* ... of this type */
    /* Offset of the checksum in the L4 header: output writes the pseudo-header sum there and
     * completes the checksum later; TOEC_SUM_NONE: the header is complete */
    toec_u16 sum_off;
    toec_u16 gso_size;
    toec_u8 proto, tos;
    toec_u8 no_df; /* IPv4: routers may fragment it; never with gso_size */
    void *owner;   /* payload: stream of owner from off, or packet psrc from frame offset off */
    toec_u32 off, len;
    const struct toec_packet *psrc;
};

TOEC_INLINE toec_u8 *toec_out_l4(struct toec_outbuf *o)
{
    return o->room.b + TOEC_OUT_L4;
}

/*
 * Results of output, which sends with DF set (atomic datagrams, RFC 6864 4: the ID is unused then).
 * 0: sent. TOEC_SEND_WAIT: no room in transmit, or the neighbour is being resolved; nothing is
 * queued, so keep the work pending and try again in toec_tcp_poll(). TOEC_SEND_UNREACH: the
 * neighbour does not answer.
 *
 * When to retry: toec_poll() returns `now` by itself while transmit had no room. A pending
 * neighbour has been resolved or given up when toec_send_epoch() differs from its value at the time
 * of the WAIT. While it is unchanged and transmit has room, a retry fails again.
 */
#define TOEC_SEND_WAIT    (-1)
#define TOEC_SEND_UNREACH (-2)

#endif
