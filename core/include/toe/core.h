/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - TCP/IP as a function: events in (frames, commands, time), actions out (port.h).
 *
 * Threading: a stack is used by one thread at a time; stacks share nothing. core/ never blocks,
 * allocates or reads a clock. All memory is given at toec_init().
 */
#ifndef TOE_CORE_H
#define TOE_CORE_H

#include <toe/port.h>

#ifdef __cplusplus
extern "C" {
#endif

struct toec_stack;

/* Congestion control: CUBIC (RFC 9438), NewReno (RFC 5681, RFC 6582), DCTCP (RFC 8257), BBR version
 * 3 (draft-ietf-ccwg-bbr). */
enum toec_cc { TOEC_CC_CUBIC = 0, TOEC_CC_NEWRENO = 1, TOEC_CC_DCTCP = 2, TOEC_CC_BBR = 3 };

/*
 * Explicit Congestion Notification (RFC 3168), as net.ipv4.tcp_ecn of Linux has it: never (0),
 * asked for and granted (1), granted when the peer asks (2, the default).
 */
enum toec_ecn_policy {
    TOEC_ECN_DEFAULT = 0, /* of a stack: PASSIVE */
    TOEC_ECN_OFF,
    TOEC_ECN_ON,
    TOEC_ECN_PASSIVE
};

enum toec_ip6_mode {
    TOEC_IP6_OFF = 0,
    TOEC_IP6_STATIC, /* a link-local address and the one given; advertisements are not heeded */
    TOEC_IP6_AUTO    /* ... and what routers advertise (RFC 4861, RFC 4862) */
};

/* Discovery of the path MTU by what gets through (RFC 4821), as net.ipv4.tcp_mtu_probing of Linux.
 */
enum toec_mtu_probing {
    TOEC_MTU_PROBING_DEFAULT = 0, /* BLACK_HOLE */
    TOEC_MTU_PROBING_OFF,         /* 0 there */
    TOEC_MTU_PROBING_BLACK_HOLE,  /* 1: when full segments time out again and again */
    TOEC_MTU_PROBING_ALWAYS       /* 2: begins small, searches upwards */
};

/* Values of TOEC_OPT_MTU_DISCOVER: those of IP_MTU_DISCOVER (ip(7)). */
enum toec_mtu_discover {
    TOEC_MTU_DONT = 0,  /* DF is not set */
    TOEC_MTU_WANT,      /* the default */
    TOEC_MTU_DO,        /* of TCP the same */
    TOEC_MTU_PROBE,     /* DF, but the path MTU cache is not looked at */
    TOEC_MTU_INTERFACE, /* no DF, as large as the link takes, ICMP errors are not believed */
    TOEC_MTU_OMIT       /* of TCP the same */
};

/* Everything a stack must know. Zero means the default named in the comment. */
struct toec_config {
    void *user;             /* handed to every port function */
    toec_u8 mac[6];         /* own Ethernet address */
    toec_u8 ip[4];          /* own IPv4 address; 0.0.0.0: none, with IPv6 alone */
    toec_u8 prefix_len;     /* of the on-link network, 0..32 (0: everything on link) */
    toec_u8 gateway[4];     /* 0.0.0.0: none, off-link destinations are unreachable */
    toec_u32 mtu;           /* 1500; 576..9216 */
    toec_u32 ttl;           /* TTL, and hop limit until a router says another: 64; 1..255 */
    toec_u32 max_flows;     /* TCBs, 1024 */
    toec_u32 max_records;   /* flows that may have many segments under way at once, and as many that
                             * may have many gaps in what they receive; 4.3 and 0.5 KiB each:
                             * max_flows. Without one a flow goes on, but finds losses later */
    toec_u32 max_listeners; /* 64 */
    toec_u32 max_time_wait; /* 16384; the oldest is recycled when full, counted */
    toec_u32 max_neighbours;  /* of both families, 256 */
    toec_u32 max_datagrams;   /* datagrams in reassembly at once, 16 */
    toec_u32 max_gso;         /* largest payload handed to transmit at once; 0: one MSS (no TSO) */
    toec_u32 offload;         /* TOEC_OFF_* */
    toec_u32 icmp_echo_rate;  /* echo replies per second, 10000; 0xffffffff: no limit */
    toec_u32 icmp_error_rate; /* ICMP errors per second and (hashed) destination, 100; as above */
    toec_u8 secret[32];       /* from a good random source: ISNs, ports, cookies, hash keys */
    enum toec_cc cc;          /* default congestion control of new flows */
    enum toec_ecn_policy ecn; /* of new flows and listeners */
    enum toec_ip6_mode ip6;   /* mtu must be 1280 at least when it is not off */
    toec_u8 ip6_addr[16];     /* static address, or :: */
    toec_u8 ip6_prefix_len;   /* of its on-link network, 0..128 (0: only routers are on link) */
    toec_u8 ip6_gateway[16];  /* static default router, or :: */
    toec_u8 ip6_secret[16];   /* for interface identifiers (RFC 7217): the same each time gives the
                               * same addresses; all zero: derived from secret */
    enum toec_mtu_probing mtu_probing;
    toec_u32 max_udp;                 /* UDP endpoints, 0: none; every port is unreachable then */
    const struct toec_udp_ops *udp;   /* who is told of UDP (port.h); kept */
    const struct toec_link_ops *link; /* who knows routes and neighbours (port.h); kept. 0:
                                       * prefixes, gateways, ARP and discovery do. With it IPv6 is
                                       * TOEC_IP6_OFF, or TOEC_IP6_STATIC without an address: they
                                       * come by toec_set_addresses6() */
    toec_u32
        local; /* not 0: the integrator hands back what is sent to an own address (toec_tx.local);
                * 0: nobody can be reached there, and a packet from there is a forgery */
    toec_u32 tcp_without; /* TOEC_I_*: options that are neither offered nor taken from a SYN */
    toec_u32 arp_probe; /* not 0: RFC 5227 2.1, the IPv4 address is tested before it is used, which
                         * takes 5 to 9 s; see toec_ip4_state() */
    toec_u32 max_ao_keys;         /* TCP-AO (ao.h): keys of listeners and connections together, each
                                   * connection's counted; 0: none, the option is not known */
    const struct toec_ao_ops *ao; /* with max_ao_keys: who shows payload (port.h); kept */
    /* The stream of `owner` will soon be sent from offset `off` on, as far as can be told: what
     * that touches may be fetched into the cache. Called while more than a dozen flows wait for
     * their turn to send; it must change nothing. 0: nobody asks */
    void (*expect_send)(void *user, void *owner, toec_u32 off);
    toec_u32 home_index; /* of home_count stacks behind one address, this is number home_index; */
    toec_u32 home_count; /* active opens choose a port whose toec_rss_hash() is home. 0 or 1: one */
};

#define TOEC_OFF_TX_CSUM 1u /* transmit finishes checksums itself (informational for counters) */

/* Bytes of memory a stack with this configuration needs; 0 when the configuration is invalid, or
 * asks for more than a machine of 32 bits can have in one piece (2 GiB). */
unsigned long toec_size(const struct toec_config *cfg);

/*
 * What those bytes go to. Of each kind: what one more takes, its share of the hash table included;
 * fixed: what is left of total when each kind is there as often as configured.
 */
struct toec_memory {
    unsigned long total; /* toec_size() */
    unsigned long flow, record, listener, time_wait, neighbour, datagram, udp, ao_key;
    unsigned long fixed;
};
/* 0, or TOEC_E_INVAL when the configuration is invalid. */
int toec_memory(const struct toec_config *cfg, struct toec_memory *out);

/*
 * Makes a stack in mem (aligned to 64 bytes, at least toec_size() bytes). Returns the stack, or 0
 * when the configuration is invalid, size too small or mem 0.
 */
struct toec_stack *toec_init(void *mem, unsigned long size, const struct toec_config *cfg,
                             toec_time now);

enum toec_ip4_state {
    TOEC_IP4_NONE = 0,
    TOEC_IP4_TESTED, /* it is being tested: nothing is sent from it, nothing taken for it */
    TOEC_IP4_OWN,
    TOEC_IP4_TAKEN /* another host has it: it stays unused */
};

/* What has become of the IPv4 address. mac: the host that has claimed it last, in conflicts with an
 * address in use as well (TOEC_C_arp_conflict counts them); all 0: none. */
enum toec_ip4_state toec_ip4_state(const struct toec_stack *s, toec_u8 mac[6]);

/* Another toec_config.max_gso from now on: an offload was switched. 0, or TOEC_E_INVAL. */
int toec_set_max_gso(struct toec_stack *s, toec_u32 max_gso);

/* Flows there are, half-open ones too. */
toec_u32 toec_flow_count(const struct toec_stack *s);

/* Of a frame that toec_expect() has looked at. */
struct toec_expected {
    void *owner;  /* of the flow it seems to be of; 0: not known */
    toec_u32 off; /* where in its receive stream data in order goes */
    toec_u32 len; /* bytes of data the frame seems to bring */
};
#define TOEC_EXPECT_MAX 32u

/*
 * These n frames, TOEC_EXPECT_MAX at most, will be given to toec_input() next: what that will touch
 * of their flows is fetched into the cache, and out[0] to out[n - 1] say whose memory it will touch
 * besides. For integrators with many flows and several frames at a time; it changes nothing and
 * need not be called. TOEC_PREFETCH(p), for compilers other than gcc and clang, is what fetches.
 */
void toec_expect(const struct toec_stack *s, const struct toec_packet *p, unsigned n,
                 struct toec_expected *out);
/* The same for commands that will come soon for this flow, which may be gone meanwhile. */
void toec_expect_flow(const struct toec_stack *s, const struct toec_tcb *flow);

/* A frame has arrived. The frame may be reused by the integrator as soon as this returns. */
void toec_input(struct toec_stack *s, const struct toec_packet *p, toec_time now);

/*
 * Runs due timers and sends what is owed (delayed by transmit's -1, batched ACKs). Call after each
 * batch of frames and commands, and when the returned time has come. Returns the next deadline,
 * TOEC_NEVER when there is none, or `now` when frames wait for room in transmit.
 */
toec_time toec_poll(struct toec_stack *s, toec_time now);

/*
 * The part of toec_poll() that sends: what flows owe at once leaves, no timer runs. For one who has
 * given commands between two batches and wants their frames out. toec_poll() is owed all the same.
 */
void toec_output(struct toec_stack *s, toec_time now);

/*
 * With toec_config.link: what has become of a neighbour, asked for or not; mac 0: it does not
 * answer. Neighbours that nobody sends to are not kept.
 */
void toec_neighbour(struct toec_stack *s, const struct toec_addr *addr, const toec_u8 *mac,
                    toec_time now);
/* ... and what toec_link_ops.route() says may be another now. */
void toec_routes_changed(struct toec_stack *s);

/* With toec_config.link: the own addresses of IPv6, instead of those that there were; the other
 * stack has tested them. Up to TOEC_GIVEN_MAX, the rest is left out and counted. Flows from one
 * that has gone are the integrator's to reset, before. */
#define TOEC_GIVEN_MAX 8u
struct toec_given {
    struct toec_addr addr;
    toec_u8 prefix_len;
    toec_u8 deprecated; /* not for new connections where there is another (RFC 4862 5.5.4) */
};
void toec_set_addresses6(struct toec_stack *s, const struct toec_given *given, unsigned n);

/* Its address's prefix is another: what of the network is a broadcast address follows. */
void toec_set_prefix(struct toec_stack *s, unsigned prefix_len);

/*
 * What the link carries now, at most what toec_config.mtu said at the start (frames received may
 * have that size still). Open flows follow at once, both ways, new ones announce it. IPv6 keeps to
 * its least, 1280. Returns what is in use, of IPv4.
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
 * Listens on port. addr: an own address; :: (all zero): any address, of both families or, with
 * TOEC_LISTEN_V6ONLY or'ed to syn_backlog, of IPv6 alone (as Linux's IPV6_V6ONLY); 0.0.0.0 mapped:
 * any of IPv4. syn_backlog: half-open flows kept before SYN cookies are used (0: 256), fewer where
 * those of all listeners would outnumber the free TCBs. The handle is returned in *id.
 */
#define TOEC_LISTEN_V6ONLY 0x80000000u
int toec_listen(struct toec_stack *s, const struct toec_addr *addr, toec_u16 port, void *owner,
                toec_u32 syn_backlog, toec_u32 *id);
/*
 * May a socket be bound to addr and port, as far as the connections there allow, those in TIME-WAIT
 * too? As bind(2) of Linux: each of them must let others in by one of the ways that the socket does
 * (TOEC_REUSE_*, see TOEC_OPT_REUSE). addr as of toec_listen(), with TOEC_BIND_V6ONLY or'ed to how;
 * listeners are not asked. 0, or TOEC_E_INUSE. Costs the same however many connections there are.
 */
#define TOEC_REUSE_ADDR  1u
#define TOEC_REUSE_PORT  2u
#define TOEC_REUSE_ALL   3u
#define TOEC_BIND_V6ONLY 4u
int toec_bind_ok(const struct toec_stack *s, const struct toec_addr *addr, toec_u16 port,
                 unsigned how);
/* Stops listening; half-open flows of it are dropped, established ones stay. */
int toec_unlisten(struct toec_stack *s, toec_u32 id);

/* Active open. local_port 0: ephemeral (RFC 6056); one that is home to another stack (home_index):
 * TOEC_E_NOTAVAIL, because the answers would go there. Result by TOEC_EV_ESTABLISHED or _GONE. */
int toec_connect(struct toec_stack *s, const struct toec_addr *remote, toec_u16 remote_port,
                 toec_u16 local_port, const struct toec_buffers *bufs, toec_time now,
                 struct toec_tcb **flow);
/* The same from this own address; 0 or :: leaves the choice to the stack (RFC 6724).
 * TOEC_E_NOTAVAIL: not our address. TOEC_E_INVAL: the families differ. */
int toec_connect_from(struct toec_stack *s, const struct toec_addr *local,
                      const struct toec_addr *remote, toec_u16 remote_port, toec_u16 local_port,
                      const struct toec_buffers *bufs, toec_time now, struct toec_tcb **flow);

/* n more bytes stand in the send stream. push: the writer has no more for now (PSH). Without, what
 * does not fill a segment waits for more, 200 ms at most (MSG_MORE, as TOEC_OPT_CORK). */
int toec_send(struct toec_stack *s, struct toec_tcb *flow, toec_u32 n, int push, toec_time now);
/*
 * The bytes announced so far end with urgent data (RFC 9293 3.8.5, MSG_OOB): the peer is told at
 * once where it ends. TOEC_E_INVAL: nothing was ever announced, or the sending side is closed.
 */
int toec_urgent(struct toec_stack *s, struct toec_tcb *flow, toec_time now);
/* The reader has taken n bytes; their room may be offered again. */
int toec_recv(struct toec_stack *s, struct toec_tcb *flow, toec_u32 n, toec_time now);
/* End of our data: FIN after all data sent. The receive side stays open. */
int toec_shutdown(struct toec_stack *s, struct toec_tcb *flow, toec_time now);
/*
 * Full close: FIN after all data sent, or RST when received data was never read (RFC 9293 3.6.1 /
 * RFC 2525 2.17; as Linux). Data arriving afterwards is answered with RST. TOEC_EV_GONE follows.
 */
int toec_close(struct toec_stack *s, struct toec_tcb *flow, toec_time now);
/* Reset now. TOEC_EV_GONE(TOEC_R_ABORTED) follows before this returns. */
int toec_abort(struct toec_stack *s, struct toec_tcb *flow, toec_time now);

/*
 * Fast Open (RFC 7413) as client: right after toec_connect(), before toec_poll(). Returns 1 when
 * data may go with the SYN, which then waits for the first toec_send(); 0 when it may not: the SYN
 * goes as ever, and asks for a cookie unless the path has lost such SYNs lately. no_cookie: data
 * goes with the SYN without any (TCP_FASTOPEN_NO_COOKIE). TOEC_E_INVAL: the SYN is under way.
 * What the peer does not take of the data is sent again once the connection is open.
 */
int toec_fastopen(struct toec_stack *s, struct toec_tcb *flow, int no_cookie, toec_time now);
/*
 * ... as server: a SYN with a good cookie is TOEC_EV_ESTABLISHED at once, its data told, and
 * answers may go before the handshake is over. max: flows at once whose handshake is not; others
 * open by the handshake. 0 (and the default): Fast Open is off. With TOEC_FASTOPEN_NOCOOKIE added
 * any SYN with data or the option is good (TCP_FASTOPEN_NO_COOKIE): for networks that let nobody
 * forge addresses.
 */
#define TOEC_FASTOPEN_NOCOOKIE 0x80000000u
int toec_listen_fastopen(struct toec_stack *s, toec_u32 id, toec_u32 max);
/* The listener's keys: n of 16 bytes each, n 0..2, the second accepted only; 0: those of the stack,
 * made from its secret and changed every 19.5 hours. As net.ipv4.tcp_fastopen_key of Linux. */
int toec_listen_fastopen_key(struct toec_stack *s, toec_u32 id, const toec_u8 *keys, unsigned n);

enum toec_option {
    TOEC_OPT_NODELAY = 1,  /* 0/1 */
    TOEC_OPT_KEEPALIVE,    /* 0/1 */
    TOEC_OPT_KEEPIDLE,     /* seconds, 1..32767; default 7200 */
    TOEC_OPT_KEEPINTVL,    /* seconds, 1..32767; default 75 */
    TOEC_OPT_KEEPCNT,      /* 1..127; default 9 */
    TOEC_OPT_CC,           /* enum toec_cc; DCTCP before its SYN asks for ECN by itself */
    TOEC_OPT_USER_TIMEOUT, /* milliseconds, 0: default (R2) */
    TOEC_OPT_CORK,         /* 0/1: hold sub-MSS data while set, at most 200 ms */
    TOEC_OPT_QUICKACK,     /* 0/1 */
    TOEC_OPT_LINGER2,      /* seconds of FIN-WAIT-2 after a full close; default 60 */
    TOEC_OPT_ECN = 43,     /* enum toec_ecn_policy but DEFAULT; of a flow before its SYN is sent */
    TOEC_OPT_SYNCNT = 20,  /* retransmissions of the SYN, 1..127; 0: default (R2, over 3 minutes) */
    TOEC_OPT_ADV_UTO = 21, /* seconds to advertise as user timeout (RFC 5482), 0: not, ..1966020 */
    TOEC_OPT_MTU_DISCOVER = 40, /* enum toec_mtu_discover */
    TOEC_OPT_MAXSEG = 41, /* bytes of payload and options in a segment at most, 88..32767, 0: no
                           * bound but the path's; of a flow before its SYN the peer is told */
    /* Of a listener: 0..255; its flows are told with their first data or FIN, or when the timer of
     * the SYN-ACK has expired so often (TCP_DEFER_ACCEPT); 0: at once. */
    TOEC_OPT_DEFER_ACCEPT = 25,
    TOEC_OPT_REUSE = 44, /* TOEC_REUSE_*: who else may have its port while it is there, and then in
                          * TIME-WAIT; see toec_bind_ok(). 0: nobody (the default) */
    TOEC_OPT_TOS = 42,   /* DSCP and two bits that are not used, 0..255 (IP_TOS, IPV6_TCLASS) */
    /* Bytes per second at most (SO_MAX_PACING_RATE); 0 or 0xffffffff: no limit (the default). A
     * limit also turns pacing on for CUBIC and NewReno, which are not paced otherwise. */
    TOEC_OPT_MAX_PACING = 30
};
int toec_set_option(struct toec_stack *s, struct toec_tcb *flow, enum toec_option opt,
                    toec_u32 value, toec_time now);
/* As toec_set_option() for the flows a listener will make: TOEC_OPT_ECN, _MTU_DISCOVER, _MAXSEG,
 * _TOS, _REUSE; and TOEC_OPT_DEFER_ACCEPT, which a flow does not have. */
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

/* What loss recovery does, as tcpi_ca_state of Linux has it. */
enum toec_ca_state {
    TOEC_CA_OPEN = 0,
    TOEC_CA_DISORDER, /* something is SACKed, or duplicate ACKs have come */
    TOEC_CA_CWR,      /* the window was cut, and nothing lost */
    TOEC_CA_RECOVERY, /* fast recovery */
    TOEC_CA_LOSS      /* the recovery after a timeout, or after a path MTU fell */
};

/* A snapshot of a connection, for flow records and TCP_INFO. Times in microseconds. */
struct toec_info {
    struct toec_addr local, remote;
    toec_u16 local_port, remote_port;
    toec_u8 state, ws_send, ws_recv, opts; /* opts: TOEC_I_* */
    toec_u32 mss_send, mss_recv;
    toec_u32 pmtu; /* what the path carries as far as is known: the largest datagram sent */
    toec_u32 srtt_us, rttvar_us, rto_us, min_rtt_us;
    toec_u32 cwnd, ssthresh, snd_wnd, rcv_wnd; /* bytes */
    toec_u32 retransmits, dup_acks, in_flight;
    toec_u64 bytes_sent, bytes_acked, bytes_received;
    /* Bytes per second. delivery_rate: the last sample that says something of the path (BBR, see
     * TOEC_I_APP_LIMITED), else the most acknowledged in a round trip lately; 0: not known.
     * pacing_rate: 0: not paced. max_pacing_rate: TOEC_OPT_MAX_PACING, 0: none. */
    toec_u64 delivery_rate, pacing_rate, max_pacing_rate;
    toec_u8 cc; /* enum toec_cc */
    /* Loss recovery (RFC 8985). Of what is outstanding, bytes: sacked by the peer (without SACK:
     * one MSS for each duplicate ACK); lost: taken for lost, sent again since or not; retrans_out:
     * sent again, and not taken for lost once more. */
    toec_u32 sacked, lost, retrans_out;
    toec_u32 lost_total;    /* segments ever taken for lost */
    toec_u32 dsacks;        /* segments the peer has reported as duplicates (RFC 2883) */
    toec_u32 reord_seen;    /* segments that arrived after later ones */
    toec_u32 undone;        /* reductions of the window taken back: nothing was lost */
    toec_u64 bytes_retrans; /* payload sent again */
    toec_u16 reordering;    /* the farthest, in segments; 3 to 300 as Linux has it */
    toec_u8 ca_state;       /* enum toec_ca_state */
    toec_u8 timeouts;       /* without progress since; */
    toec_u8 backoff;        /* how often they have doubled the RTO */
};
#define TOEC_I_TIMESTAMPS  1u
#define TOEC_I_SACK        2u
#define TOEC_I_WSCALE      4u
#define TOEC_I_ECN         8u  /* negotiated (as TCPI_OPT_ECN) */
#define TOEC_I_ECN_SEEN    16u /* ... and the peer has sent ECN-capable data */
#define TOEC_I_SYN_DATA    32u /* data on the SYN was taken: Fast Open (as TCPI_OPT_SYN_DATA) */
#define TOEC_I_APP_LIMITED 64u /* delivery_rate was limited by the application */
void toec_flow_info(const struct toec_stack *s, const struct toec_tcb *flow, struct toec_info *out);
/*
 * Another owner, whose buffers are of the same sizes, for an established flow with which its owner
 * has done nothing: read, announced and closed nothing. Also from within TOEC_EV_ESTABLISHED. What
 * has been received is the caller's to take along: the first *extent bytes of the receive stream's
 * buffer, some of which may not have come yet. 0; TOEC_E_INVAL: it is no such flow.
 */
int toec_flow_give(struct toec_stack *s, struct toec_tcb *flow, void *owner, toec_u32 *extent);

/*
 * ---- UDP (RFC 768, RFC 1122 4.1) ----
 *
 * For integrators that need it; toed offers no UDP sockets. Compiled with TOEC_NO_UDP there is none
 * of it, and every port is unreachable. Datagrams arrive by toec_config.udp (port.h). To and from
 * unicast addresses only.
 */

struct toec_udp;

/* What an endpoint is bound to. */
struct toec_udp_bind {
    struct toec_addr local;  /* own address; 0.0.0.0 mapped: any of IPv4; all zero: any of both */
    struct toec_addr remote; /* with remote_port: connected, hears this peer alone */
    toec_u16 local_port;     /* 0: ephemeral (RFC 6056) */
    toec_u16 remote_port;    /* 0: not connected; remote is all zero then */
    toec_u8 v6only;          /* local all zero: any of IPv6 alone */
};

/* 0; TOEC_E_INVAL, _NOTAVAIL (not our address, no port left), _INUSE, _UNREACH, _NOBUFS. */
int toec_udp_open(struct toec_stack *s, const struct toec_udp_bind *bind, void *owner,
                  struct toec_udp **endpoint);
void toec_udp_close(struct toec_stack *s, struct toec_udp *endpoint);
void toec_udp_name(const struct toec_udp *endpoint, struct toec_addr *local, toec_u16 *port);

#define TOEC_UDP_SEGMENTS 128u /* of one call at most, as UDP_MAX_SEGMENTS of Linux */

/* What to send. The payload is asked for by toec_port_transmit(): owner is `payload`. */
struct toec_udp_msg {
    const struct toec_addr *to; /* 0: the peer of a connected endpoint */
    toec_u16 to_port;
    toec_u16 segment; /* UDP_SEGMENT: len is cut into datagrams of this size, at most
                       * TOEC_UDP_SEGMENTS (TOEC_E_INVAL); 0: one datagram */
    void *payload;
    toec_u32 off, len;
    toec_u16 sum;     /* toec_sum() of the payload: needed (has_sum) where one datagram is */
    toec_u8 has_sum;  /* larger than the path MTU, as fragments share one checksum */
    toec_u8 no_check; /* IPv4 alone: without checksum */
    toec_u8 dont_fragment;
    toec_u8 tos;
};

/*
 * Sends. Returns the bytes sent (fewer than len only with segment, when transmit has run out of
 * room), TOEC_E_AGAIN (no room, or the neighbour is being resolved: try again later; no event tells
 * when), TOEC_E_MSGSIZE (too large for a datagram, or for the path with dont_fragment),
 * TOEC_E_UNREACH, TOEC_E_HOSTUNREACH, TOEC_E_NOTAVAIL, TOEC_E_INVAL.
 */
int toec_udp_send(struct toec_stack *s, struct toec_udp *endpoint, const struct toec_udp_msg *m,
                  toec_time now);

/* Counters: every drop and every rare event has a name. The list is the single source: names for
 * the tools come from TOEC_COUNTERS too. See core/include/toe/counters.h. */
const toec_u64 *toec_counters(const struct toec_stack *s); /* TOEC_C_MAX of them */
/* How many of each pool are in use: tests for leaks, tools. */
struct toec_usage {
    toec_u32 flows, records, gaps, half_open, listeners, time_wait, neighbours, datagrams, ao_keys;
};
void toec_usage(const struct toec_stack *s, struct toec_usage *out);

/* A round trip of a connection that was timed: from a segment's sending to its acknowledgement.
 * Those of timestamps, which are of whole milliseconds, are not told. */
struct toec_rtt {
    struct toec_addr local, remote;
    toec_u16 local_port, remote_port;
    toec_u32 rtt; /* 2^10 ns */
};
/* Calls tell with each, from now on, within toec_input(); 0: no more. It must not call the stack.
 */
typedef void (*toec_rtt_fn)(void *user, const struct toec_rtt *sample);
void toec_watch_rtt(struct toec_stack *s, toec_rtt_fn tell);

/* An own address of IPv6. */
struct toec_own_addr {
    struct toec_addr addr;
    toec_u8 prefix_len;
    toec_u8 usable;    /* unique, as far as is known, and valid */
    toec_u8 tentative; /* not yet known to be unique; neither: a duplicate */
    toec_u8 on_link;   /* prefix_len when that network is on the link, else 128 */
};
/* Fills up to max of them; returns how many there are. */
unsigned toec_own_addresses(const struct toec_stack *s, struct toec_own_addr *out, unsigned max);
/* Not 0 when there is a router to send to what is not on the link. */
int toec_has_router(const struct toec_stack *s);
/* Another value when any of this has changed. */
toec_u32 toec_own_epoch(const struct toec_stack *s);

/*
 * ---- handing over to another stack (save.h) ----
 *
 * A stack is written down as an image (image.h) and goes on as another one, made by toec_init() in
 * another process perhaps, of another release perhaps: the peers notice nothing. Payload is no part
 * of it: the owners of flows have it. Both keep the same time. UDP endpoints are not saved.
 */
struct toec_saver {
    void *arg;
    /* The next n bytes of the image; not 0: there is no room for them. */
    int (*put)(void *arg, const void *data, toec_u32 n);
    /* A number by which the owner of a flow, or of a listener, is found again. */
    void (*name)(void *arg, void *owner, int listener, toec_u64 *out);
};
/* Changes nothing. 0, or TOEC_E_NOBUFS: put() has refused, or the stack is within a call. */
int toec_save(const struct toec_stack *s, const struct toec_saver *to, toec_time now);

struct toec_restorer {
    void *arg;
    /* As toec_port_open(), for the owner of this number; `flow` is its handle from now on. The
     * buffers are as large as they were. -1: there is none. */
    int (*flow)(void *arg, toec_u64 name, struct toec_tcb *flow, const struct toec_open *info,
                struct toec_buffers *out);
    /* The owner of a listener, whose handle is id as before. -1: there is none. */
    int (*listener)(void *arg, toec_u64 name, toec_u32 id, const struct toec_addr *addr,
                    toec_u16 port, void **owner);
};
/*
 * Into a stack that toec_init() has just made with the same addresses and room enough; the secrets
 * are those of the image. Nothing of it is believed: what a stack could not have written is
 * refused. Returns 0, or a sentence that says what is wrong, after which the stack is of no use. No
 * event is told. Call toec_poll() next.
 */
const char *toec_restore(struct toec_stack *s, const void *image, unsigned long n,
                         const struct toec_restorer *by, toec_time now);

/* ---- helpers for integrators ---- */

/* Ones' complement sum of n bytes as native 16-bit words, folded, not complemented. */
toec_u16 toec_sum(const void *data, unsigned long n);
/* Adds two folded sums; the second part began at an odd byte when odd is not 0. */
toec_u16 toec_sum_add(toec_u16 a, toec_u16 b, int odd);
/*
 * Finishes a frame in software: frame holds hdr and payload contiguous, frame_len bytes; completes
 * the checksum that tx asks for.
 */
void toec_tx_finish(const struct toec_tx *tx, toec_u8 *frame, toec_u32 frame_len);
/* Toeplitz hash with the symmetric key: which of home_count stacks a 4-tuple is home to. */
toec_u32 toec_rss_hash(const struct toec_addr *a, const struct toec_addr *b, toec_u16 pa,
                       toec_u16 pb);

#ifdef __cplusplus
}
#endif

#endif
