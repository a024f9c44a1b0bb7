/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.h - TCP inside core/: the TCB (RFC 9293 3.3.1) and what the tcp_*.c files share.
 *
 * Sequence numbers are absolute; the stream offset of port.h is seq - iss - 1 or seq - irs - 1.
 * Ticks are now >> 20 (1.05 ms), compared modulo 2^32.
 */
#ifndef TOE_TCP_H
#define TOE_TCP_H

#include "../ip/stack.h"
#include "tcp_ao.h"
#include "../cc/tcp_cc.h"
#include "../cc/tcp_cwv.h"
#include "tcp_ecn.h"
#include "../cc/tcp_pace.h"
#include "tcp_pmtu.h"
#include "tcp_rack.h"
#include "tcp_rare.h"
#include "tcp_tfo.h"

/* ---- limits and times ---- */

#define TOEC_SEQ_LT(a, b) ((toec_i32)((a) - (b)) < 0)
#define TOEC_SEQ_LE(a, b) ((toec_i32)((a) - (b)) <= 0)
#define TOEC_SEQ_GT(a, b) ((toec_i32)((a) - (b)) > 0)
#define TOEC_SEQ_GE(a, b) ((toec_i32)((a) - (b)) >= 0)

/* Milliseconds to ticks of 2^20 ns, rounded down: 10^6 / 2^20 = 15625 / 2^14. */
#define TOEC_MS(ms) ((toec_u32)(((toec_u64)(ms)*15625u) >> 14))

/* RFC 9293 MUST-15: when no option is received. */
#define TOEC_MSS_DEFAULT4 536u
#define TOEC_MSS_DEFAULT6 1220u
#define TOEC_MSS_MIN      64u /* a smaller MSS option is raised to this: no tiny-segment attack */
#define TOEC_MTU_PROBE_BASE                                                                        \
    1064u /* where a search for the path MTU begins: tcp_base_mss of Linux */
#define TOEC_CWND_MAX    0x3fffffffu
#define TOEC_WSCALE_MAX  14u /* RFC 7323 2.3 */
#define TOEC_IW_SEGMENTS 10u /* RFC 6928 */
#define TOEC_DUPTHRESH   3u
#define TOEC_OOO_MAX     64u /* out-of-order intervals kept of a flow, */
#define TOEC_OOO_OWN     2u  /* ... of them in the TCB: what one or two losses make */
#define TOEC_QUICKACKS   8u  /* segments acknowledged at once when a flow starts or loses */
#define TOEC_RTO_INIT    TOEC_MS(1000)       /* R6298-01 */
#define TOEC_RTO_MIN     (TOEC_MS(200) + 1u) /* R6298-04: less than 1 s, as Linux */
#define TOEC_RTO_MAX     TOEC_MS(120000)     /* R6298-05 */
#define TOEC_DELACK      (TOEC_MS(40) + 1u)  /* RFC 9293 3.8.6.3: under 500 ms */
#define TOEC_OWING_LEAST 64u                 /* places for flows that owe an ACK: a power of two */
#define TOEC_CORK_MAX    TOEC_MS(200)
#define TOEC_TIME_WAIT_T TOEC_MS(60000) /* 2 MSL as Linux has it */
#define TOEC_LINGER2_T   60u            /* seconds */
#define TOEC_TLP_DELACK  TOEC_MS(200)   /* RFC 8985 7.2, TLP.max_ack_delay: as Linux has it */
#define TOEC_R1          3u             /* timeouts before the path is doubted (RFC 9293 3.8.3) */
#define TOEC_R2_DATA     15u            /* timeouts before giving up: about 15 minutes and more */
#define TOEC_R2_SYN      7u /* 1+2+4+...+64+120 s: above the 3 minutes of RFC 9293 3.8.3 */
#define TOEC_R2_SYNACK   5u
#define TOEC_PAWS_IDLE   TOEC_MS(24ull * 86400000u) /* RFC 7323 5.5 */
#define TOEC_CHALLENGE_T TOEC_MS(1000) /* window of the challenge-ACK limit, per flow */
#define TOEC_CHALLENGE_N 5u
#define TOEC_COOKIE_TICK 16u            /* cookie periods are 2^16 ticks, 69 s */
#define TOEC_COOKIE_AGES 2u             /* a cookie is good in its own period and the next one */
#define TOEC_RECLAIM_T   TOEC_MS(30000) /* stands still: waits so long for its next attempt */
#define TOEC_BACKLOG     256u
#define TOEC_PORT_FIRST  32768u /* ephemeral ports as Linux has them */
#define TOEC_PORT_COUNT  28232u

typedef short toec_i16;

/* ---- TCB ---- */

/* TCB flags. */
#define TOEC_F_TS        0x00000001u /* negotiated: RFC 7323 timestamps */
#define TOEC_F_SACK      0x00000002u /* RFC 2018 */
#define TOEC_F_WSCALE    0x00000004u
#define TOEC_F_ACK_NOW   0x00000008u /* owe an ACK at the next poll */
#define TOEC_F_DELACK    0x00000010u /* owe an ACK at delack_at */
#define TOEC_F_PENDING   0x00000020u /* stands in the pending list */
#define TOEC_F_NODELAY   0x00000040u
#define TOEC_F_CORK      0x00000080u
#define TOEC_F_CORK_T    0x00000100u /* cork_at runs */
#define TOEC_F_QUICKACK  0x00000200u
#define TOEC_F_KEEPALIVE 0x00000400u
#define TOEC_F_KEEP_T    0x00000800u /* keep_at runs: keep-alive or FIN-WAIT-2 */
#define TOEC_F_RTX       0x00001000u /* rtx_at runs: retransmission or persist */
#define TOEC_F_PERSIST   0x00002000u /* ... the zero-window probe (RFC 9293 3.8.6.1) */
#define TOEC_F_RTT       0x00004000u /* rtt_seq is being timed */
#define TOEC_F_FIN       0x00008000u /* FIN follows snd_end */
#define TOEC_F_USER_GONE 0x00010000u /* full close: nobody reads any more */
#define TOEC_F_PARKED    0x00020000u /* ... at its far end: the neighbour is being resolved */
#define TOEC_F_OOO_FIN   0x00040000u /* rcv_fin: a FIN beyond a gap */
#define TOEC_F_FAST      0x00080000u /* fast recovery (RFC 6675, RFC 6582) */
#define TOEC_F_LOSS      0x00100000u /* after a timeout, until `recover` */
#define TOEC_F_RTX_HEAD  0x00200000u /* resend the first segment whatever the window says */
#define TOEC_F_CWND_LIM  0x00400000u /* the congestion window stopped the last sending */
#define TOEC_F_ARMED     0x00800000u /* timer is set, for timer_due */
#define TOEC_F_PROBE     0x01000000u /* owe a keep-alive probe */
#define TOEC_F_PUSH      0x02000000u /* the last bytes announced end a message */
#define TOEC_F_SACKED    0x04000000u /* something outstanding is SACKed, or taken for lost */
#define TOEC_F_OOO       0x08000000u /* a SACK option is due: n_ooo is not 0, or a DSACK waits */
#define TOEC_F_ZWIN      0x10000000u /* a zero-window probe is due now */
#define TOEC_F_TLP       0x20000000u /* a tail loss probe is out (RFC 8985 7.3) */
#define TOEC_F_UNCORK    0x40000000u /* corked data has waited long enough */
#define TOEC_F_PROBED    0x80000000u /* the byte at snd_max was sent as a probe */

/* Sequence interval [start, end). */
struct toec_iv {
    toec_u32 start, end;
};

struct toec_listener;

/* Of a flow in SYN-RECEIVED that came from LISTEN: a list of its listener's. */
struct toec_half {
    struct toec_listener *listener;
    struct toec_tcb *next, **prev;
};

/*
 * In the order of who touches it, so that of many flows few cache lines are waited for. Line 0
 * names the flow and holds the receive sequence variables, 1 the send sequence variables, 2 what
 * each segment and each ACK looks at beside them (checked below); from 3 on stands what is written
 * with a flight (timer, record, windows), then the path. Traffic in order touches nothing from
 * `recover` on: what losses and options need, and statistics. What few flows have, or for a while
 * alone, is no part of it: records, gaps, pacing, episodes of loss.
 */
struct toec_tcb {
    struct toec_hnode node;
    void *owner;
    toec_u32 remote_ip; /* value (wire.h), of IPv6 the last 32 bits; see remote below */
    toec_u16 local_port, remote_port;
    toec_u32 flags; /* TOEC_F_* */
    toec_u8 state;  /* enum toec_state */
    toec_u8 scales; /* high four bits: Snd.Wind.Shift, low: Rcv.Wind.Shift */
    toec_u8 rx_log; /* receive buffer is 1 << rx_log bytes */
    toec_u8 delack; /* segments received since the last ACK */
    /* receive sequence variables (RFC 9293 3.3.1) */
    toec_u32 rcv_nxt;
    toec_u32 rcv_adv;   /* right edge of the window offered: RCV.NXT + RCV.WND at most */
    toec_u32 rcv_read;  /* first byte the owner has not read */
    toec_u32 rcv_acked; /* Last.ACK.sent (RFC 7323) */
    toec_u32 irs;
    toec_u32 ts_recent;

    /* send sequence variables */
    toec_u32 iss;
    toec_u32 snd_una;
    toec_u32 snd_nxt; /* next to send; pulled back to snd_una by a timeout */
    toec_u32 snd_max; /* highest sent + 1: SND.NXT of the RFC */
    toec_u32 snd_end; /* end of what the owner has announced; the FIN comes there */
    toec_u32 snd_wnd;
    toec_u32 snd_wl1;
    toec_u32 cwnd;
    toec_u16 mss;       /* payload of a full segment, options subtracted */
    toec_u16 delack_at; /* low 16 bits of a tick */
    toec_u16 rto;       /* 4 ticks each, without backoff */
    toec_u8 dupacks;
    toec_u8 backoff;
    toec_u32 rtt_seq;
    toec_u32 ts_off;
    toec_u32 timer_due; /* tick the timer is set for; may be earlier than needed */
    toec_u32 rtx_at;
    toec_u32 rcv_at;  /* tick of the last segment from the peer; age of ts_recent as well */
    toec_u32 pend_at; /* place in pending, or in parked */

    /* ---- with each ACK and each segment ---- */
    toec_u32 rtt_start; /* time rtt_seq was sent; near enough the last sending. 2^10 ns */
    toec_u32 srtt;      /* 2^10 ns, times 8 */
    toec_u32 rttvar;    /* 2^10 ns, times 4 */
    toec_u32 min_rtt;   /* 2^10 ns */
    toec_u32 snd_sml;   /* end of the last segment smaller than the MSS (Nagle) */
    toec_u32 max_wnd;   /* largest window the peer has offered */
    toec_u8 probe_set;  /* rtx_at is when a tail loss probe is due (RFC 8985 7) */
    toec_u8 probe_owed; /* ... has been due */
    toec_u8 rexmits;    /* timeouts without progress: R1, R2 */
    toec_u8 quick;      /* quick ACKs left */
    toec_u8 rare;       /* TOEC_RARE_* */
    toec_u8 tx_log;     /* send buffer is 1 << tx_log bytes */
    toec_u16 owing_at;  /* where in toec_tcp.owing it stands, if it does */
    struct toec_ecn ecn;
    struct toec_tfo fo;
    struct toec_uto uto;

    /* ---- with a flight ---- */
    struct toec_timer timer;
    const struct toec_cc_ops *cc_ops;
    struct toec_pace *pace; /* 0: not paced */
    struct toec_rack rack;  /* what is outstanding */
    struct toec_cc_state cc;
    union {
        struct toec_cwv cwv;   /* from ESTABLISHED on */
        struct toec_half half; /* before, with TOEC_RARE_HALF */
    } stage;

    /* ---- the path ---- */
    struct toec_addr remote; /* read by output only; by lookup for IPv6 */
    struct toec_addr local;
    struct toec_path path;
    struct toec_pm pm;

    /* ---- rarely ---- */
    toec_u32 recover; /* RecoveryPoint (RFC 6675), recover (RFC 6582) */
    toec_u8 reason;   /* TOEC_RARE_SOFT: last soft error: why, should the flow time out */
    toec_u8 n_ooo, ooo_room;
    toec_u8 keep_cnt, keep_probes, challenges;
    toec_u16 keep_idle, keep_intvl, linger2; /* seconds */
    /* what was received beyond a gap, latest first */
    struct toec_iv
        *ooo; /* `ooo_own`, or TOEC_OOO_MAX borrowed from toec_tcp.gaps until all are gone */
    struct toec_iv ooo_own[TOEC_OOO_OWN];
    struct toec_dsack dsack;
    toec_u32 rcv_fin; /* where a FIN beyond the gap stands */
    toec_u32 keep_at, cork_at;
    toec_u32 user_timeout; /* ticks, 0: none */
    toec_u32 stalled_at;   /* tick of the first timeout without progress */
    toec_u32 challenge_at;
    struct toec_urg urg;
    struct toec_tally tally;
    toec_u32 tx_wraps, rx_wraps; /* 4 GiB laps of acknowledged and received bytes */
};
/* Of flows that have their turn to send, how far ahead TCBs are fetched; their owners at 2/3 of
 * that, what they send at 1/3. */
#define TOEC_FETCH_AHEAD 12u
#define TOEC_TCB_HOT     TOEC_OFFSETOF(struct toec_tcb, recover)

#ifdef __GNUC__
TOEC_STATIC_ASSERT(tcb_line0, __builtin_offsetof(struct toec_tcb, iss) <= 64);
TOEC_STATIC_ASSERT(tcb_line1, __builtin_offsetof(struct toec_tcb, rtt_start) <= 128);
TOEC_STATIC_ASSERT(tcb_line2, __builtin_offsetof(struct toec_tcb, timer) <= 192);
TOEC_STATIC_ASSERT(tcb_hot, __builtin_offsetof(struct toec_tcb, recover) <= 512);
#endif
TOEC_STATIC_ASSERT(tcb, sizeof(struct toec_tcb) <= 640);

/* Why a flow ends whose peer does not answer any more. */
TOEC_INLINE enum toec_reason toec_silence(const struct toec_tcb *t)
{
    return t->rare & TOEC_RARE_SOFT ? (enum toec_reason)t->reason : TOEC_R_TIMEDOUT;
}

/* Bytes per 2^30 ns; 0: not paced. */
TOEC_INLINE toec_u64 toec_pace_rate(const struct toec_tcb *t)
{
    return t->pace ? t->pace->rate : 0;
}

/* TOEC_OPT_MAX_PACING, 0: none. */
TOEC_INLINE toec_u64 toec_pace_max(const struct toec_tcb *t)
{
    return t->pace ? t->pace->max : 0;
}

/* Are there rate samples? What they are made of is in the flow's record then. */
TOEC_INLINE int toec_rate_wanted(const struct toec_tcb *t)
{
    return t->cc.sampling && (t->cc_ops->flags & TOEC_CC_RATE);
}

TOEC_INLINE struct toec_tcp_rate *toec_rate_of(const struct toec_tcb *t)
{
    return &t->rack.record->rate;
}

/* Names a connection (RFC 9293 3.3.1: a pair of sockets). The addresses live elsewhere. */
struct toec_tuple {
    const struct toec_addr *local, *remote;
    toec_u16 local_port, remote_port;
};

/* TIME-WAIT: what is needed to answer an old segment and to know a new SYN (RFC 6191). */
struct toec_tw {
    struct toec_hnode node;
    struct toec_tw *next, *prev; /* by expiry */
    struct toec_addr local, remote;
    toec_u16 local_port, remote_port;
    toec_u32 snd_nxt, rcv_nxt;
    toec_u32 ts_recent, ts_off;
    toec_u32 since; /* tick of entry or of the last FIN */
    toec_u32 acked_at;
    toec_u16 wnd;
    toec_u8 has_ts;
    toec_u8 reuse;      /* TOEC_REUSE_* */
    struct toec_ao *ao; /* 0: without TCP-AO */
};

#define TOEC_L_IP4 1u
#define TOEC_L_IP6 2u

struct toec_listener {
    struct toec_hnode node; /* hash: port */
    void *owner;
    struct toec_addr addr; /* for an exact one */
    toec_u16 port;
    toec_u8 families; /* of any address: TOEC_L_IP4, TOEC_L_IP6; 0: listens on addr alone */
    toec_u8 live;
    toec_u8 overflowed; /* cookies were sent at overflow_at */
    toec_u8 ecn;        /* enum toec_ecn_policy of its flows */
    toec_u8 discover;   /* TOEC_OPT_MTU_DISCOVER of its flows */
    toec_u8 tos;
    toec_u8 defer; /* TOEC_OPT_DEFER_ACCEPT */
    toec_u8 reuse; /* TOEC_REUSE_* of its flows */
    toec_u16 user_mss;
    toec_u32 backlog, half_open;
    toec_u32 overflow_at;
    struct toec_tcb *half; /* half-open flows */
    struct toec_tfo_listen fo;
    struct toec_ao_key *ao_keys;
};

/* A segment as parsed: sequence numbers and lengths are what is left after trimming. */
struct toec_seg {
    const struct toec_packet *pkt;
    struct toec_tuple id; /* we are local */
    toec_u32 seq, ack;
    toec_u32 off; /* of the payload in the frame */
    toec_u32 len; /* payload bytes */
    toec_u32 wnd; /* not scaled */
    unsigned flags;
    toec_u32 tsval, tsecr;
    toec_u16 mss; /* 0: absent */
    toec_u8 tos;  /* of the IP header: DSCP and ECN */
    toec_u8 has_ts;
    toec_u8 sack_ok;
    toec_u8 unscaled; /* wnd is that of a SYN-ACK (RFC 7323 2.2), whose SYN has been taken off */
    toec_u8 has_wscale, wscale;
    toec_u8 n_sack;
    struct toec_iv sack[4];
    toec_u16 urg;           /* the pointer; counts with URG alone */
    toec_u16 uto;           /* user timeout option (RFC 5482); 0: absent */
    toec_u8 has_fo, fo_len; /* Fast Open cookie (RFC 7413), in the frame */
    const toec_u8 *fo;
    toec_u8 ao_n;         /* TOEC_AO_COUNT, TOEC_AO_MD5 */
    const toec_u8 *ao;    /* with ao_n: the option (RFC 5925), in the frame */
    struct toec_ao *auth; /* of whom its MAC is; its answer has one too. 0: without TCP-AO */
    toec_u32 hash;        /* of the 4-tuple, in the flow table */
};

struct toec_tcp {
    struct toec_pool flows, tws, listeners;
    struct toec_pool records, gaps, paces, episodes;
    struct toec_pool aos, ao_keys;
    struct toec_ao **ao_of; /* by the flow's index; there is none without max_ao_keys */
    struct toec_htab flow_tab, tw_tab, listen_tab;
    struct toec_pool holders; /* of ports (tcp_bind.c) */
    struct toec_htab holder_tab;
    struct toec_tcb **pending; /* a queue of flows that owe something: pending_n from */
    toec_u32 pending_first;    /* this place on, around the end */
    toec_u32 pending_n;
    struct toec_tcb **parked; /* those that wait for a neighbour, parked_n */
    toec_u32 parked_n;
    toec_u32 epoch; /* toec_send_epoch() when they were last looked at */
    toec_u32 half_open;
    struct toec_tw *tw_first, *tw_last;
    struct toec_timer tw_timer;
    struct toec_tfo_cache tfo;
    struct toec_wheel pace_wheel;    /* in 2^14 ns, see tcp_pace.h */
    struct toec_tcb **owing;         /* tcp_delack.c: a queue; 0: has left it */
    toec_u32 owing_head, owing_tail; /* free-running */
    toec_u32 owing_mask;
    unsigned owing_shift; /* toec_tcb.owing_at counts so many places, as a power of two */
};

#define TOEC_TMR_FLOW ((enum toec_timer_kind)TOEC_TMR_TCP)
#define TOEC_TMR_TW   ((enum toec_timer_kind)(TOEC_TMR_TCP + 1))
#define TOEC_TMR_PACE ((enum toec_timer_kind)(TOEC_TMR_TCP + 2))

TOEC_INLINE toec_u32 toec_ticks(toec_time now)
{
    return (toec_u32)(now >> TOEC_TICK_SHIFT);
}

/* Is x, a sequence number noted some time ago, among what is outstanding: SND.UNA < x <= SND.MAX?
 * It says no, too, of what lies 2 GiB back or more, where a comparison of both would be wrong. */
TOEC_INLINE int toec_is_out(const struct toec_tcb *t, toec_u32 x)
{
    return x - t->snd_una - 1 < t->snd_max - t->snd_una;
}

TOEC_INLINE int toec_dsack_due(const struct toec_tcb *t)
{
    return t->dsack.start != t->dsack.end;
}

/* Bytes that options take in every segment but the SYN. */
TOEC_INLINE unsigned toec_opt_len(const struct toec_tcb *t)
{
    return ((t->flags & TOEC_F_TS) ? 12u : 0u) + ((t->rare & TOEC_RARE_AO) ? TOEC_AO_LEN : 0u);
}

TOEC_INLINE unsigned toec_snd_scale(const struct toec_tcb *t)
{
    return t->scales >> 4;
}

TOEC_INLINE unsigned toec_rcv_scale(const struct toec_tcb *t)
{
    return t->scales & 15u;
}

/* SEG.WND in bytes. */
TOEC_INLINE toec_u32 toec_seg_wnd(const struct toec_tcb *t, const struct toec_seg *g)
{
    return g->unscaled ? g->wnd : g->wnd << toec_snd_scale(t);
}

/* ---- tcp.c: flows, pools, entry points (those of tcp_if.h too) ---- */

struct toec_tcb *toec_tcb_find(struct toec_stack *s, toec_u32 hash, const struct toec_tuple *id);
toec_u32 toec_tuple_hash(const struct toec_stack *s, const struct toec_tuple *id);
/* A TCB in CLOSED, in the flow table, or 0 (counted). */
struct toec_tcb *toec_tcb_new(struct toec_stack *s, const struct toec_tuple *id, toec_u32 hash,
                              toec_time now);
void toec_tcb_buffers(struct toec_tcb *t, const struct toec_buffers *b);
/* Not 0 when the sizes are what struct toec_buffers asks for. */
int toec_buffers_ok(const struct toec_buffers *b);
/* Frees a TCB that toec_tcb_new() made and nobody has been told of. */
void toec_tcb_discard(struct toec_stack *s, struct toec_tcb *t);
/* Frees the TCB; tells the owner, when it has one. */
void toec_tcb_gone(struct toec_stack *s, struct toec_tcb *t, enum toec_reason why);
/* Sends RST with our next sequence number, then frees the flow. */
void toec_tcb_reset(struct toec_stack *s, struct toec_tcb *t, enum toec_reason why, toec_time now);
void toec_pend(struct toec_stack *s, struct toec_tcb *t);
/* A flow that waits for its neighbour gets a turn at the next poll. */
void toec_unpark(struct toec_stack *s, struct toec_tcb *t);
void toec_event(struct toec_stack *s, struct toec_tcb *t, enum toec_event ev, toec_u32 arg);

/* ---- tcp_reclaim.c ---- */

/* All TCBs are in use: resets a flow that stands still; -1 when none was found. */
int toec_reclaim(struct toec_stack *s, toec_time now);

/* ---- tcp_tw.c ---- */

struct toec_tw *toec_tw_find(struct toec_stack *s, toec_u32 hash, const struct toec_tuple *id);
/* The flow goes to TIME-WAIT: its TCB is freed and the owner told. */
void toec_tw_enter(struct toec_stack *s, struct toec_tcb *t, toec_time now);
void toec_tw_free(struct toec_stack *s, struct toec_tw *w);
/* The entry `is` again, as the one that has waited the shortest (restore.c). */
void toec_tw_again(struct toec_stack *s, const struct toec_tw *is, toec_u32 hash, toec_time now);
/* Returns 1 when the segment is a SYN of a new incarnation: the pair is open to it, and *iss is
 * beyond its last number. iss 0: nobody listens; the SYN is to be refused, the pair stays as it is.
 */
int toec_tw_input(struct toec_stack *s, struct toec_tw *w, const struct toec_seg *g, toec_u32 *iss,
                  toec_time now);
/* Not 0 when we may open the pair anew (RFC 6191: timestamps tell old segments from new). */
int toec_tw_reusable(const struct toec_tw *w, toec_time now);
/* Frees the entry; returns an ISN of at least `iss` and beyond all of the last incarnation. */
toec_u32 toec_tw_reopen(struct toec_stack *s, struct toec_tw *w, toec_u32 iss);
void toec_tw_expire(struct toec_stack *s, toec_time now);

/* ---- tcp_opt.c ---- */

/* Parses options; returns 0, or -1 when they are malformed. */
int toec_opt_parse(struct toec_seg *g, const toec_u8 *opt, unsigned len);
/* What the stack is to do without (TOEC_I_*) was not offered. */
void toec_opt_without(struct toec_seg *g, unsigned opts);
/* Writers return the bytes written, a multiple of 4. */
unsigned toec_opt_syn(toec_u8 *o, unsigned opts, unsigned mss, unsigned wscale, toec_u32 tsval,
                      toec_u32 tsecr);
unsigned toec_opt_ts(toec_u8 *o, toec_u32 tsval, toec_u32 tsecr);
/* SACK blocks (RFC 2018 4), most recent first, at most `room` bytes. */
unsigned toec_opt_sack(toec_u8 *o, const struct toec_tcb *t, unsigned room);

/* ---- tcp_in.c, tcp_ack.c, tcp_text.c: a segment arrives (RFC 9293 3.10.7.4) ---- */

void toec_segment(struct toec_stack *s, struct toec_tcb *t, struct toec_seg *g, toec_time now);
/* Not 0 when the segment acknowledges what was never sent, or long ago: it is not to be believed.
 */
int toec_ack_check(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now);
/* Not 0 when the segment is done with or the flow gone. */
int toec_ack_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now);
/* Cuts off what lies outside the window. */
void toec_trim(struct toec_tcb *t, struct toec_seg *g);
void toec_text(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g, toec_time now);
void toec_challenge(struct toec_stack *s, struct toec_tcb *t, toec_time now);

/* ---- tcp_open.c, tcp_listen.c ---- */

unsigned toec_own_mss(const struct toec_path *path);
unsigned toec_wscale_for(unsigned rx_log);
/* Takes the options of a SYN or SYN-ACK; buffers and path are known. */
void toec_take_options(struct toec_tcb *t, const struct toec_seg *g);
void toec_take_irs(struct toec_tcb *t, toec_u32 irs, toec_u32 ticks);
void toec_take_iss(struct toec_tcb *t, toec_u32 iss);
void toec_established(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                      toec_time now);
void toec_synsent_input(struct toec_stack *s, struct toec_tcb *t, struct toec_seg *g,
                        toec_time now);
/* iss: the ISN to use. */
void toec_listen_input(struct toec_stack *s, struct toec_listener *l, struct toec_seg *g,
                       toec_u32 iss, toec_time now);
/* The families of an "any" address; 0 for another one. */
unsigned toec_any_families(const struct toec_addr *a, int only6);
struct toec_listener *toec_listener_find(struct toec_stack *s, const struct toec_addr *addr,
                                         toec_u16 port);
/* The handshake of a passive open is over: it leaves its listener's half-open list. */
void toec_half_open_add(struct toec_stack *s, struct toec_tcb *t, struct toec_listener *l);
void toec_half_open_del(struct toec_stack *s, struct toec_tcb *t);
/* tcp_defer.c: of a flow in SYN-RECEIVED whose SYN the segment acknowledges: not 0 when it is left
 * unheard; the timer of one: not 0 when that is done with. */
int toec_deferred(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);
int toec_defer_timeout(struct toec_stack *s, struct toec_tcb *t, toec_time now);

/* ---- tcp_bind.c: who holds ports ---- */

unsigned long toec_holders_size(void);
toec_u32 toec_holders_most(const struct toec_config *cfg);
/* Of toec_pm.reuse: TIME-WAIT has the port now. */
#define TOEC_REUSE_GIVEN (TOEC_REUSE_ALL + 1u)
/* A flow, or a connection in TIME-WAIT, has this port; has it no more. */
void toec_port_hold(struct toec_stack *s, const struct toec_addr *addr, toec_u16 port,
                    unsigned reuse);
void toec_port_leave(struct toec_stack *s, const struct toec_addr *addr, toec_u16 port,
                     unsigned reuse);
/* TOEC_OPT_REUSE of a flow. */
int toec_set_reuse(struct toec_stack *s, struct toec_tcb *t, toec_u32 reuse);

/* ---- tcp_isn.c: ISNs, cookies, ports, timestamp offsets ---- */

toec_u32 toec_isn(struct toec_stack *s, const struct toec_tuple *id, toec_time now);
toec_u32 toec_ts_offset(struct toec_stack *s, const struct toec_tuple *id);
toec_u32 toec_cookie_make(struct toec_stack *s, const struct toec_seg *g, toec_time now);
/* The MSS a cookie carries, or 0 when it is not one of ours. g is the ACK of it. */
unsigned toec_cookie_check(struct toec_stack *s, const struct toec_seg *g, toec_time now);
/* Not 0 when segments of this 4-tuple reach this stack (see toec_config.home_index). */
int toec_port_is_home(const struct toec_stack *s, const struct toec_tuple *id);
/* A free local port for the rest of id, or 0. */
toec_u16 toec_port_pick(struct toec_stack *s, const struct toec_tuple *id, toec_time now);

/* ---- tcp_out.c ---- */

/* Sends all that may be sent now; 0, or -1 when transmit has no room (stay pending). */
int toec_tcp_output(struct toec_stack *s, struct toec_tcb *t, toec_time now);
int toec_send_ack(struct toec_stack *s, struct toec_tcb *t, toec_time now);

/* ---- tcp_emit.c: results as toec_ip_output() ---- */

int toec_emit(struct toec_stack *s, struct toec_tcb *t, toec_u32 seq, toec_u32 len, unsigned flags,
              toec_time now);
/* The sequence number of a segment without data. */
toec_u32 toec_bare_seq(const struct toec_tcb *t);
int toec_emit_syn(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* RST in answer to a segment without a flow (RFC 9293 3.10.7.1). */
void toec_send_rst(struct toec_stack *s, const struct toec_seg *g, toec_time now);
/* A segment without a flow: SYN-ACK with a cookie, ACK of TIME-WAIT. */
int toec_send_bare(struct toec_stack *s, const struct toec_seg *to, toec_u32 seq, toec_u32 ack,
                   unsigned flags, toec_u32 wnd, const toec_u8 *opt, unsigned opt_len,
                   toec_time now);
/* The window field of the next segment; moves rcv_adv. */
toec_u32 toec_window_offer(struct toec_tcb *t);

/* ---- tcp_timer.c ---- */

/* The deadline of a tick that lies ahead of now. */
toec_time toec_tick_time(toec_u32 due, toec_time now);
/* Makes sure that the flow's timer fires at tick `due` or before. */
void toec_due(struct toec_stack *s, struct toec_tcb *t, toec_u32 due, toec_time now);
void toec_flow_timer(struct toec_stack *s, struct toec_tcb *t, toec_time now);

/* ---- tcp_delack.c ---- */

/* What the queue needs, and the queue in so much memory, aligned to 64 bytes. */
unsigned long toec_delack_size(const struct toec_config *cfg);
void toec_delack_init(struct toec_tcp *tcp, void *mem, unsigned long size);
/* Ticks until it is due; 0: it has been. delack_at has 16 bits, 68 s: who is served much later than
 * that may have it TOEC_DELACK later still. */
TOEC_INLINE toec_u32 toec_delack_left(const struct toec_tcb *t, toec_u32 ticks)
{
    toec_u32 left = (toec_u16)(t->delack_at - (toec_u16)ticks);

    return left <= TOEC_DELACK ? left : 0;
}
/* An ACK is owed, TOEC_DELACK from now at the latest. None was. */
void toec_delack_start(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* The time has come. */
void toec_delack_expired(struct toec_stack *s, struct toec_tcb *t);
void toec_delack_leave(struct toec_stack *s, struct toec_tcb *t);
/* It goes, and TOEC_F_DELACK will be cleared; or the flow will be gone. */
TOEC_INLINE void toec_delack_forget(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->flags & TOEC_F_DELACK)
        toec_delack_leave(s, t);
}
/* It is owed, and the flow's timer is to see to it. */
int toec_delack_timed(const struct toec_stack *s, const struct toec_tcb *t);
/* At each poll, before output: whose time has come. */
void toec_delack_poll(struct toec_stack *s, toec_time now);
/* After it: when the next one's comes (TOEC_NEVER: there is none, beside those with a timer). */
toec_time toec_delack_next(struct toec_stack *s, toec_time now);

/* ---- tcp_expect.c: into the cache. t may be of a flow that is gone: it is not looked into. ----
 */

/* What traffic in order touches. */
void toec_fetch_flow(const struct toec_tcb *t);
/* What the look at a timer touches. */
void toec_fetch_timed(const struct toec_tcb *t);
/* Ticks between the last attempt and the next one: the timeout, doubled each time. */
toec_u32 toec_backed_off(const struct toec_tcb *t);
/* Starts the RTO (RFC 6298 5.1, 5.3), and the time of a tail loss probe before it. */
void toec_rtx_start(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* The peer has something of an earlier connection (TIME-WAIT, most likely, which our RST may not
 * end, RFC 1337): the SYN goes again in 2 ms, once, and not in a second. As Linux does. */
void toec_syn_soon(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* New data was sent while it ran: the probe waits anew (RFC 8985 7.2). */
void toec_tlp_restart(struct toec_stack *s, struct toec_tcb *t, toec_time now);
void toec_persist_start(struct toec_stack *s, struct toec_tcb *t, toec_time now);
void toec_keep_start(struct toec_stack *s, struct toec_tcb *t, toec_u32 ticks, toec_time now);
void toec_rtt_sample(struct toec_tcb *t, toec_u32 rtt);
/* The same, of what was timed by the clock. */
void toec_rtt_timed(struct toec_stack *s, struct toec_tcb *t, toec_u32 rtt);

/* ---- tcp_sack.c: intervals ---- */

/* A new flow: there are none. */
void toec_ooo_init(struct toec_tcb *t);
/* Room for many gaps is borrowed: not 0 when there is more than before. */
int toec_ooo_more(struct toec_stack *s, struct toec_tcb *t);
/* Adds [start, end) to the received intervals; 0, or -1 when the list is full. */
int toec_ooo_add(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end);
/* Forgets them all. */
void toec_ooo_clear(struct toec_stack *s, struct toec_tcb *t);
/* rcv_nxt after the intervals that now touch it are taken up. */
toec_u32 toec_ooo_advance(struct toec_stack *s, struct toec_tcb *t, toec_u32 rcv_nxt);
/* [start, end) has been received once more (RFC 2883): the next ACK says so. */
void toec_dsack_note(struct toec_tcb *t, toec_u32 start, toec_u32 end);
/* Takes the SACK blocks of a segment; SND.UNA has moved. una: SND.UNA before. */
void toec_sack_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                     toec_u32 una, struct toec_news *n);

/* ---- tcp_recover.c ---- */

/* Bytes on their way (RFC 6675 4). */
toec_u32 toec_pipe(const struct toec_tcb *t);
/* An ACK came that acknowledged `acked` new bytes, is a duplicate, or tells something else. */
void toec_ack_recovery(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked, int dup,
                       const struct toec_news *n);
void toec_rto_recovery(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* The reordering timer has run out. */
void toec_reo_expired(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* All that is outstanding and not SACKed is sent again, and the window does not shrink for it. */
void toec_lose_all(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* What to send again next (FIN counted as a byte): 1 with [*start, *end), or 0. new_data: there is
 * new data that may be sent instead. */
int toec_next_rtx(struct toec_tcb *t, int new_data, toec_u32 *start, toec_u32 *end, toec_time now);

/* ---- tcp_icmp.c ---- */

/* Has the retransmission timer run when there is data, FIN or SYN that cannot be sent now. */
void toec_watch(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* toec_ip_output() has returned TOEC_SEND_UNREACH for this flow. May free it. */
void toec_unreachable(struct toec_stack *s, struct toec_tcb *t, toec_time now);

#endif
