/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.h - what core/ needs from whoever embeds it. These functions, together with memcpy and
 * memset (which C compilers emit calls to by themselves), are the only undefined symbols of core/;
 * a test compares this header with the symbol table (SEEDS S4.1).
 *
 * core/ owns no thread, clock, memory or packet. It calls these functions synchronously from within
 * toec_input(), toec_poll() and the commands of core.h. None of them may call back into core/ for
 * the same stack, except toec_flow_info().
 */
#ifndef TOE_PORT_H
#define TOE_PORT_H

#include <toe/ao.h>
#include <toe/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct toec_tcb;

/*
 * A received Ethernet frame. core/ reads headers through `data` (at least `head_len` contiguous
 * bytes) and never touches payload; payload is named by its offset from the start of the frame.
 * `opaque` is the integrator's buffer (rte_mbuf, umem frame, ...); core/ passes it through.
 */
struct toec_packet {
    const toec_u8 *data;
    toec_u32 head_len; /* contiguous bytes at data; all headers must lie within */
    toec_u32 len;      /* length of the whole frame, >= head_len */
    toec_u32 flags;    /* TOEC_RX_* */
    void *opaque;
};

#define TOEC_RX_L4_CSUM_OK 1u /* NIC or trusted wire has verified the TCP/UDP checksum */
#define TOEC_RX_IP_CSUM_OK 2u /* ... and the IPv4 header checksum */
/*
 * Set by core/ alone: a datagram it has reassembled. The whole frame is contiguous at data
 * (head_len == len) in memory of core/, opaque is 0. toec_port_place() and toec_port_transmit()
 * read such a packet from data; checksum and copy are not called for it.
 */
#define TOEC_RX_REASSEMBLED 4u
#define TOEC_RX_LOCAL       8u /* the stack's own frame, handed back: see toec_tx.local */

/*
 * A frame to send: `hdr_len` header bytes built by core/, followed by `len` payload bytes taken
 * from one of two places: the send stream of `owner` from stream offset `off` (src == 0), or a
 * received packet `src` from frame offset `off` (ICMP echo).
 *
 * Checksum as virtio has it: when csum_start is not 0, the 16-bit word at csum_start + csum_offset
 * holds the folded, not complemented pseudo-header sum; the integrator (or its NIC) sums from
 * csum_start to the end of the frame and stores the complement there. toec_tx_finish() of core.h
 * does it in software.
 *
 * Segmentation: when gso_size is not 0, len may exceed it and the integrator (or its NIC) cuts the
 * payload into segments of gso_size bytes as TSO does. The header, its total length and the
 * pseudo-header sum are those of the frame as a whole. core/ does so only when toec_config.max_gso
 * is not 0.
 *
 * To itself: when local is not 0, the frame is for an address of the stack's own and must not
 * leave: the integrator keeps a copy, and hands it to toec_input() with TOEC_RX_LOCAL and the flags
 * of checked sums, later, not from within toec_port_transmit(). core/ sends such frames only when
 * toec_config.local is not 0.
 */
struct toec_tx {
    const toec_u8 *hdr;
    toec_u16 hdr_len;
    toec_u16 csum_start;
    toec_u16 csum_offset;
    toec_u16 gso_size;
    void *owner;
    toec_u32 off;
    toec_u32 len;
    const struct toec_packet *src;
    toec_u8 local;
};

/*
 * Sends or queues one frame. tx and hdr are valid during the call only.
 * Returns 0, or -1 when there is no room now: core/ keeps what it owes and tries again at the next
 * toec_poll() (frames without a flow, such as RST and ICMP, are then dropped and counted).
 */
int toec_port_transmit(void *user, const struct toec_tx *tx);

/*
 * Puts `len` payload bytes of p, from frame offset p_off, into the receive stream of `owner` at
 * stream offset `off` (first byte after SYN = 0, modulo 2^32). May be out of order and may repeat
 * bytes placed before, always within the window core/ has offered, so within the receive buffer.
 */
void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len);

/*
 * Sum of payload for the checksum: ones' complement sum of the bytes [p_off, p_off + len) of the
 * frame, folded to 16 bits and not complemented, in the byte order of the machine as if the bytes
 * were read as native 16-bit words starting at p_off. toec_sum() of core.h does it in software.
 */
toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len);

/* Copies payload out of a packet (fragments on their way to be reassembled). */
void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len);

/* What a passive open asks for, and what it is given. */
struct toec_open {
    struct toec_addr local, remote;
    toec_u16 local_port, remote_port;
    toec_u32 hash; /* keyed hash of the 4-tuple: for spreading over queue pairs */
};

struct toec_buffers {
    void *owner;      /* handed back in every call about this flow */
    toec_u32 tx_size; /* bytes of send buffer; power of two, 1 KiB..16 MiB */
    toec_u32 rx_size; /* bytes of receive buffer; power of two, 1 KiB..16 MiB */
};

/*
 * A SYN (or the ACK of a SYN cookie) asks listener `listener_owner` for a flow. Fills *out and
 * returns 0; or returns -1 to refuse (no slot, backlog full, nobody listens): the segment is
 * dropped silently and counted, as Linux does with a full accept queue.
 */
int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out);

/*
 * ---- on a link that another stack looks after: only of stacks with toec_config.link ----
 *
 * The other one (a host's kernel) has the addresses too: it answers ARP and discovery, claims and
 * defends them, knows routes and neighbours. core/ then sends nothing of that on its own.
 */
struct toec_link_ops {
    /* Who is to be sent to on the way to dst: 0 with *hop (which may be dst), or -1: nobody. */
    int (*route)(void *user, const struct toec_addr *dst, struct toec_addr *hop);
    /* Find out the Ethernet address of a neighbour, or whether it is still there: the answer is
     * toec_neighbour(), later. Asked again when none comes within a second, three times. */
    void (*ask)(void *user, const struct toec_addr *addr);
};

/* ---- UDP: only of stacks with toec_config.max_udp ---- */

/* A datagram for an endpoint; checked, whole. Valid during the call. */
struct toec_udp_in {
    struct toec_addr src, dst;
    toec_u16 sport, dport;
    toec_u8 ttl, tos; /* or hop limit and traffic class */
    toec_u32 mtu;     /* of the interface it came by */
    const struct toec_packet *pkt;
    toec_u32 off, len; /* of the payload in the frame (of a reassembled one too) */
};

/* An ICMP error about something the endpoint has sent: soft, nothing has changed (RFC 1122
 * 4.1.3.3). */
struct toec_udp_err {
    struct toec_addr remote;
    toec_u16 remote_port;
    toec_u16 reason;    /* TOEC_R_REFUSED, _HOSTUNREACH, _MSGSIZE ... */
    toec_u8 type, code; /* of ICMP for IPv4; those of IPv6 are translated */
    toec_u32 mtu;       /* with _MSGSIZE: what the path carries */
};

struct toec_udp_ops {
    void (*receive)(void *user, void *owner, const struct toec_udp_in *d);
    void (*error)(void *user, void *owner, const struct toec_udp_err *e);
};

/*
 * ---- TCP-AO (ao.h): only of stacks with toec_config.max_ao_keys ----
 *
 * The MAC of a segment covers its payload, which core/ does not touch. These show it: each calls
 * toec_ao_feed(mac, ...) with all `len` bytes in order, at once or in pieces.
 */
struct toec_ao_ops {
    /* Bytes of the send stream of `owner` from offset `off`, which toec_port_transmit() is about to
     * be given. They must still be the same then. */
    void (*sent)(void *user, void *owner, toec_u32 off, toec_u32 len, struct toec_mac *mac);
    /* Payload of p from frame offset `off`. Not called for TOEC_RX_REASSEMBLED. */
    void (*received)(void *user, const struct toec_packet *p, toec_u32 off, toec_u32 len,
                     struct toec_mac *mac);
};

/* Events that a flow's owner is told. */
enum toec_event {
    TOEC_EV_ESTABLISHED = 1, /* handshake done (active or passive) */
    TOEC_EV_DATA,            /* arg more bytes are in order in the receive stream */
    TOEC_EV_ACKED,           /* arg more bytes of the send stream acknowledged; room reusable */
    TOEC_EV_PEER_CLOSED,     /* FIN in order: end of the receive stream */
    TOEC_EV_ERROR,           /* soft error, arg = reason (ICMP unreachable, kept as SO_ERROR) */
    TOEC_EV_URGENT,          /* arg = stream offset behind the peer's urgent data, which may be yet
                              * to come; again when it moves on */
    TOEC_EV_GONE             /* last event: buffers and owner are no longer used. arg = reason:
                              * TOEC_R_OK after both directions closed (TIME-WAIT lives on inside
                              * core/ without buffers), else why (also for connects that failed
                              * and passive opens that never completed) */
};

/* Reasons: one table for core/, the device contract and errno on Linux (values are Linux's). */
enum toec_reason {
    TOEC_R_OK = 0,
    TOEC_R_MSGSIZE = 90,     /* EMSGSIZE: larger than the path carries (UDP) */
    TOEC_R_NOPROTOOPT = 92,  /* ENOPROTOOPT: protocol unreachable */
    TOEC_R_NETUNREACH = 101, /* ENETUNREACH */
    TOEC_R_ABORTED = 103,    /* ECONNABORTED: reset by our own side (abort, host death) */
    TOEC_R_RESET = 104,      /* ECONNRESET */
    TOEC_R_NOBUFS = 105,     /* ENOBUFS: pool exhausted */
    TOEC_R_TIMEDOUT = 110,   /* ETIMEDOUT */
    TOEC_R_REFUSED = 111,    /* ECONNREFUSED */
    TOEC_R_HOSTUNREACH = 113 /* EHOSTUNREACH */
};

/* Tells the owner. `flow` is the handle for commands; after TOEC_EV_GONE it is invalid. */
void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg);

#ifdef __cplusplus
}
#endif

#endif
