/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsock.h - the data of a socket that the TOE carries or may carry. Grouped by access path: the
 * first two cache lines hold all that send and receive touch. Lock held.
 */
#ifndef LIBTOE_TSOCK_H
#define LIBTOE_TSOCK_H

#include "fdtab.h"
#include "libtoe.h"

struct tqp;
struct tzc;

enum tsock_state {
    TS_NEW,        /* kernel socket; its carrier is not decided yet */
    TS_SHARED,     /* a Unix socket to a flow that other processes use too (share.h) */
    TS_LISTEN,     /* the TOE listens for it; with .dual the kernel too */
    TS_CONNECTING, /* CONNECT sent, no answer yet */
    TS_OPEN,       /* a flow; see eof, shut */
    TS_DEAD,       /* the flow has ended, or never began; error has the reason */
    TS_FOREIGN     /* a connection of the process this one was forked from */
};

#define TEOF_FIN 1u /* FIN received */
#define TEOF_END 2u /* the flow ended without one */

#define TSHUT_RD 1u /* shutdown(SHUT_RD) here */
#define TSHUT_WR 2u /* shutdown(SHUT_WR) here: FIN requested */

#define TKEPT_MAX 10 /* different options that a connection can store (keptopt.h) */

/* The values of setsockopt(); zero is the system's default unless noted. */
struct tsock_opts {
    uint8_t nodelay, keepalive, cork, linger_on;
    uint8_t reuseaddr, reuseport, v6only;
    uint8_t quickack; /* TCP_QUICKACK as set: 1 off, 2 on; 0: not set, which reads as on */
    int32_t linger_s;
    int32_t keepidle, keepintvl, keepcnt; /* seconds, seconds, count */
    int32_t user_timeout;                 /* milliseconds */
    int32_t linger2;                      /* seconds */
    int32_t syncnt;                       /* 0: default */
    int32_t uto;                          /* seconds to advertise; 0: none */
    uint32_t notsent_lowat;               /* bytes; 0: no bound */
    int32_t fastopen;                     /* of a listener: TCP_FASTOPEN */
    uint8_t fastopen_connect, fastopen_no_cookie;
    uint8_t fastopen_keys; /* 0, 1 or 2 in fastopen_key */
    uint8_t oobinline;
    uint8_t defer;    /* TCP_DEFER_ACCEPT, in expiries of the SYN-ACK's timer */
    uint8_t zerocopy; /* SO_ZEROCOPY */
    uint8_t fastopen_key[32];
    /* Of IPv4, of IPv6: IP_TOS and IPV6_TCLASS; 0 default, else 1 + IP_MTU_DISCOVER and
     * IPV6_MTU_DISCOVER. A connection has those of its packets' family. */
    uint8_t tos[2], discover[2];
    uint16_t maxseg;             /* TCP_MAXSEG, 0: none */
    uint32_t cc;                 /* 0 default, else 1 + the value of TOE_OPT_CC */
    uint8_t inq;                 /* TCP_INQ */
    uint8_t stamps;              /* TSTAMP_* (ancillary.h) */
    uint32_t timestamping;       /* SO_TIMESTAMPING: SOF_TIMESTAMPING_* */
    uint64_t max_pacing;         /* bytes per second, 0: no limit */
    uint64_t rcvtimeo, sndtimeo; /* nanoseconds, 0: no limit */
    int32_t kept_value[TKEPT_MAX];
    uint16_t kept_key[TKEPT_MAX]; /* level and name; 0: unused, and all after it */
};

/* Record boundaries that the peer has not acknowledged (eor.h), in two groups. */
struct teor {
    uint32_t end[2]; /* stream offset of the last boundary of the group */
    uint8_t n[2];    /* boundaries; the second group follows the first */
};

/* When received bytes that are not read yet came (ancillary.h). */
#define TRXTIMES 6
struct trxtimes {
    uint32_t end[TRXTIMES]; /* stream offsets */
    uint32_t at[TRXTIMES];  /* as DATA_RECEIVED gives it */
    uint8_t n;
};

/* A search of ephemeral ports (port_search.h). */
struct tport_search {
    uint16_t first; /* of the range */
    uint16_t at;    /* the next port, counted from first */
    uint32_t count; /* ports of the range */
    uint32_t left;  /* those not returned yet */
};

/* Urgent data (urgent.h). */
enum toob { TOOB_NONE, TOOB_ANNOUNCED /* not received yet */, TOOB_VALID, TOOB_READ };

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): grouped by access */
struct tsock {
    struct tobj obj; /* first: a tobj of kind TOBJ_SOCK is a tsock */

    /* data path: with obj, the first two cache lines hold all that recv and send touch */
    uint8_t state; /* enum tsock_state */
    uint8_t eof;   /* TEOF_*: the stream ends after rx_avail bytes */
    uint8_t shut;  /* TSHUT_* */
    uint8_t nonblock;
    bool timed;             /* a tool times its exchanges (stamps.h) */
    uint8_t v6;             /* created as AF_INET6: names are sockaddr_in6, v4-mapped for IPv4 */
    uint8_t accepted;       /* the connection was returned by accept() */
    uint8_t oob;            /* enum toob: there is a mark, at oob_pos */
    int32_t error;          /* pending SO_ERROR, an errno */
    uint32_t slot;          /* in qp */
    struct tqp *qp;         /* NULL unless TS_CONNECTING or while a flow holds a slot */
    uint8_t *rx, *tx;       /* the slot's buffers */
    uint32_t rx_pos;        /* stream offset of the next byte to read, modulo 2^32 */
    uint32_t rx_avail;      /* bytes to read */
    uint32_t rx_unreported; /* bytes read for which no RECV has been sent */
    uint32_t rx_mask, tx_mask;
    uint32_t tx_pos;         /* stream offset of the next byte to send, modulo 2^32 */
    uint32_t tx_free;        /* free space in the send buffer, bytes */
    uint32_t epoll_reported; /* number of the epoll_wait that reported it, until answered; else 0 */
    uint32_t rx_held;        /* bytes read for which no RECV may be sent, as some are lent */
    uint8_t claims;          /* TCLAIM_*: the application uses its buffers (lent_buffers.h) */
    bool lingering : 1;      /* close() waits for the peer's acknowledgements */
    bool stamped : 1;        /* the program wants to know when bytes were received (ancillary.h) */
    bool framed;             /* some received bytes are in frames, not in rx (frames.h) */
    bool bounded;            /* TCP_NOTSENT_LOWAT, MSG_EOR or Fast Open bound a write (notsent.h) */
    int32_t lowat;           /* SO_RCVLOWAT; 0 and 1: 1 byte */
    struct tzc *zc;          /* NULL until it sends or receives without a copy (lent_buffers.h) */

    /* names, network byte order */
    uint16_t local_port, remote_port;
    uint32_t local_ip, remote_ip;
    uint8_t ip6; /* over IPv6: the fields below instead */
    struct in6_addr local6, remote6;
    uint32_t scope; /* of link-local addresses */

    uint32_t soft_reported; /* the flow record's soft error that SO_ERROR has returned */

    struct tsock_opts opts;

    /* TS_LISTEN */
    uint32_t handle;          /* listener id or connect cookie (handle.c), 0 none */
    int32_t backlog;          /* as given to listen() */
    uint8_t dual;             /* the kernel socket of this number listens too */
    uint32_t queued;          /* connections in the accept queue */
    uint8_t used;             /* this process accepts from it, or watches it */
    uint8_t weak;             /* announced to the TOE with flag WEAK */
    uint8_t later;            /* ... only until it begins (listen_defer.c) */
    uint8_t inherited;        /* by fork, or lent so; TS_NEW: by exec or SCM_RIGHTS, not used yet
                                 (inherit.h) */
    uint8_t announced;        /* LISTEN sent on the current queue pairs */
    uint8_t in_turns;         /* in the list by turn_next (turns.h) */
    uint16_t refused;         /* errno with which the TOE has refused the last LISTEN; 0: none */
    uint64_t listen_again_at; /* ... and when to try again, tclock_ns() */
    uint8_t announcing;       /* its options are being sent with it (announce.c) */
    uint8_t connect_failed;   /* TS_DEAD: never connected; connect() may try again */
    uint8_t unconnected; /* TS_DEAD by shutdown() while connecting or listening: usable as new */
    uint8_t connect_unreported; /* TS_OPEN: connect() has not yet returned 0 for it */
    uint8_t spoilt;  /* TS_DEAD: shut down between the end of a connect() and its report */
    uint8_t abort;   /* tsock_end() resets the connection, whatever SO_LINGER says */
    uint32_t within; /* TS_CONNECTING: IP_LOCAL_PORT_RANGE, if the TOE chooses the port ... */
    bool searches;   /* ... but takes no ranges: libtoe tries one port after the other */
    struct tport_search search;
    uint8_t chosen;     /* bind() to port 0 chose its port, which ... */
    uint8_t released;   /* ... a failed connect() has released: only the address is bound */
    uint8_t freebound;  /* bind() has set IP_FREEBIND, which the program has not */
    uint8_t asked;      /* TS_CONNECTING: queue pairs that got the CONNECT */
    uint8_t elsewhere;  /* TS_CONNECTING: send it to the next queue pair */
    uint8_t wants_fast; /* TS_CONNECTING: waits for CONNECT_READY */
    uint8_t fast;       /* TS_CONNECTING: CONNECT_READY received; the SYN waits for data ... */
    uint8_t fast_sent;  /* ... which has been sent */
    uint8_t oob_byte;
    struct teor eor;
    struct trxtimes rx_times;
    uint32_t fast_room; /* `fast`: bytes that the SYN carries; 0: the TOE has not said */
    uint32_t oob_pos;   /* stream offset of the last urgent byte */
    int32_t owner;      /* of F_SETOWN: gets SIGURG */
    bool owner_tid;     /* ... and is one thread (F_SETOWN_EX) */
    struct tsock *accept_head, *accept_tail, *accept_next;
    int32_t child_end;   /* at a fork: the child's descriptor + 1 */
    uint32_t relays;     /* relays that hold it (relay.h) */
    bool unasked;        /* TS_SHARED: the owner of the flow has not been asked yet (share.h) */
    atomic_bool settled; /* TS_SHARED, not unasked: the kernel serves waits for it */
    struct tsock *flow, *face; /* TS_SHARED: the socket with the flow, if local; the reverse */
    struct tsock *listener;    /* of a connection in an accept queue */
    struct tsock *turn_next;   /* of listeners that processes share */
    uint32_t at_exec;          /* while an exec is prepared: its number + 1 (exec.c) */
};

/* Returns whether its bytes go through the kernel socket of its number. */
static inline bool tsock_kernels(const struct tsock *s)
{
    return s->state <= TS_SHARED;
}

_Static_assert(sizeof(void *) != 8 || offsetof(struct tsock, local_port) <= 128, "two cache lines");

/* Returns the socket that owns the flow: for TS_SHARED another socket, if it is in this process. */
static inline struct tsock *tflow_of(struct tsock *s)
{
    return s && s->state == TS_SHARED && s->flow ? s->flow : s;
}

/* Returns SO_REUSEADDR and SO_REUSEPORT as OPTION REUSE encodes them. */
static inline uint32_t tsock_reuse(const struct tsock *s)
{
    return (s->opts.reuseaddr ? 1u : 0u) | (s->opts.reuseport ? 2u : 0u);
}

/* Returns whether free space is at least half of the space in use (sk_stream_is_writeable()). See
 * tnotsent_writable(). */
static inline bool tsock_has_space(const struct tsock *s)
{
    return s->tx_free && s->tx_free >= (s->tx_mask + 1 - s->tx_free) >> 1;
}
/* Returns the bytes sent that the peer has not acknowledged (SIOCOUTQ). */
static inline uint32_t tsock_unacked(const struct tsock *s)
{
    return s->tx ? s->tx_mask + 1 - s->tx_free : 0;
}
/* Returns 1 when the next byte is urgent data, not part of the stream. s->oob is not TOOB_NONE. */
static inline uint32_t tsock_urgent_skip(const struct tsock *s)
{
    return s->oob_pos == s->rx_pos && s->rx_avail && !s->opts.oobinline;
}

/* Returns whether libtoe, not the kernel, serves waits for fd. */
static inline bool tfd_waits_here(int fd)
{
    struct tobj *o = tobj_get(fd);
    const struct tsock *s = tsock_get(fd);

    return o && !(s && atomic_load_explicit(&s->settled, memory_order_relaxed));
}

#endif
