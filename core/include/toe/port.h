/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.h - what core/ needs from the program that embeds it. These functions, memcpy and memset
 * (which C compilers call by themselves) are the only undefined symbols of core/; a test compares
 * this header with the symbol table (SEEDS S4.1).
 *
 * core/ owns no thread, clock, memory or packet. It calls these functions synchronously within
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
 * bytes) and never touches payload; payload is identified by its offset from the start of the
 * frame. `opaque` is the integrator's buffer (rte_mbuf, umem frame, ...); core/ passes it through.
 * Priority tags (802.1Q, VLAN ID 0) may follow the addresses. Frames with a VLAN ID are dropped: an
 * integrator in a VLAN removes its tag.
 */
struct toec_packet {
    const toec_u8 *data;
    toec_u32 head_len; /* contiguous bytes at data; must cover all headers */
    toec_u32 len;      /* length of the whole frame, >= head_len */
    toec_u32 flags;    /* TOEC_RX_* */
    void *opaque;
};

#define TOEC_RX_L4_CSUM_OK 1u /* the NIC or a trusted wire has verified the TCP/UDP checksum */
#define TOEC_RX_IP_CSUM_OK 2u /* ... and the IPv4 header checksum */
/*
 * Set only by core/: a datagram that core/ has reassembled. The whole frame is contiguous at data
 * (head_len == len) in memory of core/, opaque is 0. toec_port_place() and toec_port_transmit()
 * read such a packet from data; toec_port_checksum() and toec_port_copy() are not called for it.
 */
#define TOEC_RX_REASSEMBLED 4u
#define TOEC_RX_LOCAL       8u /* the stack's own frame, looped back: see toec_tx.local */

/*
 * A frame to send: `hdr_len` header bytes built by core/, followed by `len` payload bytes taken
 * from one of two places: the send stream of `owner` from stream offset `off` (src == 0), or a
 * received packet `src` from frame offset `off` (ICMP echo).
 *
 * Checksum as in virtio: when csum_start is not 0, the 16-bit word at csum_start + csum_offset
 * holds the folded pseudo-header sum, not complemented. The integrator (or its NIC) sums from
 * csum_start to the end of the frame and stores the complement there. toec_tx_finish() of core.h
 * does it in software.
 *
 * Segmentation: when gso_size is not 0, len may exceed it, and the integrator (or its NIC) splits
 * the payload into segments of gso_size bytes as TSO does. The header, its total length and the
 * pseudo-header sum are those of the frame as a whole. core/ sets gso_size only when
 * toec_config.max_gso is not 0.
 *
 * Loopback: when local is not 0, the frame is for an address of the stack itself and must not be
 * sent. The integrator keeps a copy and later passes it to toec_input() with TOEC_RX_LOCAL and the
 * flags of verified checksums, not from within toec_port_transmit(). core/ sends such frames only
 * when toec_config.local is not 0.
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
 * Sends or queues one frame. tx and hdr are valid during the call only. Returns 0, or -1 when there
 * is no room now: core/ keeps the work pending and tries again at the next toec_poll(). Frames
 * without a flow, such as RST and ICMP, are then dropped and counted.
 */
int toec_port_transmit(void *user, const struct toec_tx *tx);

/*
 * Copies `len` payload bytes of p, from frame offset p_off, into the receive stream of `owner` at
 * stream offset `off` (first byte after SYN = 0, modulo 2^32). Bytes may come out of order and may
 * repeat earlier ones, but always within the window that core/ has advertised, and so within the
 * receive buffer.
 */
void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len);

/*
 * Returns the checksum of payload: the ones' complement sum of the bytes [p_off, p_off + len) of
 * the frame, folded to 16 bits and not complemented, in the byte order of the machine as if the
 * bytes were read as native 16-bit words starting at p_off. toec_sum() of core.h does it in
 * software.
 */
toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len);

/* Copies payload out of a packet (fragments for reassembly). */
void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len);

/* The addresses of a passive open, and the buffers it receives. */
struct toec_open {
    struct toec_addr local, remote;
    toec_u16 local_port, remote_port;
    toec_u32 hash; /* keyed hash of the 4-tuple, to distribute flows over queue pairs */
};

struct toec_buffers {
    void *owner;      /* passed to every call about this flow */
    toec_u32 tx_size; /* bytes of send buffer; power of two, 1 KiB..16 MiB */
    toec_u32 rx_size; /* bytes of receive buffer; power of two, 1 KiB..16 MiB */
};

/*
 * Requests a flow from listener `listener_owner`, for a SYN or the ACK of a SYN cookie. Fills *out
 * and returns 0; or returns -1 to refuse (no slot, backlog full, no listening process). The segment
 * is then dropped silently and counted, as Linux does with a full accept queue.
 */
int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out);

/*
 * ---- on a link that another stack manages: only of stacks with toec_config.link ----
 *
 * The other stack (a host's kernel) has the same addresses. It answers ARP and neighbour discovery,
 * claims and defends the addresses, and knows routes and neighbours. core/ then sends no such
 * packets.
 */
struct toec_link_ops {
    /* Returns 0 with the next hop towards dst in *hop (which may be dst), or -1: no route. */
    int (*route)(void *user, const struct toec_addr *dst, struct toec_addr *hop);
    /* Resolves the Ethernet address of a neighbour, or verifies that it is still reachable: the
     * answer is a later toec_neighbour(). Repeated when no answer arrives within a second, three
     * times in all. */
    void (*ask)(void *user, const struct toec_addr *addr);
};

/* ---- UDP: only of stacks with toec_config.max_udp ---- */

/* A datagram for an endpoint, checked and complete. Valid during the call. */
struct toec_udp_in {
    struct toec_addr src, dst;
    toec_u16 sport, dport;
    toec_u8 ttl, tos; /* or hop limit and traffic class */
    toec_u32 mtu;     /* of the interface it arrived on */
    const struct toec_packet *pkt;
    toec_u32 off, len; /* of the payload in the frame (also in a reassembled one) */
};

/* An ICMP error about a datagram of the endpoint: a soft error, the endpoint is unchanged (RFC
 * 1122 4.1.3.3). */
struct toec_udp_err {
    struct toec_addr remote;
    toec_u16 remote_port;
    toec_u16 reason;    /* TOEC_R_REFUSED, _HOSTUNREACH, _MSGSIZE ... */
    toec_u8 type, code; /* of ICMP for IPv4; those of ICMPv6 are translated */
    toec_u32 mtu;       /* with _MSGSIZE: the path MTU */
};

struct toec_udp_ops {
    void (*receive)(void *user, void *owner, const struct toec_udp_in *d);
    void (*error)(void *user, void *owner, const struct toec_udp_err *e);
};

/*
 * ---- TCP-AO (ao.h): only of stacks with toec_config.max_ao_keys ----
 *
 * The MAC of a segment covers its payload, which core/ does not touch. These functions read it:
 * each calls toec_ao_feed(mac, ...) with all `len` bytes in order, at once or in pieces.
 */
struct toec_ao_ops {
    /* Reads bytes of the send stream of `owner` from offset `off`. toec_port_transmit() is called
     * with the same bytes next; they must not change in between. */
    void (*sent)(void *user, void *owner, toec_u32 off, toec_u32 len, struct toec_mac *mac);
    /* Reads payload of p from frame offset `off`. Not called for TOEC_RX_REASSEMBLED. */
    void (*received)(void *user, const struct toec_packet *p, toec_u32 off, toec_u32 len,
                     struct toec_mac *mac);
};

/*
 * ---- headers built by the integrator: only of stacks with toec_config.segments ----
 *
 * A segment of an established flow without its headers. They differ from the headers of the flow's
 * latest frame of toec_port_transmit(), with the same mac and hops, in these fields alone:
 *
 * - of IP: the total length (IPv6: payload length), the TOS octet (traffic class), and the IPv4
 *   header's checksum. DF is set and the ID of IPv4 is 0.
 * - of TCP: sequence number, acknowledgement, flags, window, checksum. The urgent pointer is 0.
 * With `stamps` the options are NOP, NOP, Timestamps (RFC 7323 appendix A), else there is none.
 *
 * So an integrator keeps the constant part of that frame for each flow. It checks in that frame
 * that the IPv4 header has DF.
 *
 * A burst: with toec_tx_segment_ops.bursts and toec_config.max_gso, `len` may exceed `mss`. The
 * integrator cuts the payload into segments of mss bytes, of which the last may have fewer; PSH and
 * FIN of `flags` belong to the last one. CWR is not among the flags.
 */
struct toec_tx_segment {
    void *owner;
    const toec_u8 *mac; /* of the next hop: the frame's destination */
    toec_u32 off, len;  /* payload: bytes of the send stream */
    toec_u32 mss;       /* most payload of one segment */
    toec_u32 seq, ack;
    toec_u32 ts_val, ts_ecr;
    toec_u16 wnd;
    toec_u8 flags, tos;
    toec_u8 hops;   /* TTL or hop limit */
    toec_u8 stamps; /* not 0: with timestamps */
};

/* What toec_tx_segment_ops.send() returns when it leaves the headers to core/. */
#define TOEC_SEGMENT_BUILD 1

struct toec_tx_segment_ops {
    /* Sends or queues the segment. It is valid during the call only. Returns 0; -1 when there is no
     * room now, as toec_port_transmit() does; or TOEC_SEGMENT_BUILD, and core/ then calls
     * toec_port_transmit() for the same segment, or burst. Called neither for segments with other
     * options, nor for those of toec_tx.local. */
    int (*send)(void *user, const struct toec_tx_segment *g);
    /* not 0: bursts, too; else these come as frames with gso_size */
    toec_u32 bursts;
};

/*
 * ---- headers read by the integrator: toec_input_flow() of core.h ----
 *
 * The fields of a received segment, and the frame that it came in. The integrator has verified of
 * this frame:
 *
 * - Its destination is the stack's Ethernet address, and IP follows without a tag.
 * - IPv4: version, no options, no fragment, the checksum of the header. IPv6: version, TCP is the
 *   next header. The frame has all bytes that the header counts.
 * - TCP: the checksum; ACK is set, SYN, RST and URG are not; the header is within the segment and
 *   has no options, or NOP, NOP, Timestamps alone (RFC 7323 appendix A).
 */
struct toec_rx_segment {
    const struct toec_packet *pkt;
    const toec_u8 *remote, *local; /* addresses: 4 or 16 bytes in network byte order */
    const toec_u8 *header;         /* TCP's */
    toec_u32 seq, ack;
    toec_u32 ts_val, ts_ecr; /* with `stamps` */
    toec_u32 off, len;       /* payload: offset in the frame, bytes */
    toec_u16 remote_port, local_port;
    toec_u16 wnd;
    toec_u8 flags; /* of TCP */
    toec_u8 tos;   /* or traffic class */
    toec_u8 v6;
    toec_u8 stamps;
};

/* Events reported to the owner of a flow. */
enum toec_event {
    TOEC_EV_ESTABLISHED = 1, /* handshake done (active or passive) */
    TOEC_EV_DATA,            /* arg more bytes are in order in the receive stream */
    TOEC_EV_ACKED, /* arg more bytes of the send stream acknowledged; their room is reusable */
    TOEC_EV_PEER_CLOSED, /* FIN in order: end of the receive stream */
    TOEC_EV_ERROR,       /* soft error, arg = reason (ICMP unreachable, kept as SO_ERROR) */
    TOEC_EV_URGENT, /* arg = stream offset behind the peer's urgent data, which may not have arrived
                     * yet; repeated when the offset advances */
    TOEC_EV_GONE /* last event: buffers and owner are no longer used. arg = reason: TOEC_R_OK after
                  * both directions closed (TIME-WAIT continues in core/ without buffers), else the
                  * cause (also for failed connects and for passive opens that never completed) */
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

/* Reports an event to the owner. `flow` is the handle for commands; it is invalid after
 * TOEC_EV_GONE. */
void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg);

#ifdef __cplusplus
}
#endif

#endif
