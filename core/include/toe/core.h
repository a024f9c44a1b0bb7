/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - TCP/IP as a function: events in (frames, commands, time), actions out (port.h).
 *
 * Threading: only one thread at a time may use a stack; stacks share nothing. core/ never blocks,
 * allocates or reads a clock. The caller provides all memory in toec_init().
 */
#ifndef TOE_CORE_H
#define TOE_CORE_H

#include <toe/port.h>

#ifdef __cplusplus
extern "C" {
#endif

struct toec_stack;

/* Congestion control: CUBIC (RFC 9438), NewReno (RFC 5681, RFC 6582), DCTCP (RFC 8257), BBR version
 * 3 (draft-ietf-ccwg-bbr), BBR version 1, which is the "bbr" of Linux
 * (draft-cardwell-iccrg-bbr-congestion-control-00). */
enum toec_cc {
    TOEC_CC_CUBIC = 0,
    TOEC_CC_NEWRENO = 1,
    TOEC_CC_DCTCP = 2,
    TOEC_CC_BBR3 = 3,
    TOEC_CC_BBR1 = 4
};

/*
 * Explicit Congestion Notification (RFC 3168), with the modes of net.ipv4.tcp_ecn of Linux: off
 * (0), requested and accepted (1), accepted when the peer requests it (2, the default).
 */
enum toec_ecn_policy {
    TOEC_ECN_DEFAULT = 0, /* of a stack: TOEC_ECN_PASSIVE */
    TOEC_ECN_OFF,
    TOEC_ECN_ON,
    TOEC_ECN_PASSIVE
};

/*
 * What toec_config.trace reports: all that happens to a flow except segments in order, the events
 * of toec_port_event(), and what the owner's own commands cause. Sequence numbers are relative to
 * the ISS (the SYN is 0), and SND.UNA unless noted.
 */
enum toec_trace_kind {
    TOEC_T_RETRANSMIT = 1, /* of value bytes from this sequence number */
    TOEC_T_OWN_WINDOW,     /* a segment offers no window, as the owner does not read; RCV.NXT,
                            * relative to the IRS */
    TOEC_T_STATE,          /* value: the new enum toec_state; no sequence number */
    TOEC_T_TIMEOUT,        /* the RTO expired; value: timeouts without progress, with this one */
    TOEC_T_TAIL_PROBE,     /* a tail loss probe is due (RFC 8985 7); SND.NXT */
    TOEC_T_RECOVERY,       /* fast recovery begins; value: ssthresh */
    TOEC_T_CWND_CUT,       /* for a lost retransmission, or a loss that a probe repaired; value:
                            * ssthresh */
    TOEC_T_ECN_CUT,        /* for a mark of the network (RFC 3168, RFC 8257); value: cwnd before */
    TOEC_T_RECOVERED,      /* recovery ends, also after a timeout; value: ssthresh */
    TOEC_T_UNDO,           /* a spurious retransmission; the window is restored; value: cwnd */
    TOEC_T_WINDOW_CLOSED,  /* data waits for the peer's window; value: that window */
    TOEC_T_WINDOW_PROBE,   /* value: probes without progress, with this one */
    TOEC_T_WINDOW_OPEN,    /* value: the peer's window */
    TOEC_T_KEEPALIVE,      /* value: probes without an answer, with this one */
    TOEC_T_PATH_MTU,       /* value: the lower path MTU */
    TOEC_T_ERROR,          /* a soft error; value: enum toec_reason */
    TOEC_T_RST_RECEIVED,   /* ... and accepted */
    TOEC_T_RST_SENT,
    TOEC_T_MAX
};

enum toec_ip6_mode {
    TOEC_IP6_OFF = 0,
    TOEC_IP6_STATIC, /* a link-local address and the configured one; router advertisements are
                      * ignored */
    TOEC_IP6_AUTO    /* also addresses and parameters that routers advertise (RFC 4861, RFC 4862) */
};

/* Packetization-layer path MTU discovery (RFC 4821), as net.ipv4.tcp_mtu_probing of Linux. */
enum toec_mtu_probing {
    TOEC_MTU_PROBING_DEFAULT = 0, /* BLACK_HOLE */
    TOEC_MTU_PROBING_OFF,         /* 0 on Linux */
    TOEC_MTU_PROBING_BLACK_HOLE,  /* 1: after repeated timeouts of full segments */
    TOEC_MTU_PROBING_ALWAYS       /* 2: starts with small segments, searches upwards */
};

/* Values of TOEC_OPT_MTU_DISCOVER: those of IP_MTU_DISCOVER (ip(7)). */
enum toec_mtu_discover {
    TOEC_MTU_DONT = 0,  /* DF is not set */
    TOEC_MTU_WANT,      /* the default */
    TOEC_MTU_DO,        /* for TCP the same */
    TOEC_MTU_PROBE,     /* DF is set, the path MTU cache is not used */
    TOEC_MTU_INTERFACE, /* no DF, the MTU of the link, ICMP errors are ignored */
    TOEC_MTU_OMIT       /* of TCP the same */
};

/* Configuration of a stack. Zero means the default that the comment names. */
struct toec_config {
    void *user;           /* passed to every port function */
    toec_u8 mac[6];       /* own Ethernet address */
    toec_u8 ip[4];        /* own IPv4 address; 0.0.0.0: none (IPv6 only) */
    toec_u8 prefix_len;   /* of the on-link network, 0..32 (0: all destinations are on link) */
    toec_u8 gateway[4];   /* 0.0.0.0: none, off-link destinations are unreachable */
    toec_u32 mtu;         /* 1500; 576..9216 */
    toec_u32 ttl;         /* TTL, and hop limit until a router advertises another: 64; 1..255 */
    toec_u32 max_flows;   /* TCBs, 1024 */
    toec_u32 max_records; /* max_flows. Records of transmissions: flows that may have many segments
                           * in flight at once, and as many flows that may have many gaps in their
                           * receive stream; 4.3 and 0.5 KiB each. A flow without one keeps working
                           * but detects losses later */
    toec_u32 max_listeners;   /* 64 */
    toec_u32 max_time_wait;   /* 16384; when full, the oldest is recycled and counted */
    toec_u32 max_neighbours;  /* of both families, 256; a quarter may wait for an answer */
    toec_u32 max_datagrams;   /* datagrams in reassembly at once, 16. TOEC_NO_REASSEMBLY compiles
                               * reassembly out: fragments are counted and dropped, this is unused */
    toec_u32 max_gso;         /* largest payload per call of transmit; 0: one MSS (no TSO) */
    toec_u32 offload;         /* TOEC_OFF_* */
    toec_u32 icmp_echo_rate;  /* echo replies per second, 10000; 0xffffffff: no limit */
    toec_u32 icmp_error_rate; /* ICMP errors per second and (hashed) destination, 100; as above */
    toec_u8 secret[32]; /* from a cryptographic random source: ISNs, ports, cookies, hash keys */
    toec_u8 isn_secret[16];   /* for ISNs and timestamp offsets: with the secret, the clock and the
                               * address of an earlier stack a connection follows that stack's in
                               * order (RFC 6191); all zero: derived from secret */
    enum toec_cc cc;          /* default congestion control of new flows */
    enum toec_ecn_policy ecn; /* of new flows and listeners */
    enum toec_ip6_mode ip6;   /* unless off, mtu must be at least 1280 */
    toec_u8 ip6_addr[16];     /* static address, or :: */
    toec_u8 ip6_prefix_len;   /* of its on-link network, 0..128 (0: only routers are on link) */
    toec_u8 ip6_gateway[16];  /* static default router, or :: */
    toec_u8 ip6_secret[16]; /* for interface identifiers (RFC 7217): the same secret yields the same
                             * addresses; all zero: derived from secret */
    enum toec_mtu_probing mtu_probing;
    toec_u32 max_udp;               /* UDP endpoints; 0: none, every port is unreachable */
    const struct toec_udp_ops *udp; /* callbacks for UDP (port.h); must stay valid */
    /* Callbacks for routes and neighbours (port.h); must stay valid. 0: the stack uses prefixes,
     * gateways, ARP and neighbour discovery. With it, IPv6 is TOEC_IP6_OFF, or TOEC_IP6_STATIC
     * without an address: toec_set_addresses6() sets the addresses */
    const struct toec_link_ops *link;
    toec_u32 local; /* not 0: the integrator loops frames to an own address back (toec_tx.local); 0:
                     * own addresses are unreachable, and a packet from one is treated as spoofed */
    toec_u32 tcp_without; /* TOEC_I_*: TCP options neither offered nor accepted in a SYN */
    toec_u32 arp_probe; /* not 0: probe the IPv4 address before use (RFC 5227 2.1), which takes 5 to
                         * 9 s; see toec_ip4_state() */
    toec_u32 max_ao_keys; /* TCP-AO keys (ao.h) of listeners and connections together, copies of
                           * connections included; 0: none, the option is unknown */
    /* With max_ao_keys: callbacks that read payload (port.h); must stay valid */
    const struct toec_ao_ops *ao;
    /* Builds headers of segments (port.h); must stay valid. 0: core/ builds all headers */
    const struct toec_tx_segment_ops *segments;
    /* Prefetch hint, may be 0: the stack will probably soon send the stream of `owner` from offset
     * `off`, so the callback may fetch the memory into the cache. Called while more than a dozen
     * flows wait for their turn to send. Must not change anything */
    void (*expect_send)(void *user, void *owner, toec_u32 off);
    /* Reports an event of the flow with this owner (enum toec_trace_kind), at the time of the call
     * into the stack; 0: not wanted. Must not call the stack */
    void (*trace)(void *owner, enum toec_trace_kind what, toec_u32 seq, toec_u32 value);
    /* Number of this stack among the home_count stacks that share one address */
    toec_u32 home_index;
    toec_u32 home_count; /* active opens choose a port whose toec_rss_hash() maps to home_index. 0
                          * or 1: one stack */
    /* Ephemeral ports, as net.ipv4.ip_local_port_range of Linux; 0, 0: 32768 to 60999. The bitmap
     * has bit n % 8 of byte n / 8 set for a port n that is never chosen, and must stay valid; 0:
     * none */
    toec_u16 port_first, port_last;
    const toec_u8 *ports_reserved;
    toec_u32 rfc1337; /* not 0: a RST does not end TIME-WAIT (RFC 1337), as net.ipv4.tcp_rfc1337 of
                       * Linux; 0: one with the expected sequence number does */
};

#define TOEC_OFF_TX_CSUM 1u /* transmit completes checksums itself (informational for counters) */

/* Returns the bytes of memory that a stack with this configuration needs. Returns 0 when the
 * configuration is invalid, or needs more than a 32-bit machine can provide in one block (2 GiB).
 */
unsigned long toec_size(const struct toec_config *cfg);

/*
 * How toec_size() splits. Of each kind: bytes per additional object, its share of the hash table
 * included; fixed: the rest of total when each kind has the configured number of objects.
 */
struct toec_memory {
    unsigned long total; /* toec_size() */
    unsigned long flow, record, listener, time_wait, neighbour, datagram, udp, ao_key;
    unsigned long fixed;
};
/* Returns 0, or TOEC_E_INVAL when the configuration is invalid. */
int toec_memory(const struct toec_config *cfg, struct toec_memory *out);

/*
 * Creates a stack in mem (aligned to 64 bytes, at least toec_size() bytes). Returns the stack, or 0
 * when the configuration is invalid, size is too small or mem is 0.
 */
struct toec_stack *toec_init(void *mem, unsigned long size, const struct toec_config *cfg,
                             toec_time now);

enum toec_ip4_state {
    TOEC_IP4_NONE = 0,
    TOEC_IP4_TESTED, /* being probed: neither sent from nor accepted as destination */
    TOEC_IP4_OWN,
    TOEC_IP4_TAKEN /* another host uses it: the stack does not */
};

/* Returns the state of the IPv4 address. Sets mac to the host that claimed the address last, also
 * for conflicts about an address in use (TOEC_C_arp_conflict counts them); all 0: none. */
enum toec_ip4_state toec_ip4_state(const struct toec_stack *s, toec_u8 mac[6]);

/* Changes toec_config.max_gso, after an offload was switched on or off. Returns 0, or TOEC_E_INVAL.
 */
int toec_set_max_gso(struct toec_stack *s, toec_u32 max_gso);

/* Returns the number of flows, half-open ones included. */
toec_u32 toec_flow_count(const struct toec_stack *s);

/* What toec_expect() found out about a frame. */
struct toec_expected {
    void *owner;  /* of the flow the frame probably belongs to; 0: unknown */
    toec_u32 off; /* offset in its receive stream where in-order data goes */
    toec_u32 len; /* bytes of data the frame probably carries */
};
#define TOEC_EXPECT_MAX 32u

/*
 * Prefetches the flow state that the next n frames passed to toec_input() will touch; n is at most
 * TOEC_EXPECT_MAX. out[0] to out[n - 1] name the integrator's memory that the frames will touch as
 * well. Optional, for integrators with many flows that process several frames at a time; changes no
 * state. For compilers other than gcc and clang, define TOEC_PREFETCH(p).
 */
void toec_expect(const struct toec_stack *s, const struct toec_packet *p, unsigned n,
                 struct toec_expected *out);
/* Does the same for upcoming commands for this flow, which may already be freed. */
void toec_expect_flow(const struct toec_stack *s, const struct toec_tcb *flow);

/* Processes a received frame. The integrator may reuse the frame once this returns. */
void toec_input(struct toec_stack *s, const struct toec_packet *p, toec_time now);

/*
 * Processes a received segment whose headers the integrator has read (port.h), for the flow that it
 * expects: of an earlier segment with the same hash, for example. `flow` is one whose TOEC_EV_GONE
 * has not been reported. Returns 0; or -1, and nothing has happened, when the segment is not this
 * flow's, or when the flow needs more than the fields: it is being opened, or uses TCP-AO. The
 * frame is then one for toec_input().
 */
int toec_input_flow(struct toec_stack *s, struct toec_tcb *flow, const struct toec_rx_segment *g,
                    toec_time now);

/*
 * Runs due timers and sends what is pending (frames that transmit refused with -1, batched ACKs).
 * Call it after each batch of frames and commands, and when the returned time has come. Returns the
 * next deadline, TOEC_NEVER when there is none, or `now` when frames wait for room in transmit.
 */
toec_time toec_poll(struct toec_stack *s, toec_time now);

/*
 * Does the sending part of toec_poll(): sends the pending segments of flows, runs no timer. For
 * callers that gave commands between two batches and want the frames sent at once. toec_poll() must
 * still be called.
 */
void toec_output(struct toec_stack *s, toec_time now);

/*
 * Sends what this flow may send now, without a pass over the flows that wait: for callers that have
 * given it a command, such as toec_send(), and want its segments sent within the call. What
 * transmit refuses, and all of a flow behind others that transmit has refused, stays pending for
 * toec_poll(), which must still be called. May report TOEC_EV_GONE, when the next hop does not
 * answer.
 */
void toec_output_flow(struct toec_stack *s, struct toec_tcb *flow, toec_time now);

/*
 * With toec_config.link: reports the state of a neighbour, whether the stack asked for it or not;
 * mac 0: it does not answer. Neighbours that the stack does not send to are not stored.
 */
void toec_neighbour(struct toec_stack *s, const struct toec_addr *addr, const toec_u8 *mac,
                    toec_time now);
/* With toec_config.link: reports that toec_link_ops.route() may now return other next hops. */
void toec_routes_changed(struct toec_stack *s);

/* With toec_config.link: replaces the own IPv6 addresses; the other stack has checked them for
 * duplicates. At most TOEC_GIVEN_MAX are used, the rest is ignored and counted. Before the call,
 * the integrator must reset flows from an address that is removed. */
#define TOEC_GIVEN_MAX 8u
struct toec_given {
    struct toec_addr addr;
    toec_u8 prefix_len;
    toec_u8 deprecated; /* not for new connections if there is another (RFC 4862 5.5.4) */
};
void toec_set_addresses6(struct toec_stack *s, const struct toec_given *given, unsigned n);

/* Changes the prefix length of the IPv4 address, and with it the broadcast addresses. */
void toec_set_prefix(struct toec_stack *s, unsigned prefix_len);

/*
 * Changes the MTU of the link, at most to the toec_config.mtu of the start (received frames may
 * still have that size). Open flows follow at once in both directions, new ones announce it. IPv6
 * keeps at least 1280. Returns the MTU in use for IPv4.
 */
toec_u32 toec_set_mtu(struct toec_stack *s, toec_u32 mtu);

/* ---- commands. All return 0 or a negative toec_reason / -EINVAL(22) style value. ---- */

#define TOEC_E_AGAIN       (-11) /* EAGAIN */
#define TOEC_E_MSGSIZE     (-90) /* EMSGSIZE */
#define TOEC_E_HOSTUNREACH (-113)
#define TOEC_E_INVAL       (-22)
#define TOEC_E_INUSE       (-98) /* EADDRINUSE */
#define TOEC_E_NOTAVAIL    (-99) /* EADDRNOTAVAIL: no ephemeral port left, or not our address */
#define TOEC_E_NOBUFS      (-105)
#define TOEC_E_UNREACH     (-101) /* ENETUNREACH: off link and no gateway */

/*
 * Listens on port. addr: an own address; :: (all zero): any address of both families or, with
 * TOEC_LISTEN_V6ONLY or'ed to syn_backlog, of IPv6 only (as Linux's IPV6_V6ONLY); 0.0.0.0 mapped:
 * any address of IPv4. syn_backlog: half-open flows kept before SYN cookies are used (0: 256);
 * fewer if those of all listeners would outnumber the free TCBs. Returns the handle in *id.
 */
#define TOEC_LISTEN_V6ONLY 0x80000000u
int toec_listen(struct toec_stack *s, const struct toec_addr *addr, toec_u16 port, void *owner,
                toec_u32 syn_backlog, toec_u32 *id);
/*
 * Checks whether the existing connections, including those in TIME-WAIT, allow a bind to addr and
 * port. As bind(2) of Linux: each connection must permit sharing in one of the ways that the socket
 * does (TOEC_REUSE_*, see TOEC_OPT_REUSE). addr as for toec_listen(), with TOEC_BIND_V6ONLY or'ed
 * to how. Listeners are not checked. Returns 0 or TOEC_E_INUSE. The cost does not depend on the
 * number of connections.
 */
#define TOEC_REUSE_ADDR  1u
#define TOEC_REUSE_PORT  2u
#define TOEC_REUSE_ALL   3u
#define TOEC_BIND_V6ONLY 4u
int toec_bind_ok(const struct toec_stack *s, const struct toec_addr *addr, toec_u16 port,
                 unsigned how);
/* Stops listening. Drops half-open flows of the listener, keeps established ones. */
int toec_unlisten(struct toec_stack *s, toec_u32 id);

/* Settings of the configuration that may change while connections exist. 0 is no default here. */
struct toec_defaults {
    enum toec_cc cc;                   /* of connections opened or accepted from now on */
    enum toec_ecn_policy ecn;          /* of connections opened and listeners made from now on */
    enum toec_mtu_probing mtu_probing; /* at the next timeout of any connection */
    toec_u32 rfc1337;                  /* at the next RST in TIME-WAIT */
};
void toec_set_defaults(struct toec_stack *s, const struct toec_defaults *d);

/* Sets the ephemeral ports again, as in the configuration. */
void toec_set_ports(struct toec_stack *s, toec_u16 first, toec_u16 last, const toec_u8 *reserved);

/* Opens a connection. local_port 0: ephemeral (RFC 6056). A port whose answers would go to another
 * stack (home_index) returns TOEC_E_NOTAVAIL. TOEC_EV_ESTABLISHED or TOEC_EV_GONE reports the
 * result. */
int toec_connect(struct toec_stack *s, const struct toec_addr *remote, toec_u16 remote_port,
                 toec_u16 local_port, const struct toec_buffers *bufs, toec_time now,
                 struct toec_tcb **flow);
/* Does the same from this own address; 0 or :: lets the stack choose (RFC 6724). TOEC_E_NOTAVAIL:
 * not an own address. TOEC_E_INVAL: the families differ. local_port may be a range, too: first |
 * last << 16, last not 0. As with IP_LOCAL_PORT_RANGE of Linux, each of the two limits the choice
 * if it is an ephemeral port. */
int toec_connect_from(struct toec_stack *s, const struct toec_addr *local,
                      const struct toec_addr *remote, toec_u16 remote_port, toec_u32 local_port,
                      const struct toec_buffers *bufs, toec_time now, struct toec_tcb **flow);

/* Announces n more bytes in the send stream. push: the writer has no more for now (PSH). Without
 * push, data that does not fill a segment waits for more, until the peer's next ACK and at most 200
 * ms (MSG_MORE). */
int toec_send(struct toec_stack *s, struct toec_tcb *flow, toec_u32 n, int push, toec_time now);
/*
 * Marks the bytes announced so far as ending with urgent data (RFC 9293 3.8.5, MSG_OOB): the peer
 * is notified of the end at once. TOEC_E_INVAL: nothing was announced yet, or the sending side is
 * closed.
 */
int toec_urgent(struct toec_stack *s, struct toec_tcb *flow, toec_time now);
/*
 * Marks the bytes announced so far as ending a record (MSG_EOR of Linux): no segment holds bytes of
 * both sides of the boundary, whether sent first or again. At most TOEC_EOR_MAX boundaries of a
 * flow are kept until the peer has acknowledged the bytes before them. TOEC_E_NOBUFS: that many are
 * not acknowledged, and this one is not kept (counted). TOEC_E_INVAL: the sending side is closed.
 */
#define TOEC_EOR_MAX 31u
int toec_eor(struct toec_stack *s, struct toec_tcb *flow);
/* Reports that the reader has consumed n bytes; their room may be advertised again. */
int toec_recv(struct toec_stack *s, struct toec_tcb *flow, toec_u32 n, toec_time now);
/* Ends the send stream: FIN after all data is sent. The receive side stays open. */
int toec_shutdown(struct toec_stack *s, struct toec_tcb *flow, toec_time now);
/*
 * Closes both directions: FIN after all data is sent, or RST when received data was not read (RFC
 * 9293 3.6.1 / RFC 2525 2.17; as Linux). Later data is answered with RST. TOEC_EV_GONE follows.
 */
int toec_close(struct toec_stack *s, struct toec_tcb *flow, toec_time now);
/* Resets the connection. Reports TOEC_EV_GONE(TOEC_R_ABORTED) before it returns. */
int toec_abort(struct toec_stack *s, struct toec_tcb *flow, toec_time now);

/*
 * Enables Fast Open (RFC 7413) as client: call it right after toec_connect(), before toec_poll().
 * Returns the bytes that the SYN may carry; the SYN then waits for the first toec_send(), which may
 * be of 0 bytes. Returns 0 when it may carry none: the SYN is sent without data, and requests a
 * cookie unless such SYNs were lost on this path recently. no_cookie: sends data with the SYN
 * without a cookie (TCP_FASTOPEN_NO_COOKIE). TOEC_E_INVAL: the SYN is already sent. Data that the
 * peer does not accept with the SYN is retransmitted once the connection is established.
 */
int toec_fastopen(struct toec_stack *s, struct toec_tcb *flow, int no_cookie, toec_time now);
/*
 * Enables Fast Open as server: a SYN with a valid cookie is reported as TOEC_EV_ESTABLISHED at
 * once, its data is delivered, and answers may be sent before the handshake completes. max: flows
 * at a time with a pending handshake; further ones use the normal handshake. 0 (the default): Fast
 * Open is off. With TOEC_FASTOPEN_NOCOOKIE added, any SYN with data or the option is accepted
 * (TCP_FASTOPEN_NO_COOKIE): for networks where addresses cannot be spoofed.
 */
#define TOEC_FASTOPEN_NOCOOKIE 0x80000000u
int toec_listen_fastopen(struct toec_stack *s, toec_u32 id, toec_u32 max);
/* Sets the listener's Fast Open keys: n keys of 16 bytes each, n 0..2; cookies are made with the
 * first, the second is only accepted. 0: the keys of the stack, derived from its secret and changed
 * every 19.5 hours. As net.ipv4.tcp_fastopen_key of Linux. */
int toec_listen_fastopen_key(struct toec_stack *s, toec_u32 id, const toec_u8 *keys, unsigned n);

enum toec_option {
    TOEC_OPT_NODELAY = 1,  /* 0/1 */
    TOEC_OPT_KEEPALIVE,    /* 0/1 */
    TOEC_OPT_KEEPIDLE,     /* seconds, 1..32767; default 7200 */
    TOEC_OPT_KEEPINTVL,    /* seconds, 1..32767; default 75 */
    TOEC_OPT_KEEPCNT,      /* 1..127; default 9 */
    TOEC_OPT_CC,           /* enum toec_cc; DCTCP set before the SYN requests ECN */
    TOEC_OPT_USER_TIMEOUT, /* milliseconds, 0: default (R2) */
    TOEC_OPT_CORK,         /* 0/1: hold sub-MSS data while set, at most 200 ms */
    TOEC_OPT_QUICKACK,     /* 1: ACK at once until data answers data; 0: let ACKs wait */
    TOEC_OPT_LINGER2,      /* seconds of FIN-WAIT-2 after a full close; default 60 */
    TOEC_OPT_ECN = 43, /* enum toec_ecn_policy except DEFAULT; of a flow before its SYN is sent */
    TOEC_OPT_SYNCNT = 20,  /* retransmissions of the SYN, 1..127; 0: default (R2, over 3 minutes) */
    TOEC_OPT_ADV_UTO = 21, /* seconds to advertise as user timeout (RFC 5482), 0: not, ..1966020 */
    TOEC_OPT_MTU_DISCOVER = 40, /* enum toec_mtu_discover */
    /* Maximum bytes of payload and options in a segment, 88..32767; 0: limited by the path only;
     * set before the SYN, it is announced to the peer */
    TOEC_OPT_MAXSEG = 41,
    /* Of a listener: 0..255; its flows are reported with their first data or FIN, or when the
     * SYN-ACK timer has expired this many times (TCP_DEFER_ACCEPT); 0: at once. */
    TOEC_OPT_DEFER_ACCEPT = 25,
    TOEC_OPT_REUSE = 44, /* TOEC_REUSE_*: which other sockets may use its port while it exists and
                          * in TIME-WAIT; see toec_bind_ok(). 0: none (the default) */
    TOEC_OPT_TOS = 42,   /* DSCP and two unused bits, 0..255 (IP_TOS, IPV6_TCLASS) */
    /* Maximum bytes per second (SO_MAX_PACING_RATE); 0 or 0xffffffff: no limit (the default). A
     * limit also turns pacing on for CUBIC and NewReno, which are not paced otherwise. */
    TOEC_OPT_MAX_PACING = 30
};
int toec_set_option(struct toec_stack *s, struct toec_tcb *flow, enum toec_option opt,
                    toec_u32 value, toec_time now);
/* Sets an option of a listener's future flows: TOEC_OPT_ECN, _MTU_DISCOVER, _MAXSEG, _TOS, _REUSE;
 * and TOEC_OPT_DEFER_ACCEPT, which flows do not have. */
int toec_listen_option(struct toec_stack *s, toec_u32 id, enum toec_option opt, toec_u32 value);

/* States as RFC 9293 3.3.2 names them. */
enum toec_state {
    TOEC_CLOSED = 0,
    TOEC_SYN_SENT,
    TOEC_SYN_RECEIVED,
    TOEC_ESTABLISHED,
    TOEC_FIN_WAIT_1,
    TOEC_FIN_WAIT_2,
    TOEC_CLOSE_WAIT,
    TOEC_CLOSING,
    TOEC_LAST_ACK,
    TOEC_TIME_WAIT
};

/* State of loss recovery, as tcpi_ca_state of Linux. */
enum toec_ca_state {
    TOEC_CA_OPEN = 0,
    TOEC_CA_DISORDER, /* data is SACKed, or duplicate ACKs have arrived */
    TOEC_CA_CWR,      /* the window was reduced without a loss */
    TOEC_CA_RECOVERY, /* fast recovery */
    TOEC_CA_LOSS      /* recovery after a timeout, or after a decrease of the path MTU */
};

/* A snapshot of a connection, for flow records and TCP_INFO. Times in microseconds. */
struct toec_info {
    struct toec_addr local, remote;
    toec_u16 local_port, remote_port;
    toec_u8 state, ws_send, ws_recv, opts; /* opts: TOEC_I_* */
    toec_u32 mss_send, mss_recv;
    toec_u32 pmtu; /* known path MTU: the largest datagram sent */
    toec_u32 srtt_us, rttvar_us, rto_us, min_rtt_us;
    toec_u32 cwnd, ssthresh, snd_wnd, rcv_wnd; /* bytes; ssthresh 0x3fffffff: no loss yet */
    toec_u32 retransmits, dup_acks, in_flight;
    toec_u64 bytes_sent, bytes_acked, bytes_received;
    /* Bytes per second. delivery_rate: the last sample that measured the path (BBR, see
     * TOEC_I_APP_LIMITED), else the most bytes acknowledged in a recent round trip; 0: unknown.
     * pacing_rate 0: not paced. max_pacing_rate: TOEC_OPT_MAX_PACING, 0: none. */
    toec_u64 delivery_rate, pacing_rate, max_pacing_rate;
    toec_u8 cc; /* enum toec_cc */
    /* Loss recovery (RFC 8985), in bytes of outstanding data. sacked: SACKed by the peer (without
     * SACK: one MSS per duplicate ACK); lost: marked lost, whether retransmitted or not;
     * retrans_out: retransmitted, and not marked lost again. */
    toec_u32 sacked, lost, retrans_out;
    toec_u32 lost_total;    /* segments marked lost so far */
    toec_u32 dsacks;        /* segments the peer has reported as duplicates (RFC 2883) */
    toec_u32 reord_seen;    /* segments that arrived after later ones */
    toec_u32 undone;        /* window reductions undone: nothing was lost */
    toec_u64 bytes_retrans; /* payload retransmitted */
    toec_u16 reordering;    /* largest distance, in segments; 3 to 300 as on Linux */
    toec_u8 ca_state;       /* enum toec_ca_state */
    toec_u8 timeouts;       /* timeouts since the last progress */
    toec_u8 backoff;        /* times that timeouts doubled the RTO */
};
#define TOEC_I_TIMESTAMPS  1u
#define TOEC_I_SACK        2u
#define TOEC_I_WSCALE      4u
#define TOEC_I_ECN         8u  /* negotiated (as TCPI_OPT_ECN) */
#define TOEC_I_ECN_SEEN    16u /* ... and the peer has sent ECN-capable data */
#define TOEC_I_SYN_DATA    32u /* data on the SYN was accepted: Fast Open (as TCPI_OPT_SYN_DATA) */
#define TOEC_I_APP_LIMITED 64u /* delivery_rate was limited by the application */
void toec_flow_info(const struct toec_stack *s, const struct toec_tcb *flow, struct toec_info *out);
/* During TOEC_EV_GONE: returns the TOEC_REUSE_* of the entry in TIME-WAIT that the flow leaves
 * behind; -1: it leaves none. */
int toec_flow_waits(struct toec_stack *s, const struct toec_tcb *flow);
/*
 * Gives an established flow another owner, whose buffers have the same sizes. The old owner must
 * not have read, announced or closed anything. May be called within TOEC_EV_ESTABLISHED. The caller
 * moves what has been received: the first *extent bytes of the receive buffer, which may contain
 * gaps. Returns 0, or TOEC_E_INVAL: not such a flow.
 */
int toec_flow_give(struct toec_stack *s, struct toec_tcb *flow, void *owner, toec_u32 *extent);

/*
 * ---- UDP (RFC 768, RFC 1122 4.1) ----
 *
 * For integrators that need it; toed offers no UDP sockets. TOEC_NO_UDP compiles it out, and every
 * port is unreachable. Datagrams are delivered through toec_config.udp (port.h). Unicast only.
 */

struct toec_udp;

/* What an endpoint is bound to. */
struct toec_udp_bind {
    /* Own address; 0.0.0.0 mapped: any of IPv4; all zero: any of both families */
    struct toec_addr local;
    struct toec_addr remote; /* with remote_port: connected, receives from this peer only */
    toec_u16 local_port;     /* 0: ephemeral (RFC 6056) */
    toec_u16 remote_port;    /* 0: not connected; remote must be all zero */
    toec_u8 v6only;          /* local all zero: any address of IPv6 only */
};

/* Returns 0; TOEC_E_INVAL, _NOTAVAIL (not an own address, no port left), _INUSE, _UNREACH, _NOBUFS.
 */
int toec_udp_open(struct toec_stack *s, const struct toec_udp_bind *bind, void *owner,
                  struct toec_udp **endpoint);
void toec_udp_close(struct toec_stack *s, struct toec_udp *endpoint);
void toec_udp_name(const struct toec_udp *endpoint, struct toec_addr *local, toec_u16 *port);

#define TOEC_UDP_SEGMENTS 128u /* maximum per call, as UDP_MAX_SEGMENTS of Linux */

/* A message to send. toec_port_transmit() reads the payload: its owner is `payload`. */
struct toec_udp_msg {
    const struct toec_addr *to; /* 0: the peer of a connected endpoint */
    toec_u16 to_port;
    toec_u16 segment; /* UDP_SEGMENT: len is split into datagrams of this size, at most
                       * TOEC_UDP_SEGMENTS (TOEC_E_INVAL); 0: one datagram */
    void *payload;
    toec_u32 off, len;
    toec_u16 sum;     /* toec_sum() of the payload: required (has_sum) for one datagram */
    toec_u8 has_sum;  /* larger than the path MTU: its fragments share one checksum */
    toec_u8 no_check; /* IPv4 only: no checksum */
    toec_u8 dont_fragment;
    toec_u8 tos;
};

/*
 * Sends a message. Returns the bytes sent (fewer than len only with segment, when transmit has no
 * more room), TOEC_E_AGAIN (no room, or the neighbour is being resolved: try again later, no event
 * follows), TOEC_E_MSGSIZE (too large for a datagram, or for the path with dont_fragment),
 * TOEC_E_UNREACH, TOEC_E_HOSTUNREACH, TOEC_E_NOTAVAIL, TOEC_E_INVAL.
 */
int toec_udp_send(struct toec_stack *s, struct toec_udp *endpoint, const struct toec_udp_msg *m,
                  toec_time now);

/* Counters: every drop and every rare event has a name. The list in core/include/toe/counters.h is
 * the single source: tools take the names from TOEC_COUNTERS too. */
const toec_u64 *toec_counters(const struct toec_stack *s); /* TOEC_C_MAX of them */
/* Objects in use of each pool, for leak tests and tools. */
struct toec_usage {
    toec_u32 flows, records, gaps, half_open, listeners, time_wait, neighbours, datagrams, ao_keys;
};
void toec_usage(const struct toec_stack *s, struct toec_usage *out);

/* A round-trip time sample of a connection: from the transmission of a segment to its
 * acknowledgement. Samples from timestamps, which have a resolution of milliseconds, are not
 * reported. */
struct toec_rtt {
    struct toec_addr local, remote;
    toec_u16 local_port, remote_port;
    toec_u32 rtt; /* 2^10 ns */
};
/* Calls the function with each sample from now on, within toec_input(); 0: stops. It must not call
 * the stack. */
typedef void (*toec_rtt_fn)(void *user, const struct toec_rtt *sample);
void toec_watch_rtt(struct toec_stack *s, toec_rtt_fn watch);

/* An own address of IPv6. */
struct toec_own_addr {
    struct toec_addr addr;
    toec_u8 prefix_len;
    toec_u8 usable;    /* valid, and not known to be a duplicate */
    toec_u8 tentative; /* duplicate detection is running; neither flag: a duplicate */
    toec_u8 on_link;   /* prefix_len when that network is on the link, else 128 */
};
/* Fills up to max entries. Returns the number of entries filled. */
unsigned toec_own_addresses(const struct toec_stack *s, struct toec_own_addr *out, unsigned max);
/* Returns not 0 when there is a router for off-link destinations. */
int toec_has_router(const struct toec_stack *s);
/* Returns a value that changes with the own addresses, the routers or the routes. */
toec_u32 toec_own_epoch(const struct toec_stack *s);

/*
 * ---- handing over to another stack (save.h) ----
 *
 * toec_save() writes a stack as an image (image.h), and toec_restore() continues it in a stack made
 * by toec_init(), in another process or release. The peers do not notice. Payload is not part of
 * the image: the owners of flows keep it. Both sides use the same clock. UDP endpoints are not
 * saved.
 */
struct toec_saver {
    void *arg;
    /* Writes the next n bytes of the image. Returns not 0 when there is no room. */
    int (*put)(void *arg, const void *data, toec_u32 n);
    /* Sets *out to a number that identifies the owner of a flow, or of a listener, at restore. */
    void (*name)(void *arg, void *owner, int listener, toec_u64 *out);
};
/* Saves a stack without changing it. Returns 0, or TOEC_E_NOBUFS: put() failed, or the stack is
 * within a call. */
int toec_save(const struct toec_stack *s, const struct toec_saver *to, toec_time now);

struct toec_restorer {
    void *arg;
    /* As toec_port_open(), for the owner of this number; `flow` is its handle from now on. The
     * buffers must have their old sizes. Returns -1 when there is no such owner. */
    int (*flow)(void *arg, toec_u64 name, struct toec_tcb *flow, const struct toec_open *info,
                struct toec_buffers *out);
    /* Sets the owner of a listener, whose handle id is unchanged. Returns -1 when there is none. */
    int (*listener)(void *arg, toec_u64 name, toec_u32 id, const struct toec_addr *addr,
                    toec_u16 port, void **owner);
};
/*
 * Restores into a new stack that toec_init() made with the same addresses and sufficient limits;
 * the secrets come from the image. Values that a stack could not have written are rejected. Returns
 * 0, or an error message, after which the stack is unusable. Reports no event. Call toec_poll()
 * next.
 */
const char *toec_restore(struct toec_stack *s, const void *image, unsigned long n,
                         const struct toec_restorer *by, toec_time now);

/* ---- helpers for integrators ---- */

/* Returns the ones' complement sum of n bytes as native 16-bit words, folded, not complemented. */
toec_u16 toec_sum(const void *data, unsigned long n);
/* Adds two folded sums; odd is not 0 when the second part begins at an odd byte. */
toec_u16 toec_sum_add(toec_u16 a, toec_u16 b, int odd);
/*
 * Completes the checksum that tx requests, in software. frame holds header and payload
 * contiguously, frame_len bytes.
 */
void toec_tx_finish(const struct toec_tx *tx, toec_u8 *frame, toec_u32 frame_len);
/*
 * Writes the headers of one segment of a tx with gso_size, in software: the one with n bytes of
 * payload from offset `at`, a multiple of gso_size. hdr has room for tx->hdr_len bytes. The
 * checksum is still requested: toec_tx_finish().
 */
void toec_tx_cut(const struct toec_tx *tx, toec_u32 at, toec_u32 n, toec_u8 *hdr);
/* Returns the Toeplitz hash with the symmetric key: which of home_count stacks a 4-tuple belongs
 * to. */
toec_u32 toec_rss_hash(const struct toec_addr *a, const struct toec_addr *b, toec_u16 pa,
                       toec_u16 pb);

#ifdef __cplusplus
}
#endif

#endif
