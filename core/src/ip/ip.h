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

/* Not 0 when the L4 checksum (with pseudo-header) is right, or was verified by the NIC. */
int toec_ip_l4_sum_ok(struct toec_stack *s, const struct toec_ip_in *in);

/* toec_port_place(), _checksum() and _copy() for any packet core/ handles, reassembled ones too. */
void toec_pkt_place(struct toec_stack *s, void *owner, toec_u32 off, const struct toec_packet *p,
                    toec_u32 p_off, toec_u32 len);
toec_u16 toec_pkt_checksum(struct toec_stack *s, const struct toec_packet *p, toec_u32 p_off,
                           toec_u32 len);
void toec_pkt_copy(struct toec_stack *s, void *dst, const struct toec_packet *p, toec_u32 p_off,
                   toec_u32 len);

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

/* Routes dst: 0, or TOEC_E_UNREACH (off link without gateway, or not a unicast address). */
int toec_path_to(struct toec_stack *s, const struct toec_addr *dst, struct toec_path *path);
/* toec_path_to() for IPv4. */
int toec_ip4_path(struct toec_stack *s, toec_u32 dst, struct toec_path *path);

/*
 * The neighbour of this path is known to work, since something new came from beyond it (RFC 4861
 * 7.3.1's forward progress): spares probes. Cheap; call it when data is newly acknowledged.
 */
void toec_path_confirm(struct toec_stack *s, const struct toec_path *path, toec_time now);

/*
 * Nothing has come back for several timeouts (RFC 9293 3.8.3 (b), negative advice): the neighbour
 * is verified now, unless something else has come from beyond it lately; the path is looked up
 * anew.
 */
void toec_path_doubt(struct toec_stack *s, struct toec_path *path, toec_time now);

/* Not 0 when a is an address that segments may be sent from. */
int toec_addr_is_own(struct toec_stack *s, const struct toec_addr *a);
/* The own address to talk to dst from (RFC 6724): 0, or TOEC_E_NOTAVAIL. */
int toec_source_for(struct toec_stack *s, const struct toec_addr *dst, struct toec_addr *src);

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
int toec_ip_output(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                   toec_time now);
/*
 * toec_ip_output() for what has no flow to send it again: while the neighbour is being resolved the
 * packet is kept (RFC 1122 2.3.2.2), which is 0. Payload must come from a packet (psrc).
 */
int toec_ip_post(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                 toec_time now);
toec_u32 toec_send_epoch(const struct toec_stack *s);
/* toec_ip_output() for a path of IPv4. */
int toec_ip4_output(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                    toec_time now);

/* Not 0 when ip is the network's own or broadcast address; /31 and /32 have none (RFC 3021), and
 * neither has /0, where everything is on the link. */
int toec_ip4_is_broadcast(toec_u32 ip, toec_u32 mask);
/* Not 0 when ip is the address of another host on the link of own/mask. */
int toec_ip4_on_link_host(toec_u32 own, toec_u32 mask, toec_u32 ip);
/* Not 0 when no host may have this address: 0/8, 127/8, multicast, 240/4, broadcast. */
int toec_ip4_is_martian(toec_u32 ip);

/* A frame of ethertype IPv4; group: its Ethernet destination is a group address. */
void toec_ip4_input(struct toec_stack *s, const struct toec_packet *p, int group, toec_time now);
/* Fills *in from a frame whose IPv4 header has been checked. */
void toec_ip4_parse(struct toec_ip_in *in, const struct toec_packet *p);
/* Gives a whole datagram to its protocol. */
void toec_ip4_deliver(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
/* Folded sum of the pseudo-header (RFC 9293 3.1), with the addresses of the IPv4 header. */
toec_u16 toec_ip4_pseudo_sum(const toec_u8 *ip, unsigned proto, toec_u32 len);
/* ... of either family, by the version of the header. */
toec_u16 toec_ip_pseudo_sum(const toec_u8 *ip, unsigned proto, toec_u32 len);
/* Completes the checksum of an IPv4 header of hlen bytes. */
void toec_ip4_set_sum(toec_u8 *ip, unsigned hlen);
/* Builds the frame that toec_ip4_output() sends: headers in o->room, the rest in *tx. */
void toec_ip4_frame(struct toec_stack *s, const toec_u8 *mac, struct toec_outbuf *o,
                    struct toec_tx *tx);
/* As toec_ip4_output(), with this flags-and-offset word and ID: for datagrams that core/ cuts. */
int toec_ip4_send(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                  toec_u32 frag, toec_u32 id, toec_time now);

#endif
