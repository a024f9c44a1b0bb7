/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prop.h - property tests: a script of events, generated from a seed, drives one stack or two;
 * after each event the invariants hold. A script that breaks one is shrunk.
 *
 * Modes: "pair" has two stacks with a hostile network between them; "peer" one stack against
 * segments that a random peer makes up. Everything a run does is a function of its script.
 */
#ifndef PROP_H
#define PROP_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <toe/core.h>
#include <toe/counters.h>

#include "../frames.h"

#define SEC  1000000000ull
#define MSEC 1000000ull
#define USEC 1000ull

#define IP_A 0x0a000001u
#define IP_B 0x0a000002u

#define F_FIN 1u
#define F_SYN 2u
#define F_RST 4u
#define F_PSH 8u
#define F_ACK 16u
#define F_URG 32u
#define F_ECN 192u /* ECE, CWR */

#define SEQ_LT(a, b) ((int32_t)((a) - (b)) < 0)
#define SEQ_LE(a, b) ((int32_t)((a) - (b)) <= 0)

/* ---- scripts (script.c) ---- */

/* Settings of a script before its first event: X(name, default). */
#define SETTINGS(X)                                                                                \
    X(mode, 0)    /* 0 pair, 1 peer */                                                             \
    X(tx0, 65536) /* buffers of host 0 ... */                                                      \
    X(rx0, 65536)                                                                                  \
    X(tx1, 65536) /* ... and 1 */                                                                  \
    X(rx1, 65536)                                                                                  \
    X(mtu0, 1500)                                                                                  \
    X(mtu1, 1500)                                                                                  \
    X(gso0, 0)                                                                                     \
    X(gso1, 0)                                                                                     \
    X(cc0, 0)                                                                                      \
    X(cc1, 0)                                                                                      \
    X(ecn0, 0) /* enum toec_ecn_policy */                                                          \
    X(ecn1, 0)                                                                                     \
    X(flows, 8) /* pools */                                                                        \
    X(tw, 4)                                                                                       \
    X(iss0, 0) /* not 0: distance of the first flow's ISS from the wrap */                         \
    X(iss1, 0)                                                                                     \
    X(tick0, 0) /* not 0: the clock's ticks wrap so many milliseconds after the start */           \
    X(tick1, 0)                                                                                    \
    X(delay, 1000) /* one way, microseconds */                                                     \
    X(secret, 1)                                                                                   \
    X(ip6, 0) /* over IPv6 */

#define SETTING_ENUM(name, value) S_##name,
enum setting { SETTINGS(SETTING_ENUM) S_MAX };
#undef SETTING_ENUM

/* Events: X(name, names of its arguments). */
#define EVENTS(X)                                                                                  \
    X(run, "us")                                                                                   \
    X(listen, "host port backlog")                                                                 \
    X(unlisten, "host n")                                                                          \
    X(connect, "host from to")                                                                     \
    X(send, "host conn n push")                                                                    \
    X(recv, "host conn n")                                                                         \
    X(shut, "host conn")                                                                           \
    X(close, "host conn")                                                                          \
    X(abort, "host conn")                                                                          \
    X(option, "host conn option value")                                                            \
    X(refuse, "host n")            /* transmit has no room for the next n frames */                \
    X(no_open, "host on")          /* the owner refuses passive opens */                           \
    X(lose, "from n")              /* the network loses the next n frames of a host */             \
    X(late, "from n us")           /* ... delays them */                                           \
    X(twice, "from n us")          /* ... repeats them after so long */                            \
    X(mark, "from n")              /* ... marks ECN-capable packets */                             \
    X(flip, "from bit")            /* ... flips a bit of the next one */                           \
    X(replay, "from back us")      /* an old frame arrives again */                                \
    X(forge, "host conn kind v w") /* an off-path attacker forges a segment */                     \
    X(icmp, "host conn kind v")                                                                    \
    X(seg, "from to flags seq ack len wnd opts v w") /* peer mode: relative to RCV.NXT, SND.MAX */ \
    X(arp, "on")                                     /* peer mode: the peer answers ARP */         \
    X(hand, "host")                                  /* its stack is saved and restored */

#define EVENT_ENUM(name, args) E_##name,
enum event_op { EVENTS(EVENT_ENUM) E_MAX };
#undef EVENT_ENUM

#define EVENT_ARGS 10

struct event {
    enum event_op op;
    int64_t a[EVENT_ARGS];
};

struct script {
    int64_t set[S_MAX];
    struct event *ev;
    unsigned n, room;
};

void script_init(struct script *s);
void script_free(struct script *s);
void script_add(struct script *s, const struct event *e);
void script_copy(struct script *to, const struct script *from);
void script_print(const struct script *s, void *file);
void event_print(const struct event *e, void *file);
/* 0, or -1 with a message on standard error. */
int script_read(struct script *s, const char *path);
unsigned event_arity(enum event_op op);
/* fit.c: removes what the stack under test does not support. */
void script_fit(struct script *s);
/* gen.c: the script of a seed. mode: 0, 1. */
void script_make(struct script *s, uint64_t seed, int mode);

/* ---- IPv4 or IPv6 (family.c) ---- */

extern int prop_ip6; /* of this run */
/* A host's address, IPv4 mapped. */
void own_address(unsigned host, uint8_t *b);
/* Ethernet and IP to a host from the other one, `len` bytes to follow; their length. */
uint32_t put_headers(uint8_t *f, unsigned to, unsigned proto, uint32_t len);
uint32_t pseudo_sum(const uint8_t *ip, unsigned proto, uint32_t len);
/* The segment in a frame, and its length; NULL when there is none, or the headers are wrong. */
const uint8_t *tcp_of(const uint8_t *frame, uint32_t len, uint32_t *tcp_len);
/* ARP, neighbour discovery, multicast listener reports. */
int is_discovery(const uint8_t *frame);
int asks_for_peer(const uint8_t *frame);
unsigned ecn_of(const uint8_t *frame);
void mark_ce(uint8_t *frame);
void put_length(uint8_t *frame, uint32_t n);
/* Writes the peer's answer to ARP or solicitation; its length. */
uint32_t neighbour_answer(uint8_t *f);
/* Writes an ICMP error to `host`: kind 0 too big, 1..3 unreachable; ports: 8 bytes of the segment
 * that it quotes. Its length. */
uint32_t icmp_error(uint8_t *f, unsigned host, unsigned kind, uint32_t mtu, const uint8_t *ports);

/* ---- the world (world.c) ---- */

struct world;
struct host;

struct conn {
    struct host *host;
    struct toec_tcb *flow; /* 0 after GONE */
    uint8_t *rx;
    uint32_t tx_size, rx_size;
    uint64_t sent, acked, received, read;
    int established, peer_closed, gone, shut, closed, active;
    uint32_t reason;
    uint16_t lport, rport;
    uint32_t iss, irs; /* once established */
};

struct interval {
    uint32_t start, end;
};

#define WF_RANGES 64
#define WF_SYNS   64 /* more than any script sends before one is answered */
#define WF_TS     256

/* A SYN as it was delivered, or sent. */
struct syn {
    uint32_t seq;
    uint16_t mss;
    int has_mss, ws, ts, sack; /* ws -1: absent */
    int unclear; /* another with this number had other options: one of the two was dropped */
};

/* One side of a 4-tuple as the wire shows it: the frames sent by the host, and those delivered to
 * it. */
struct wflow {
    uint16_t lport, rport;
    int live;          /* a SYN has been sent: iss is known */
    int over;          /* its owner has been notified of its end */
    unsigned lives;    /* SYNs that opened another flow on it */
    unsigned old_syns; /* of `syns`, those from before that */
    uint32_t iss, snd_max;
    struct syn own;
    int own_ecn, own_plain; /* a SYN of ours requested ECN; one did not */
    int ack_known;
    uint32_t irs, last_ack, right, last_tsval, last_tsecr;
    int cookie; /* the negotiation is not visible: made from an ACK, or from one of two SYNs */
    int sure;   /* `taken` is the SYN that opened it: the owner was notified during its delivery */
    int again;  /* made from a cookie that had made a flow before: old data may carry it */
    int fin_sent;
    uint32_t fin_seq;
    /* delivered */
    struct syn syn[WF_SYNS];
    unsigned syns;
    struct syn taken; /* the one the flow was made from, once ack_known */
    struct interval got[WF_RANGES];
    unsigned gots;
    int lax; /* more was delivered than is remembered */
    int fin_in;
    uint32_t fin_in_seq;
    uint32_t granted, ack_in;
    uint32_t tsval[WF_TS];
    unsigned tsvals;
    unsigned rsts_in;
};

struct listener {
    uint32_t id;
    uint16_t port;
};

#define HOST_CONNS     200
#define HOST_WFLOWS    64
#define HOST_LISTENERS 4
#define HISTORY        64

struct host {
    struct world *world;
    unsigned index;
    struct toec_stack *stack;
    void *mem;
    struct toec_config cfg;
    toec_time origin, due;
    struct conn *conn[HOST_CONNS];
    unsigned conns, open_now;
    struct wflow wflow[HOST_WFLOWS];
    unsigned wflows;
    struct listener listener[HOST_LISTENERS];
    unsigned listeners;
    int64_t refuse, lose, late, twice, mark, flip;
    toec_time late_by, twice_by;
    int no_open;
    uint64_t refused, accepted, delivered, rsts, actions, fetched;
    struct frame *history[HISTORY];
    unsigned sent;
    toec_u64 last[TOEC_C_MAX];
    uint32_t tx_buf, rx_buf;
};

/* How a run failed: a kind that stays the same while shrinking, and the details. */
#define WHAT_MAX    64
#define MESSAGE_MAX 512

struct world {
    const struct script *script;
    struct host host[2];
    unsigned hosts;
    toec_time now;
    struct frames net;      /* under way */
    const struct frame *in; /* being delivered */
    int no_arp, arp_asked, trace, fair, over;
    unsigned at; /* event being carried out */
    /* how it failed */
    jmp_buf failed;
    char what[WHAT_MAX], message[400];
};

/* Runs a script; 0, or not 0 with w->what and w->message. The world is freed in either case. */
int world_try(const struct script *s, int trace, char *what, char *message);
_Noreturn void prop_fail(struct world *w, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void world_run(struct world *w, toec_time duration);
void world_deliver(struct world *w, unsigned to, const uint8_t *data, uint32_t len, toec_time after,
                   int forged, unsigned life);
/* Passes arrived frames to their stacks, without a poll. */
void world_give(struct world *w);
/* Sends a frame of h with the impairments that the script orders. */
void net_carry(struct host *h, uint8_t *data, uint32_t len);
toec_time host_now(const struct host *h);

/* ---- owners (ports.c) ---- */

struct conn *host_connect(struct host *h, uint16_t from, uint16_t to);
uint64_t conn_recv(struct conn *c, uint64_t n);
struct conn *conn_partner(struct conn *c);
uint8_t pattern(uint32_t seed, uint32_t at);

/* ---- apply.c: one event; attack.c: what is made up ---- */

void world_apply(struct world *w, const struct event *e);
struct conn *conn_of(struct host *h, int64_t n);
void forge(struct world *w, const struct event *e);
void forge_icmp(struct world *w, const struct event *e);
void peer_segment(struct world *w, const struct event *e);

/* ---- hand.c ---- */

void hand_over(struct host *h);

/* ---- segment.c: a frame, parsed ---- */

struct seg {
    uint32_t seq, ack, wnd, len;
    unsigned flags, hlen, urg;
    uint16_t sport, dport;
    const uint8_t *payload;
    struct syn opt;
    int has_ts;
    uint32_t tsval, tsecr;
    unsigned n_sack;
    struct interval sack[4];
    const char *fault; /* options not well formed */
};

/* Not 0 when the frame is TCP over IPv4 with good sums. */
int seg_parse(const uint8_t *frame, uint32_t len, struct seg *g);
void seg_print(const struct world *w, const char *way, unsigned host, const struct seg *g);

/* ---- check.c: the wire ---- */

struct wflow *wflow_of(struct host *h, uint16_t lport, uint16_t rport);
const struct syn *wflow_syn(const struct wflow *f);
/* A frame leaves a host; a frame is about to be delivered to one. */
void wire_out(struct host *h, const uint8_t *frame, uint32_t len);
void wire_in(struct host *h, const uint8_t *frame, uint32_t len, int forged);
/* A passive flow is opened by the segment being delivered. */
void wire_cookie(struct host *h, struct wflow *f);
/* Notifies an owner that its flow is established. */
void wire_opened(struct host *h, struct wflow *f);
/* The `lives` of the flow that a frame of this host belongs to; 0: of none. */
unsigned wire_life(struct host *from, const uint8_t *frame, uint32_t len);
/* Is it data or a FIN of an earlier flow of the same ports? */
int wire_is_stale(struct host *from, const struct frame *f);
/* Was it forged for a flow that has ended? */
int wire_is_pointless(struct host *to, const struct frame *f);
/* A flow has ended. */
void wire_gone(struct host *h, struct wflow *f);
/* The end of the bytes delivered without a gap. */
uint32_t wflow_prefix(const struct wflow *f);
/* Checks the invariants between events. */
void check_host(struct host *h);
/* After poll: a flow with pending work has a deadline. */
void check_deadline(struct host *h, toec_time deadline);

/* ---- shrink.c ---- */

/* SIGPROF ends this process when the run that begins now does not end. */
void limit_run(void);
/* Runs in a separate process: crashes and endless loops are failures too. */
int try_apart(const struct script *s, char *what, char *message);
/* Shrinks s while it still fails as `what`. */
void shrink(struct script *s, const char *what);

#endif
