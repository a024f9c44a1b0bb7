/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip.h - what the layers above IP use: a received datagram, a path to a destination, output, and
 * access to payload that may stand in the integrator's buffer or in a reassembled datagram.
 */
#ifndef TOEC_IP_H
#define TOEC_IP_H

#include "../wire/wire_eth.h"
#include "../wire/wire_ip4.h"
#include "../wire/wire_ip6.h"
#include "../wire/wire_tcp.h"

struct toec_stack;

/* A checked IP datagram on its way up. Valid during the call only. */
struct toec_ip_in {
    const struct toec_packet *pkt;
    const toec_u8 *ip; /* IP header */
    const toec_u8 *l4; /* L4 header: l4_head contiguous bytes (may be fewer than l4_len) */
    toec_u32 l4_head;
    toec_u32 l4_off;     /* frame offset of l4, for the payload functions below */
    toec_u32 l4_len;     /* L4 header and payload, by the IP header (padding excluded) */
    toec_u32 src4, dst4; /* IPv4 addresses as values; 0 for IPv6 */
    struct toec_addr src, dst;
    toec_u8 proto, tos, ttl;
    toec_u8 fragmented; /* IPv6: a fragment header stood before l4 (RFC 6980) */
};

/*
 * Where datagrams to one destination go: next hop and its neighbour entry. Kept per flow so that
 * the per-packet path looks nothing up. It stays usable when the neighbour is evicted or changes:
 * output finds out by the generation and resolves anew.
 */
struct toec_path {
    toec_u32 gen;   /* 0: no entry yet */
    toec_u16 neigh; /* index of the neighbour's entry, valid while gen is that entry's generation */
    toec_u16 mtu;
    toec_u16 hlen;  /* of the IP header: TOEC_IP4_LEN or TOEC_IP6_LEN; tells the family */
    toec_u16 epoch; /* toec_stack.route_epoch when the next hop was chosen */
    struct toec_addr next_hop; /* of the neighbour to send to */
};

/* Not 0 when the path is one of IPv6. */
#define TOEC_PATH_IP6(path) ((path)->hlen != TOEC_IP4_LEN)

#define TOEC_OUT_PAD     2 /* so that IP and L4 headers stand on 4-byte boundaries */
#define TOEC_OUT_EXT     8 /* room for an extension header of IPv6 */
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
    const struct toec_addr *src, *dst; /* IPv4 has one address of its own: src is not read */
    toec_u16 l4_len;                   /* bytes of L4 header */
    toec_u16 ext_len;  /* IPv6: 0, or TOEC_OUT_EXT bytes of extension header stand before it ... */
    toec_u16 ext_next; /* ... of this type */
    toec_u16 sum_off; /* offset of the checksum in the L4 header: the pseudo-header sum is put there
                       * and the checksum completed later; TOEC_SUM_NONE: header is complete */
    toec_u16 gso_size;
    toec_u8 proto, tos;
    toec_u8 no_df; /* IPv4: routers may cut it; never with gso_size */
    void *owner;   /* payload: stream of owner from off, or packet psrc from frame offset off */
    toec_u32 off, len;
    const struct toec_packet *psrc;
};

TOEC_INLINE toec_u8 *toec_out_l4(struct toec_outbuf *o)
{
    return o->room.b + TOEC_OUT_L4;
}

/*
 * Sends with DF set (atomic datagrams, RFC 6864 4: the ID has no meaning then). Returns 0 when
 * sent; TOEC_SEND_WAIT: no room in transmit, or the neighbour is being resolved. Nothing is queued:
 * keep the work owed and try again in toec_tcp_poll(); TOEC_SEND_UNREACH: the neighbour does not
 * answer.
 *
 * When to retry: toec_poll() returns `now` by itself while transmit had no room. A neighbour that
 * was waited for has been found or given up when toec_send_epoch() differs from its value at the
 * time of the WAIT; while it has not changed and transmit has room, retrying is in vain.
 */
#define TOEC_SEND_WAIT    (-1)
#define TOEC_SEND_UNREACH (-2)

#endif
