/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcb.h - the transmission control block (RFC 9293 3.3.1): limits, flags, the TCB and its inline
 * accessors. Data only: the tcp_*.h and cc_*.h headers declare the functions that act on it.
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
/* Ticks that last at least so many milliseconds: rounded up, and one more because part of the
 * current tick has passed. The sum of such spans is never below that of their sum, so a limit that
 * is a multiple of an interval is reached with the interval that ends at it. */
#define TOEC_MS_LEAST(ms) ((toec_u32)((((toec_u64)(ms)*15625u) + 0x3fffu) >> 14) + 1u)

/* RFC 9293 MUST-15: the MSS assumed when no MSS option is received. */
#define TOEC_MSS_DEFAULT4 536u
#define TOEC_MSS_DEFAULT6 1220u
#define TOEC_MSS_MIN      64u /* least MSS accepted from an option: prevents tiny-segment attacks */
#define TOEC_MTU_PROBE_BASE                                                                        \
    1064u /* first size tried by a search for the path MTU: tcp_base_mss of Linux */
#define TOEC_CWND_MAX    0x3fffffffu
#define TOEC_WSCALE_MAX  14u /* RFC 7323 2.3 */
#define TOEC_IW_SEGMENTS 10u /* RFC 6928 */
#define TOEC_DUPTHRESH   3u
#define TOEC_OOO_MAX     64u /* out-of-order intervals kept per flow, */
#define TOEC_OOO_OWN     2u  /* ... of them in the TCB: enough for one or two losses */
#define TOEC_QUICKACKS                                                                             \
    16u /* segments acknowledged at once at the start, after idle, after a loss */
#define TOEC_RTO_INIT    TOEC_MS(1000)       /* R6298-01 */
#define TOEC_RTO_MIN     (TOEC_MS(200) + 1u) /* R6298-04: less than 1 s, as Linux */
#define TOEC_RTO_MAX     TOEC_MS(120000)     /* R6298-05 */
#define TOEC_DELACK      (TOEC_MS(40) + 1u)  /* RFC 9293 3.8.6.3: under 500 ms */
#define TOEC_OWING_LEAST 64u                 /* least size of the delayed-ACK queue; a power of 2 */
#define TOEC_CORK_MAX    TOEC_MS(200)
#define TOEC_TIME_WAIT_T TOEC_MS(60000) /* 2 MSL, as in Linux */
#define TOEC_LINGER2_T   60u            /* seconds */
#define TOEC_TLP_DELACK  TOEC_MS(200)   /* RFC 8985 7.2, TLP.max_ack_delay: as in Linux */
#define TOEC_R1          3u             /* timeouts before the path is suspected (RFC 9293 3.8.3) */
#define TOEC_R2_DATA     15u            /* timeouts before giving up: about 15 minutes and more */
#define TOEC_R2_SYN      7u /* 1+2+4+...+64+120 s: above the 3 minutes of RFC 9293 3.8.3 */
#define TOEC_R2_SYNACK   5u
#define TOEC_PAWS_IDLE   TOEC_MS(24ull * 86400000u) /* RFC 7323 5.5 */
#define TOEC_CHALLENGE_T TOEC_MS(1000) /* window of the challenge-ACK limit, per flow */
#define TOEC_CHALLENGE_N 5u
#define TOEC_COOKIE_TICK 16u            /* cookie periods are 2^16 ticks, 69 s */
#define TOEC_COOKIE_AGES 2u             /* a cookie is valid in its own period and the next one */
#define TOEC_RECLAIM_T   TOEC_MS(30000) /* stalled: its timeout is at least this */
#define TOEC_BACKLOG     256u
#define TOEC_PORT_FIRST  32768u /* ephemeral ports, as in Linux */
#define TOEC_PORT_COUNT  28232u

typedef short toec_i16;

/* ---- TCB ---- */

/* TCB flags. */
#define TOEC_F_TS        0x00000001u /* negotiated: RFC 7323 timestamps */
#define TOEC_F_SACK      0x00000002u /* RFC 2018 */
#define TOEC_F_WSCALE    0x00000004u
#define TOEC_F_ACK_NOW   0x00000008u /* send an ACK at the next poll */
#define TOEC_F_DELACK    0x00000010u /* send an ACK at delack_at at the latest */
#define TOEC_F_PENDING   0x00000020u /* is in the pending list */
#define TOEC_F_NODELAY   0x00000040u
#define TOEC_F_CORK      0x00000080u
#define TOEC_F_CORK_T    0x00000100u /* cork_at runs */
#define TOEC_F_PINGPONG  0x00000200u /* data answers data: an answer may carry the ACK */
#define TOEC_F_KEEPALIVE 0x00000400u
#define TOEC_F_KEEP_T    0x00000800u /* keep_at runs: keep-alive or FIN-WAIT-2 */
#define TOEC_F_RTX       0x00001000u /* rtx_at runs: retransmission or persist */
#define TOEC_F_PERSIST   0x00002000u /* ... the zero-window probe (RFC 9293 3.8.6.1) */
#define TOEC_F_RTT       0x00004000u /* rtt_seq is being timed */
#define TOEC_F_FIN       0x00008000u /* FIN follows snd_end */
#define TOEC_F_USER_GONE 0x00010000u /* full close: the application no longer reads */
#define TOEC_F_PARKED    0x00020000u /* ... is in the parked list: waits for its neighbour */
#define TOEC_F_OOO_FIN   0x00040000u /* rcv_fin: a FIN beyond a gap */
#define TOEC_F_FAST      0x00080000u /* fast recovery (RFC 6675, RFC 6582) */
#define TOEC_F_LOSS      0x00100000u /* after a timeout, until `recover` */
#define TOEC_F_RTX_HEAD  0x00200000u /* retransmit the first segment regardless of the window */
#define TOEC_F_CWND_LIM  0x00400000u /* the congestion window limited the last output */
#define TOEC_F_ARMED     0x00800000u /* timer is set, for timer_due */
#define TOEC_F_PROBE     0x01000000u /* send a keep-alive probe */
#define TOEC_F_PUSH      0x02000000u /* the last bytes announced end a message: set PSH */
#define TOEC_F_SACKED    0x04000000u /* some outstanding data is SACKed or marked lost */
#define TOEC_F_OOO       0x08000000u /* send a SACK option: n_ooo is not 0, or a DSACK is pending */
#define TOEC_F_ZWIN      0x10000000u /* a zero-window probe is due now */
#define TOEC_F_TLP       0x20000000u /* a tail loss probe is in flight (RFC 8985 7.3) */
#define TOEC_F_UNCORK    0x40000000u /* the cork timer has expired: send corked data */
#define TOEC_F_PROBED    0x80000000u /* the byte at snd_max was sent as a probe */

struct toec_listener;

/* Links a flow in SYN-RECEIVED that came from LISTEN into its listener's list. */
struct toec_half {
    struct toec_listener *listener;
    struct toec_tcb *next, **prev;
};

/*
 * Fields are ordered by access, to limit cache misses when there are many flows. Cache line 0
 * identifies the flow and holds the receive sequence variables. Line 1 holds the send sequence
 * variables. Line 2 holds what each segment and each ACK uses in addition (checked below). From
 * line 3 on follows what is written once per flight (timer, record, windows), then the path.
 * In-order traffic touches nothing from `recover` on: fields for losses and options, statistics.
 * State that few flows need, or only for a while, is allocated separately: records, gaps, pacing,
 * episodes of loss.
 */
struct toec_tcb {
    struct toec_hnode node;
    void *owner;
    toec_u32 remote_ip; /* value (wire.h); for IPv6 the last 32 bits, see remote below */
    toec_u16 local_port, remote_port;
    toec_u32 flags; /* TOEC_F_* */
    toec_u8 state;  /* enum toec_state */
    toec_u8 scales; /* high four bits: Snd.Wind.Shift, low: Rcv.Wind.Shift */
    toec_u8 rx_log; /* receive buffer is 1 << rx_log bytes */
    toec_u8 delack; /* not 0: data since the last ACK; TOEC_DELACK_PUSHED */
    /* receive sequence variables (RFC 9293 3.3.1) */
    toec_u32 rcv_nxt;
    toec_u32 rcv_adv;   /* right edge of the advertised window: RCV.NXT + RCV.WND at most */
    toec_u32 rcv_read;  /* first byte the owner has not read */
    toec_u32 rcv_acked; /* Last.ACK.sent (RFC 7323) */
    toec_u32 irs;
    toec_u32 ts_recent;

    /* send sequence variables */
    toec_u32 iss;
    toec_u32 snd_una;
    toec_u32 snd_nxt; /* next to send; pulled back to snd_una by a timeout */
    toec_u32 snd_max; /* highest sent + 1: SND.NXT of the RFC */
    toec_u32 snd_end; /* end of the data the owner has announced; sequence number of the FIN */
    toec_u32 snd_wnd;
    toec_u32 snd_wl1;
    toec_u32 cwnd;
    toec_u16 mss;       /* payload of a full-sized segment: options are subtracted */
    toec_u16 delack_at; /* low 16 bits of a tick; see tcp_delack.h */
    toec_u16 rto;       /* unit: 4 ticks; without backoff */
    toec_u8 dupacks;
    toec_u8 backoff;
    toec_u32 rtt_seq;
    toec_u32 ts_off;
    toec_u32 timer_due; /* tick the timer is set for; may be earlier than needed */
    toec_u32 rtx_at;
    toec_u32 rcv_at;  /* tick of the last segment from the peer; also gives the age of ts_recent */
    toec_u32 pend_at; /* index in pending or in parked */

    /* ---- with each ACK and each segment ---- */
    toec_u32 rtt_start; /* time rtt_seq was sent, about that of the last output. 2^10 ns */
    toec_u32 srtt;      /* 2^10 ns, times 8 */
    toec_u32 rttvar;    /* 2^10 ns, times 4 */
    toec_u32 min_rtt;   /* 2^10 ns */
    toec_u32 snd_sml;   /* end of the last segment smaller than the MSS (Nagle) */
    toec_u32 max_wnd;   /* largest window the peer has advertised */
    toec_u8 probe_set;  /* rtx_at is the deadline of a tail loss probe (RFC 8985 7) */
    toec_u8 probe_owed; /* ... has expired: send the probe */
    toec_u8 rexmits;    /* timeouts without progress: R1, R2 */
    toec_u8 quick;      /* quick ACKs left */
    toec_u8 rare;       /* TOEC_RARE_* */
    toec_u8 tx_log;     /* send buffer is 1 << tx_log bytes */
    toec_u16 owing_at;  /* position in toec_tcp.owing, if queued there */
    struct toec_ecn ecn;
    struct toec_tfo fo;
    struct toec_uto uto;

    /* ---- with a flight ---- */
    struct toec_timer timer;
    const struct toec_cc_ops *cc_ops;
    struct toec_pace *pace; /* 0: not paced */
    struct toec_rack rack;  /* record of outstanding data */
    struct toec_cc_state cc;
    union {
        struct toec_cwv cwv;   /* from ESTABLISHED on */
        struct toec_half half; /* before ESTABLISHED, with TOEC_RARE_HALF */
    } stage;

    /* ---- the path ---- */
    struct toec_addr remote; /* read by output; for IPv6 also by lookup */
    struct toec_addr local;
    struct toec_path path;
    struct toec_pm pm;

    /* ---- rarely ---- */
    toec_u32 recover; /* RecoveryPoint (RFC 6675), recover (RFC 6582) */
    toec_u8 reason;   /* TOEC_RARE_SOFT: last soft error, reported if the flow times out */
    toec_u8 n_ooo, ooo_room;
    toec_u8 keep_cnt, keep_probes, challenges;
    toec_u16 keep_idle, keep_intvl, linger2; /* seconds */
    /* intervals received beyond a gap, latest first */
    struct toec_iv
        *ooo; /* `ooo_own`, or TOEC_OOO_MAX borrowed from toec_tcp.gaps until the list is empty */
    struct toec_iv ooo_own[TOEC_OOO_OWN];
    struct toec_dsack dsack;
    toec_u32 rcv_fin; /* sequence number of a FIN beyond the gap */
    toec_u32 keep_at, cork_at;
    toec_u32 user_timeout; /* ticks, 0: none */
    toec_u32 stalled_at;   /* tick of the first timeout without progress */
    toec_u32 challenge_at;
    struct toec_urg urg;
    struct toec_tally tally;
    toec_u32 tx_wraps, rx_wraps; /* 4 GiB wraps of acknowledged and received bytes */
};
/* Prefetch distance in the pending queue, in flows: TCBs at this distance, their owners at 2/3 of
 * it, the data they will send at 1/3. */
#define TOEC_FETCH_AHEAD 12u
#define TOEC_TCB_HOT     TOEC_OFFSETOF(struct toec_tcb, recover)

#ifdef __GNUC__
TOEC_STATIC_ASSERT(tcb_line0, __builtin_offsetof(struct toec_tcb, iss) <= 64);
TOEC_STATIC_ASSERT(tcb_line1, __builtin_offsetof(struct toec_tcb, rtt_start) <= 128);
TOEC_STATIC_ASSERT(tcb_line2, __builtin_offsetof(struct toec_tcb, timer) <= 192);
TOEC_STATIC_ASSERT(tcb_hot, __builtin_offsetof(struct toec_tcb, recover) <= 512);
#endif
TOEC_STATIC_ASSERT(tcb, sizeof(struct toec_tcb) <= 640);

/* Returns the reason to report for a flow whose peer no longer answers. */
TOEC_INLINE enum toec_reason toec_silence(const struct toec_tcb *t)
{
    return t->rare & TOEC_RARE_SOFT ? (enum toec_reason)t->reason : TOEC_R_TIMEDOUT;
}

/* Returns the pacing rate, bytes per 2^30 ns; 0: not paced. */
TOEC_INLINE toec_u64 toec_pace_rate(const struct toec_tcb *t)
{
    return t->pace ? t->pace->rate : 0;
}

/* Returns TOEC_OPT_MAX_PACING; 0: none. */
TOEC_INLINE toec_u64 toec_pace_max(const struct toec_tcb *t)
{
    return t->pace ? t->pace->max : 0;
}

/* Returns not 0 when rate samples are taken. The flow's record then holds their state. */
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

/* Returns not 0 when SND.UNA < x <= SND.MAX, where x is a sequence number saved earlier. Also
 * correct when x is 2 GiB behind or more, unlike two separate comparisons. */
TOEC_INLINE int toec_is_out(const struct toec_tcb *t, toec_u32 x)
{
    return x - t->snd_una - 1 < t->snd_max - t->snd_una;
}

TOEC_INLINE int toec_dsack_due(const struct toec_tcb *t)
{
    return t->dsack.start != t->dsack.end;
}

/* Returns the bytes of options in every segment except the SYN. */
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

/* Returns SEG.WND in bytes. */
TOEC_INLINE toec_u32 toec_seg_wnd(const struct toec_tcb *t, const struct toec_seg *g)
{
    return g->unscaled ? g->wnd : g->wnd << toec_snd_scale(t);
}

#endif
