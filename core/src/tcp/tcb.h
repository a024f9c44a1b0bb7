/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcb.h - the transmission control block (RFC 9293 3.3.1): limits, flags, the TCB and what is read
 * off it. Data only: what acts on it is declared by the tcp_*.h and cc_*.h headers.
 *
 * Sequence numbers are absolute; the stream offset of port.h is seq - iss - 1 or seq - irs - 1.
 * Ticks are now >> 20 (1.05 ms), compared modulo 2^32.
 */
#ifndef TOEC_TCB_H
#define TOEC_TCB_H

#include "../cc/tcp_cc.h"
#include "../cc/tcp_cwv.h"
#include "../cc/tcp_pace.h"
#include "../ip/stack.h"
#include "tcp_ao.h"
#include "tcp_ecn.h"
#include "tcp_pmtu.h"
#include "tcp_rack.h"
#include "tcp_rare.h"
#include "tcp_seg.h"
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

#endif
