/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h - the 128-bit command of the device contract (docs/device-contract.md, Command; S1.11).
 * Made by device/gen_commands.py from device/commands.json; change those, not this file.
 *
 *   bits   0-7 type, 8-14 flags, 15 phase, 16-31 aux, 32-63 flow, 64-95 arg0, 96-127 arg1
 *
 * A command is little endian in memory. Ports and addresses are numbers: port 80 is 80, IPv4
 * 10.0.0.1 is 0x0a000001 (toe_ip4_number()). Flags that a type does not name must be 0.
 */
/* clang-format off */
#ifndef TOE_CMD_H
#define TOE_CMD_H

#include <stdint.h>

#define TOE_CMD_VERSION 1u

/* SW: host to TOE (1..127). HW: TOE to host (129..255). */
enum toe_cmd_type {
    /* aux port, flow listener id (host's choice), arg0 IPv4 address (0 any of IPv4) or address-
     * table index with V6 (all zero: any of both families, with V6ONLY of IPv6 alone), arg1
     * backlog. WEAK: its process does not wait for a connection; flows wait without a
     * notification, for the queue pair that clears WEAK first. Again with an id in use, for the
     * same address and port: changes backlog and WEAK, keeps its flows */
    TOE_CMD_LISTEN = 1,
    /* flow listener id; flows not yet accepted are reset, accepted ones stay */
    TOE_CMD_UNLISTEN = 2,
    /* aux port, flow cookie, arg0 IPv4 address or address-table index with V6, arg1 local port,
     * 0 for one that the TOE chooses, or first | last << 16 for one that it chooses in that
     * range (last not 0). FAST: Fast Open (RFC 7413): when data may go with the SYN,
     * CONNECT_READY names the flow before the SEND passes, and the SYN waits for its first SEND;
     * else as without FAST, and a Fast Open cookie is asked for. NOCOOKIE, with FAST: data may
     * go with the SYN without a cookie */
    TOE_CMD_CONNECT = 3,
    /* flow, arg0 bytes in the send buffer after those announced before; 0 only where a SYN waits
     * for data. URGENT: the last of them ends urgent data (RFC 9293 3.8.5). EOR, only if the
     * welcome has TOEDEV_WELCOME_EOR: the last of them ends a record, and no segment holds bytes
     * of both sides; TOEDEV_EOR_MAX boundaries are kept in data not acknowledged */
    TOE_CMD_SEND = 4,
    /* flow, arg0 bytes read; room may be reused */
    TOE_CMD_RECV = 5,
    /* flow; full close, shutdown of sending (HALF), or reset (ABORT). After a full close or a
     * reset only the final CLOSE_EVENT follows */
    TOE_CMD_CLOSE = 6,
    /* flow, aux option, arg0 value. CONNECT: flow is the cookie of a CONNECT that has no answer
     * yet (crosses it: ignored). LISTEN: flow is a listener id; arg1 for the options that name
     * it */
    TOE_CMD_OPTION = 7,
    /* flow; the application took it: it leaves the listener's backlog */
    TOE_CMD_ACCEPT = 8,
    /* flow; after the final CLOSE_EVENT: the slot may be used again */
    TOE_CMD_RELEASE = 9,
    /* flow cookie of a CONNECT: it is given up. Its answer is CONNECT_FAILED with ABORTED,
     * unless it has been answered already: then the CANCEL is ignored */
    TOE_CMD_CANCEL = 10,
    /* aux port, flow host's choice, arg0 as of LISTEN: may a socket be bound there? ERROR with
     * ADDRINUSE when a connection of the TOE, one in TIME-WAIT too, conflicts by the rules of
     * bind(2) of Linux: each must permit others in one of the ways that the flags name (OPTION
     * REUSE). The TOE stores nothing */
    TOE_CMD_BIND = 11,
    /* flow cookie of a CONNECT without an answer: CONNECT_PORT names its local port. Ignored if
     * it crosses the answer */
    TOE_CMD_PORT = 12,
    /* flow, aux peer port, arg0 peer IPv4 (0: see the flow record), arg1 listener id */
    TOE_CMD_LISTEN_ESTABLISHED = 129,
    /* flow, aux local port, arg0 cookie */
    TOE_CMD_CONNECT_ESTABLISHED = 130,
    /* aux reason, arg0 cookie, arg1 local port of the attempt or 0; no slot is held */
    TOE_CMD_CONNECT_FAILED = 131,
    /* flow, arg0 bytes more in order, arg1 when it is written: CLOCK_MONOTONIC in units of 1,024
     * ns, modulo 2^32; 0: not said */
    TOE_CMD_DATA_RECEIVED = 132,
    /* flow, arg0 bytes more acknowledged */
    TOE_CMD_SEND_COMPLETE = 133,
    /* flow, aux reason; HALF: the peer closed its side; else final: flow gone, RELEASE the slot */
    TOE_CMD_CLOSE_EVENT = 134,
    /* aux reason, flow as in the refused command, arg0 its ring position, arg1 its type; nothing
     * else happened */
    TOE_CMD_ERROR = 135,
    /* flow, arg0 cookie, arg1 bytes that the SYN carries at most: answer to a CONNECT with FAST;
     * written before the tail passes the CONNECT. SEND, OPTION and CLOSE may follow; then
     * CONNECT_ESTABLISHED or the final CLOSE_EVENT */
    TOE_CMD_CONNECT_READY = 136,
    /* flow, arg0 stream offset behind the peer's urgent data, which may not have arrived yet;
     * before the DATA_RECEIVED with it */
    TOE_CMD_URGENT = 137,
    /* answer to PORT: aux local port, arg0 cookie; flow the slot whose record has the local
     * address. The slot is not the host's yet */
    TOE_CMD_CONNECT_PORT = 138
};

/* Flags, as toe_cmd_make() takes them. _ALL: every flag the type knows. */
#define TOE_F_LISTEN_V6 0x01u
#define TOE_F_LISTEN_WEAK 0x02u
#define TOE_F_LISTEN_V6ONLY 0x04u
#define TOE_F_LISTEN_ALL 0x07u
#define TOE_F_UNLISTEN_ALL 0x00u
#define TOE_F_CONNECT_V6 0x01u
#define TOE_F_CONNECT_FAST 0x02u
#define TOE_F_CONNECT_NOCOOKIE 0x04u
#define TOE_F_CONNECT_ALL 0x07u
#define TOE_F_SEND_PUSH 0x01u
#define TOE_F_SEND_URGENT 0x02u
#define TOE_F_SEND_EOR 0x04u
#define TOE_F_SEND_ALL 0x07u
#define TOE_F_RECV_ALL 0x00u
#define TOE_F_CLOSE_HALF 0x01u
#define TOE_F_CLOSE_ABORT 0x02u
#define TOE_F_CLOSE_ALL 0x03u
#define TOE_F_OPTION_CONNECT 0x01u
#define TOE_F_OPTION_LISTEN 0x02u
#define TOE_F_OPTION_ALL 0x03u
#define TOE_F_ACCEPT_ALL 0x00u
#define TOE_F_RELEASE_ALL 0x00u
#define TOE_F_CANCEL_ALL 0x00u
#define TOE_F_BIND_V6 0x01u
#define TOE_F_BIND_V6ONLY 0x02u
#define TOE_F_BIND_REUSEADDR 0x04u
#define TOE_F_BIND_REUSEPORT 0x08u
#define TOE_F_BIND_ALL 0x0fu
#define TOE_F_PORT_ALL 0x00u
#define TOE_F_LISTEN_ESTABLISHED_ALL 0x00u
#define TOE_F_CONNECT_ESTABLISHED_ALL 0x00u
#define TOE_F_CONNECT_FAILED_ALL 0x00u
#define TOE_F_DATA_RECEIVED_ALL 0x00u
#define TOE_F_SEND_COMPLETE_ALL 0x00u
#define TOE_F_CLOSE_EVENT_HALF 0x01u
#define TOE_F_CLOSE_EVENT_ALL 0x01u
#define TOE_F_ERROR_ALL 0x00u
#define TOE_F_CONNECT_READY_ALL 0x00u
#define TOE_F_URGENT_ALL 0x00u
#define TOE_F_CONNECT_PORT_ALL 0x00u

/* Option numbers of OPTION (aux). */
enum toe_option {
    /* 0 or 1 */
    TOE_OPT_NODELAY = 1,
    /* 0 or 1 */
    TOE_OPT_KEEPALIVE = 2,
    /* seconds, 1..32767 */
    TOE_OPT_KEEPIDLE = 3,
    /* seconds, 1..32767 */
    TOE_OPT_KEEPINTVL = 4,
    /* 1..127 */
    TOE_OPT_KEEPCNT = 5,
    /* congestion control: 0 CUBIC, 1 NewReno, 2 DCTCP, 3 BBR version 3, 4 BBR version 1 */
    TOE_OPT_CC = 6,
    /* milliseconds, 0: default */
    TOE_OPT_USER_TIMEOUT = 7,
    /* 0 or 1 */
    TOE_OPT_CORK = 8,
    /* 0 or 1 */
    TOE_OPT_QUICKACK = 9,
    /* seconds of FIN-WAIT-2 after a full close */
    TOE_OPT_LINGER2 = 10,
    /* retransmissions of the SYN, 1..127; 0: default */
    TOE_OPT_SYNCNT = 20,
    /* seconds of user timeout to advertise (RFC 5482), 0: not, at most 1966020 */
    TOE_OPT_ADV_UTO = 21,
    /* of a listener: flows at once that Fast Open has opened and whose handshake is not over; 0:
     * off. arg1 not 0: without cookies */
    TOE_OPT_FASTOPEN = 22,
    /* of a listener: arg0, arg1 are 8 bytes, little endian, of its Fast Open keys, the next ones
     * after those said before */
    TOE_OPT_FASTOPEN_KEY = 23,
    /* of a listener: the arg0 keys said by FASTOPEN_KEY are in use, 1 or 2; 0: the TOE's own */
    TOE_OPT_FASTOPEN_KEYS = 24,
    /* of a listener: 0..255; its flows are established with their first data or FIN, or when the
     * timer of the SYN-ACK has expired so often; 0: at once */
    TOE_OPT_DEFER_ACCEPT = 25,
    /* bytes per second at most; 0 or 0xffffffff: no limit */
    TOE_OPT_MAX_PACING = 30,
    /* not 0: the flow record is current whenever SEND_COMPLETE is announced, so that the host
     * knows how much is not sent (TCP_NOTSENT_LOWAT); 0: it may be 20 ms old */
    TOE_OPT_NOTSENT_LOWAT = 31,
    /* as IP_MTU_DISCOVER: 0 no DF, 1 and 2 path MTU discovery, 3 DF but no cache of path MTUs, 4
     * and 5 as large as the link takes */
    TOE_OPT_MTU_DISCOVER = 40,
    /* bytes of payload and options in a segment at most, 88..32767, announced to the peer where
     * the SYN is yet to come; 0: no bound */
    TOE_OPT_MAXSEG = 41,
    /* which other sockets may bind to the port while the connection exists, and then in TIME-
     * WAIT: 1 SO_REUSEADDR, 2 SO_REUSEPORT, 3 both, 0 none; see BIND */
    TOE_OPT_REUSE = 44,
    /* TOS or Traffic Class, 0..255; its ECN field is not used */
    TOE_OPT_TOS = 42,
    /* 1 off, 2 asked for and granted, 3 granted when asked; where the SYN is yet to come */
    TOE_OPT_ECN = 43
};

/* Reasons of CONNECT_FAILED, CLOSE_EVENT, ERROR and status.halted: Linux's errno numbers. */
enum toe_reason {
    TOE_R_OK = 0,
    /* no listener has this id */
    TOE_R_NOENT = 2,
    /* no flow of this queue pair has this slot */
    TOE_R_BADF = 9,
    /* a field or flag outside its range */
    TOE_R_INVAL = 22,
    /* no such command type */
    TOE_R_NOSYS = 38,
    /* the ring was broken: head or tail out of range, phase wrong; the queue pair is halted */
    TOE_R_PROTO = 71,
    /* more bytes than the buffer has room for or holds */
    TOE_R_MSGSIZE = 90,
    /* no such option, or not this value */
    TOE_R_NOPROTOOPT = 92,
    /* address family not carried */
    TOE_R_AFNOSUPPORT = 97,
    /* listener id or local port in use */
    TOE_R_ADDRINUSE = 98,
    /* not an address of the TOE, or no local port left */
    TOE_R_ADDRNOTAVAIL = 99,
    /* off link and no gateway */
    TOE_R_NETUNREACH = 101,
    /* reset by our own side */
    TOE_R_ABORTED = 103,
    /* reset by the peer */
    TOE_R_RESET = 104,
    /* no slot, flow or listener left */
    TOE_R_NOBUFS = 105,
    /* the flow's state does not permit the command */
    TOE_R_NOTCONN = 107,
    /* the peer did not answer */
    TOE_R_TIMEDOUT = 110,
    /* it was not accepted yet: another listener of the port has the connection now */
    TOE_R_STALE = 116,
    /* the peer refused the connection */
    TOE_R_REFUSED = 111,
    /* the network reported it unreachable */
    TOE_R_HOSTUNREACH = 113
};

struct toe_cmd {
    uint64_t w[2]; /* little endian; w[0] carries the phase and is stored last (ring.h) */
} __attribute__((aligned(16)));
_Static_assert(sizeof(struct toe_cmd) == 16, "a command is 128 bits");
_Static_assert(_Alignof(struct toe_cmd) == 16, "no command crosses a cache line");

#define TOE_CMD_FLAGS 0x7fu          /* the seven flag bits, as flags are passed below */
#define TOE_CMD_PHASE (1ull << 15)   /* in the host's order of w[0] */

static inline uint64_t toe_le64(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(v);
#else
    return v;
#endif
}

/* A command with phase 0; the ring sets the phase. */
static inline struct toe_cmd toe_cmd_make(uint8_t type, uint8_t flags, uint16_t aux, uint32_t flow,
                                          uint32_t arg0, uint32_t arg1)
{
    struct toe_cmd c;

    c.w[0] = toe_le64((uint64_t)type | (uint64_t)(flags & TOE_CMD_FLAGS) << 8 |
                      (uint64_t)aux << 16 | (uint64_t)flow << 32);
    c.w[1] = toe_le64((uint64_t)arg0 | (uint64_t)arg1 << 32);
    return c;
}

static inline uint8_t toe_cmd_type(const struct toe_cmd *c)
{
    return (uint8_t)toe_le64(c->w[0]);
}
static inline uint8_t toe_cmd_flags(const struct toe_cmd *c)
{
    return (uint8_t)(toe_le64(c->w[0]) >> 8) & TOE_CMD_FLAGS;
}
static inline unsigned toe_cmd_phase(const struct toe_cmd *c)
{
    return (unsigned)(toe_le64(c->w[0]) >> 15) & 1u;
}
static inline uint16_t toe_cmd_aux(const struct toe_cmd *c)
{
    return (uint16_t)(toe_le64(c->w[0]) >> 16);
}
static inline uint32_t toe_cmd_flow(const struct toe_cmd *c)
{
    return (uint32_t)(toe_le64(c->w[0]) >> 32);
}
static inline uint32_t toe_cmd_arg0(const struct toe_cmd *c)
{
    return (uint32_t)toe_le64(c->w[1]);
}
static inline uint32_t toe_cmd_arg1(const struct toe_cmd *c)
{
    return (uint32_t)(toe_le64(c->w[1]) >> 32);
}

/* IPv4 address: four bytes in network order to and from the number commands carry. */
static inline uint32_t toe_ip4_number(const uint8_t b[4])
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}
static inline void toe_ip4_bytes(uint32_t number, uint8_t b[4])
{
    b[0] = (uint8_t)(number >> 24);
    b[1] = (uint8_t)(number >> 16);
    b[2] = (uint8_t)(number >> 8);
    b[3] = (uint8_t)number;
}

_Static_assert((TOE_F_LISTEN_ALL & ~TOE_CMD_FLAGS) == 0, "LISTEN flags");
_Static_assert((TOE_F_UNLISTEN_ALL & ~TOE_CMD_FLAGS) == 0, "UNLISTEN flags");
_Static_assert((TOE_F_CONNECT_ALL & ~TOE_CMD_FLAGS) == 0, "CONNECT flags");
_Static_assert((TOE_F_SEND_ALL & ~TOE_CMD_FLAGS) == 0, "SEND flags");
_Static_assert((TOE_F_RECV_ALL & ~TOE_CMD_FLAGS) == 0, "RECV flags");
_Static_assert((TOE_F_CLOSE_ALL & ~TOE_CMD_FLAGS) == 0, "CLOSE flags");
_Static_assert((TOE_F_OPTION_ALL & ~TOE_CMD_FLAGS) == 0, "OPTION flags");
_Static_assert((TOE_F_ACCEPT_ALL & ~TOE_CMD_FLAGS) == 0, "ACCEPT flags");
_Static_assert((TOE_F_RELEASE_ALL & ~TOE_CMD_FLAGS) == 0, "RELEASE flags");
_Static_assert((TOE_F_CANCEL_ALL & ~TOE_CMD_FLAGS) == 0, "CANCEL flags");
_Static_assert((TOE_F_BIND_ALL & ~TOE_CMD_FLAGS) == 0, "BIND flags");
_Static_assert((TOE_F_PORT_ALL & ~TOE_CMD_FLAGS) == 0, "PORT flags");
_Static_assert((TOE_F_LISTEN_ESTABLISHED_ALL & ~TOE_CMD_FLAGS) == 0, "LISTEN_ESTABLISHED flags");
_Static_assert((TOE_F_CONNECT_ESTABLISHED_ALL & ~TOE_CMD_FLAGS) == 0, "CONNECT_ESTABLISHED flags");
_Static_assert((TOE_F_CONNECT_FAILED_ALL & ~TOE_CMD_FLAGS) == 0, "CONNECT_FAILED flags");
_Static_assert((TOE_F_DATA_RECEIVED_ALL & ~TOE_CMD_FLAGS) == 0, "DATA_RECEIVED flags");
_Static_assert((TOE_F_SEND_COMPLETE_ALL & ~TOE_CMD_FLAGS) == 0, "SEND_COMPLETE flags");
_Static_assert((TOE_F_CLOSE_EVENT_ALL & ~TOE_CMD_FLAGS) == 0, "CLOSE_EVENT flags");
_Static_assert((TOE_F_ERROR_ALL & ~TOE_CMD_FLAGS) == 0, "ERROR flags");
_Static_assert((TOE_F_CONNECT_READY_ALL & ~TOE_CMD_FLAGS) == 0, "CONNECT_READY flags");
_Static_assert((TOE_F_URGENT_ALL & ~TOE_CMD_FLAGS) == 0, "URGENT flags");
_Static_assert((TOE_F_CONNECT_PORT_ALL & ~TOE_CMD_FLAGS) == 0, "CONNECT_PORT flags");

/* The name for people; 0 for a number that has none. */
static inline const char *toe_cmd_name(unsigned number)
{
    switch (number) {
    case TOE_CMD_LISTEN: return "LISTEN";
    case TOE_CMD_UNLISTEN: return "UNLISTEN";
    case TOE_CMD_CONNECT: return "CONNECT";
    case TOE_CMD_SEND: return "SEND";
    case TOE_CMD_RECV: return "RECV";
    case TOE_CMD_CLOSE: return "CLOSE";
    case TOE_CMD_OPTION: return "OPTION";
    case TOE_CMD_ACCEPT: return "ACCEPT";
    case TOE_CMD_RELEASE: return "RELEASE";
    case TOE_CMD_CANCEL: return "CANCEL";
    case TOE_CMD_BIND: return "BIND";
    case TOE_CMD_PORT: return "PORT";
    case TOE_CMD_LISTEN_ESTABLISHED: return "LISTEN_ESTABLISHED";
    case TOE_CMD_CONNECT_ESTABLISHED: return "CONNECT_ESTABLISHED";
    case TOE_CMD_CONNECT_FAILED: return "CONNECT_FAILED";
    case TOE_CMD_DATA_RECEIVED: return "DATA_RECEIVED";
    case TOE_CMD_SEND_COMPLETE: return "SEND_COMPLETE";
    case TOE_CMD_CLOSE_EVENT: return "CLOSE_EVENT";
    case TOE_CMD_ERROR: return "ERROR";
    case TOE_CMD_CONNECT_READY: return "CONNECT_READY";
    case TOE_CMD_URGENT: return "URGENT";
    case TOE_CMD_CONNECT_PORT: return "CONNECT_PORT";
    default: return 0;
    }
}

/* The name for people; 0 for a number that has none. */
static inline const char *toe_reason_name(unsigned number)
{
    switch (number) {
    case TOE_R_OK: return "OK";
    case TOE_R_NOENT: return "NOENT";
    case TOE_R_BADF: return "BADF";
    case TOE_R_INVAL: return "INVAL";
    case TOE_R_NOSYS: return "NOSYS";
    case TOE_R_PROTO: return "PROTO";
    case TOE_R_MSGSIZE: return "MSGSIZE";
    case TOE_R_NOPROTOOPT: return "NOPROTOOPT";
    case TOE_R_AFNOSUPPORT: return "AFNOSUPPORT";
    case TOE_R_ADDRINUSE: return "ADDRINUSE";
    case TOE_R_ADDRNOTAVAIL: return "ADDRNOTAVAIL";
    case TOE_R_NETUNREACH: return "NETUNREACH";
    case TOE_R_ABORTED: return "ABORTED";
    case TOE_R_RESET: return "RESET";
    case TOE_R_NOBUFS: return "NOBUFS";
    case TOE_R_NOTCONN: return "NOTCONN";
    case TOE_R_TIMEDOUT: return "TIMEDOUT";
    case TOE_R_STALE: return "STALE";
    case TOE_R_REFUSED: return "REFUSED";
    case TOE_R_HOSTUNREACH: return "HOSTUNREACH";
    default: return 0;
    }
}

#endif
