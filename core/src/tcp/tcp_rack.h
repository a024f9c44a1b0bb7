/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rack.h - the loss recovery state of a flow: the record of transmissions, and the state of
 * RACK-TLP (RFC 8985), PRR (RFC 9937), F-RTO (RFC 5682) and undo (RFC 3522, RFC 4015).
 *
 * The record combines the scoreboard and the transmit times. It consists of runs that cover SND.UNA
 * to SND.MAX in order and without gaps, so that a run begins where its predecessor ends. Data sent
 * together shares a run. Data sent within 1/32 SRTT joins it, unless a retransmission (or, for
 * retransmitted data, new data) was sent in between. The time of a run is that of its last
 * transmission. So no segment is considered sent earlier than it was, and its loss is detected at
 * most 1/32 SRTT later than in RFC 8985 (R8985-01).
 *
 * The TCB has room for TOEC_RUNS_OWN runs, enough for request-response traffic. A flow that needs
 * more borrows a record of TOEC_RUNS runs from the stack's pool, until its timer finds it idle. A
 * flight needs at most 33 runs, every SACKed block two more: there is room for the TOEC_OOO_MAX
 * blocks of a receiver of core/. When a record is full, neighbours with equal marks are merged and
 * get the later of their times: losses are then detected later, and an RTT below the minimum is no
 * sample (TOEC_TX_MERGED). When no neighbours have equal marks, SACK information is discarded
 * (tcp_scoreboard_full). That costs a needless retransmission, never data.
 *
 * While no run is marked and no recovery is in progress, ACKs do not touch the record. Runs below
 * SND.UNA are dropped when their room is needed or when an ACK needs the record.
 *
 * The state of an episode of loss is not part of the TCB. A flow allocates a struct toec_episode at
 * the first sign of loss and frees it when no report about the episode can arrive any more.
 */
#ifndef TOE_TCP_RACK_H
#define TOE_TCP_RACK_H

#include "../cc/tcp_cc.h"

struct toec_stack;
struct toec_tcb;
struct toec_seg;
struct toec_info;

#ifndef TOEC_RUNS /* tests/proofs/ uses fewer */
#define TOEC_RUNS 224u
#endif
#define TOEC_RUNS_OWN 1u

#define TOEC_RUN_SACKED 1u /* SACKed by the peer (RFC 2018) */
#define TOEC_RUN_LOST   2u /* marked lost, not retransmitted since */
#define TOEC_RUN_RTX    4u /* sent more than once */

struct toec_run {
    toec_u32 end;             /* the sequence number after its last byte */
    toec_u32 sent;            /* stamp of the last transmission, see toec_stamp() */
    toec_u32 marks;           /* TOEC_RUN_* */
    struct toec_tx_mark rate; /* used when the algorithm needs rate samples (TOEC_CC_RATE) */
};

/* Borrowed by a flow while it has more runs than fit in the TCB. */
struct toec_record {
    struct toec_run run[TOEC_RUNS];
    union {
        struct toec_cc_bbr bbr; /* version 3 */
        struct toec_cc_bbr1 bbr1;
    } model;                   /* BBR's state; a flow that uses BBR keeps its record */
    struct toec_tcp_rate rate; /* with toec_rate_wanted(); such a flow keeps its record, too */
};

/* F-RTO (RFC 5682 2.1, 3.1). */
enum toec_frto {
    TOEC_FRTO_OFF = 0,
    TOEC_FRTO_WAIT, /* step 2: waits for an ACK of the timeout's retransmission */
    TOEC_FRTO_NEW   /* step 3: new data was sent, the next ACK decides */
};

/* State to undo the window reduction of an episode of loss. */
struct toec_undo {
    toec_u32 una;   /* SND.UNA when it began */
    toec_u32 end;   /* SND.MAX at the last reduction: a DSACK beyond it is not about the episode */
    toec_u32 stamp; /* of the first retransmission, in ticks, the unit of timestamps */
    toec_u16 rtx;   /* retransmitted segments not yet reported by a DSACK */
    toec_u8 on;
    toec_u8 stamped; /* `stamp` is set */
    toec_u8 eifel;   /* the first ACK of new data has not arrived yet (RFC 3522) */
    toec_u8 rto;     /* it began with a timeout */
};

/*
 * Allocated at the first sign of loss: a SACK, a duplicate ACK without SACK, a retransmission or a
 * tail loss probe. The pool has one per flow, so allocation never fails. A flow without an episode
 * is not in recovery and has no marked runs; its data was delivered in order as far as is known.
 */
struct toec_episode {
    toec_u32 rtx_began, rtx_end; /* `began` and end of the newest retransmitted run */
    toec_u32 xmit_ts, end_seq;   /* RACK.xmit_ts, RACK.end_seq */
    toec_u32 rtt;                /* RACK.rtt, 2^10 ns */
    toec_u32 fack;               /* RACK.fack */
    toec_u32 dsack_round;        /* RACK.dsack_round */
    toec_u32 reo_at;             /* tick: the reordering timer */
    toec_u32 reduced;            /* stamp of the last window reduction */
    toec_u32 tlp_end;            /* TLP.end_seq */
    toec_u32 tlp_flight;         /* bytes outstanding when the probe was sent */
    toec_u32 rescue_end;         /* end of the rescue retransmission */
    toec_u32 prr_delivered, prr_out, prr_flight; /* RFC 9937; prr_flight is RecoverFS */
    toec_u32 seen_at;                            /* tick of the last sign of loss */
    toec_u32 nv_volume;  /* max(pipeACK, FlightSize) at a loss in the non-validated phase, and */
    toec_u32 nv_resends; /* ... retransmissions before it (tcp_cwv.h) */
    struct toec_undo undo;
    toec_u32 prior_cwnd, prior_ssthresh; /* values before the episode, for toec_cc_undo() */
    struct toec_cubic_kept cubic;        /* ... CUBIC's epoch, */
    toec_u8 epoch_set;                   /* ... valid when set */
    toec_u8 dsack_set;                   /* dsack_round is not None */
    toec_u8 tlp_rtx;                     /* TLP.is_retrans; TLP.end_seq is None unless TOEC_F_TLP */
    toec_u8 rescued;                     /* the rescue retransmission has been used */
    toec_u8 partial;                     /* a partial ACK has arrived in this recovery (RFC 6582) */
    toec_u8 frto;                        /* enum toec_frto */
};
TOEC_STATIC_ASSERT(episode, sizeof(struct toec_episode) <= 128);

/* The first part is used by output, and by in-order ACKs while the algorithm is sampling. */
struct toec_rack {
    toec_u8 n;                    /* runs in use */
    toec_u8 room;                 /* capacity of `run` */
    toec_u8 reordering;           /* RACK.reordering_seen */
    toec_u8 reo_more;             /* RACK.reo_wnd_mult - 1 */
    toec_u8 reo_persist;          /* RACK.reo_wnd_persist */
    toec_u8 reo_set;              /* episode->reo_at runs */
    toec_u16 reordered;           /* largest reordering distance in segments; 0: none seen */
    toec_u32 began;               /* stamp at which the newest run began */
    toec_u32 rto_at;              /* tick: RTO deadline; a tail loss probe may come first */
    struct toec_run *run;         /* `own`, or `record->run` */
    struct toec_record *record;   /* borrowed; 0: none */
    struct toec_episode *episode; /* 0: none */
    struct toec_run own[TOEC_RUNS_OWN];
    toec_u32 sacked, lost; /* bytes with these marks */
};

/* Statistics of a flow. */
struct toec_tally {
    toec_u64 rtx_bytes;
    toec_u32 rtx_total, lost_total;       /* segments; lost_total in units of the MSS */
    toec_u32 dsacks, undone, reorderings; /* dsacks: segments reported as duplicates, */
    toec_u32 rtx_dsacks;                  /* ... of these, attributed to retransmissions */
    toec_u32 retransmits;                 /* rtx_total plus SYNs */
    toec_u32 dup_acks;
};

/* The DSACK that the next ACK reports (RFC 2883 4); none when empty. */
struct toec_dsack {
    toec_u32 start, end;
};

/* What one ACK reports about outstanding segments. */
struct toec_news {
    toec_time now;
    toec_u32 stamp;     /* toec_stamp(now) */
    toec_u32 delivered; /* bytes acknowledged or SACKed for the first time */
    toec_u32 sacked;    /* ... of these, SACKed */
    toec_u32 tsecr;     /* echoed timestamp without our offset: ticks */
    toec_u8 has_ts;
    toec_u8 by_sack;   /* data beyond a gap: the echoed timestamp is older than that data */
    toec_u8 orig;      /* some was marked lost but not retransmitted: an original arrived */
    toec_u8 compacted; /* runs have been merged for this ACK */
    toec_u8 repaired;  /* a tail loss probe has repaired a loss */
    toec_u8 dsack;     /* it reports duplicates: */
    toec_u8 timed;     /* run_sent and run_rtt are set */
    toec_u32 dsack_start, dsack_end;
    toec_u32 run_sent; /* of the most recently sent run among those delivered: the stamp, */
    toec_u32 run_rtt;  /* ... and its RTT; 0: it was sent more than once */
};

/* Updates RACK for a run of which data up to `end` was delivered. */
void toec_rack_delivered(struct toec_tcb *t, const struct toec_run *r, toec_u32 end,
                         struct toec_news *n);
/* Returns the reordering window, RACK_update_reo_wnd() of RFC 8985 6.2: 2^10 ns. */
toec_u32 toec_rack_reo_wnd(const struct toec_tcb *t);
/* RACK_detect_loss(): marks lost runs and sets the reordering timer. Returns the bytes newly marked
 * lost; *again: not 0 when retransmissions are among them. */
toec_u32 toec_rack_detect(struct toec_stack *s, struct toec_tcb *t, toec_time now, int *again);
/* RACK_mark_losses_on_RTO() of RFC 8985 6.3. */
void toec_rack_rto(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Handles the end of a recovery (RFC 8985 6.2, step 4). */
void toec_rack_recovered(struct toec_tcb *t);
/* Fills the loss recovery fields of *out, which are all 0 before. */
void toec_rack_info(const struct toec_tcb *t, struct toec_info *out);
/* Handles a received DSACK. */
void toec_rack_dsack(struct toec_stack *s, struct toec_tcb *t, const struct toec_news *n);
/* Returns the ticks until a tail loss probe, or 0 when none must be sent (RFC 8985 7.2). */
toec_u32 toec_tlp_after(const struct toec_tcb *t);
/* Records that a probe was sent (RFC 8985 7.3); again: it was a retransmission. */
void toec_tlp_sent(struct toec_stack *s, struct toec_tcb *t, int again, toec_time now);
/* TLP_process_ack() of RFC 8985 7.4. Returns not 0 when the probe has repaired a loss. dup: a
 * duplicate ACK without SACK blocks. */
int toec_tlp_ack(struct toec_tcb *t, toec_u32 ack, int dup, const struct toec_news *n);

#endif
