/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rack.h - what loss recovery remembers of a flow: the record of transmissions, and the state
 * of RACK-TLP (RFC 8985), PRR (RFC 9937), F-RTO (RFC 5682) and undo (RFC 3522, RFC 4015).
 *
 * The record is the scoreboard and the transmit times in one: runs that cover SND.UNA to SND.MAX
 * without a gap, in order, so that a run begins where the one before it ends. What is sent at once
 * shares a run, and so does what follows within 1/32 SRTT, unless something was sent again (or
 * anew) in between; the time of a run is that of its last transmission. A segment is therefore
 * never thought to have been sent earlier than it was, and its loss is noticed at most 1/32 SRTT
 * later than RFC 8985 would (R8985-01).
 *
 * A flow has room for TOEC_RUNS_OWN of them, which does for one that asks and answers. One that
 * needs more borrows a record of TOEC_RUNS from the stack's pool, until its timer finds it idle: a
 * flight needs 33 at most, every SACKed block two more. When they run out, neighbours with equal
 * marks become one with the later of their times: losses are then noticed later, never falsely.
 * When nothing is alike, news of SACKs is forgotten (tcp_scoreboard_full), which costs a needless
 * retransmission, never data.
 *
 * While nothing is marked and no recovery goes on, ACKs do not touch the record: runs that lie
 * below SND.UNA are dropped when the room is needed or an ACK has to be looked at closely.
 *
 * What is remembered of an episode of loss is no part of the TCB: a flow takes a struct
 * toec_episode at the first sign of one, and gives it back when no report about it can come any
 * more.
 */
#ifndef TOE_TCP_RACK_H
#define TOE_TCP_RACK_H

#include "../cc/tcp_cc.h"

struct toec_stack;
struct toec_tcb;
struct toec_seg;
struct toec_info;

#ifndef TOEC_RUNS /* tests/proofs/ takes fewer */
#define TOEC_RUNS 128u
#endif
#define TOEC_RUNS_OWN 1u

#define TOEC_RUN_SACKED 1u /* the peer has it (RFC 2018) */
#define TOEC_RUN_LOST   2u /* taken for lost, and not sent again since */
#define TOEC_RUN_RTX    4u /* sent more than once */

struct toec_run {
    toec_u32 end;             /* the sequence number behind it */
    toec_u32 sent;            /* stamp of the last transmission, see toec_stamp() */
    toec_u32 marks;           /* TOEC_RUN_* */
    struct toec_tx_mark rate; /* where the algorithm wants rate samples (TOEC_CC_RATE) */
};

/* What a flow borrows while it has much under way. */
struct toec_record {
    struct toec_run run[TOEC_RUNS];
    struct toec_cc_bbr bbr;    /* of a flow that uses it, which never gives its record back; */
    struct toec_tcp_rate rate; /* ... so of one whose algorithm wants samples: toec_rate_wanted() */
};

/* F-RTO (RFC 5682 2.1, 3.1). */
enum toec_frto {
    TOEC_FRTO_OFF = 0,
    TOEC_FRTO_WAIT, /* step 2: for an ACK of what the timeout sent again */
    TOEC_FRTO_NEW   /* step 3: new data goes out, and the next ACK decides */
};

/* Of the episode of loss that may be undone. */
struct toec_undo {
    toec_u32 una;   /* SND.UNA when it began */
    toec_u32 end;   /* SND.MAX when it ended: later reports of duplicates are not about it */
    toec_u32 stamp; /* of the first retransmission, in ticks as timestamps have them */
    toec_u16 rtx;   /* segments sent again that no DSACK has been seen for */
    toec_u8 on;
    toec_u8 stamped; /* `stamp` is set */
    toec_u8 eifel;   /* the first ACK of new data has not come yet (RFC 3522) */
    toec_u8 rto;     /* it began with a timeout */
};

/*
 * From the first sign of loss on: an SACK, a duplicate ACK without SACK, anything sent again, a
 * tail loss probe. There is one for each flow, so there always is. Who has none is in no recovery,
 * has nothing marked, and what it has sent was delivered in order as far as is known.
 */
struct toec_episode {
    toec_u32 rtx_began, rtx_end; /* as `began`, of the newest run sent again; its end */
    toec_u32 xmit_ts, end_seq;   /* RACK.xmit_ts, RACK.end_seq */
    toec_u32 rtt;                /* RACK.rtt, 2^10 ns */
    toec_u32 fack;               /* RACK.fack */
    toec_u32 dsack_round;        /* RACK.dsack_round */
    toec_u32 reo_at;             /* tick: the reordering timer */
    toec_u32 reduced;            /* stamp at which the window was last reduced */
    toec_u32 tlp_end;            /* TLP.end_seq */
    toec_u32 tlp_flight;         /* bytes outstanding when the probe went out */
    toec_u32 rescue_end;         /* end of the rescue retransmission */
    toec_u32 prr_delivered, prr_out, prr_flight; /* RFC 9937; prr_flight is RecoverFS */
    toec_u32 seen_at;                            /* tick of the last sign of loss */
    toec_u32 nv_volume;  /* max(pipeACK, FlightSize) at a loss in the non-validated phase, and */
    toec_u32 nv_resends; /* ... retransmissions before it (tcp_cwv.h) */
    struct toec_undo undo;
    toec_u32 prior_cwnd, prior_ssthresh; /* as they were before, for toec_cc_undo() */
    struct toec_cubic_kept cubic;        /* ... and CUBIC's epoch, */
    toec_u8 epoch_set;                   /* ... if there was one */
    toec_u8 dsack_set;                   /* dsack_round is not None */
    toec_u8 tlp_rtx;                     /* TLP.is_retrans; TLP.end_seq is None unless TOEC_F_TLP */
    toec_u8 rescued;                     /* the rescue retransmission has been used */
    toec_u8 partial;                     /* a partial ACK has come in this recovery (RFC 6582) */
    toec_u8 frto;                        /* enum toec_frto */
};
TOEC_STATIC_ASSERT(episode, sizeof(struct toec_episode) <= 128);

/* Sending reads and writes the first part, ACKs in order as well while the algorithm is sampling.
 */
struct toec_rack {
    toec_u8 n;                    /* runs */
    toec_u8 room;                 /* there are in `run` */
    toec_u8 reordering;           /* RACK.reordering_seen */
    toec_u8 reo_more;             /* RACK.reo_wnd_mult - 1 */
    toec_u8 reo_persist;          /* RACK.reo_wnd_persist */
    toec_u8 reo_set;              /* episode->reo_at runs */
    toec_u16 reordered;           /* segments by which one was overtaken at most; 0: never */
    toec_u32 began;               /* stamp at which the newest run began */
    toec_u32 rto_at;              /* tick: when the RTO is due, though a probe may come first */
    struct toec_run *run;         /* `own`, or those of `record` */
    struct toec_record *record;   /* borrowed; 0: none */
    struct toec_episode *episode; /* 0: none */
    struct toec_run own[TOEC_RUNS_OWN];
    toec_u32 sacked, lost; /* bytes marked so */
};

/* Statistics of a flow. */
struct toec_tally {
    toec_u64 rtx_bytes;
    toec_u32 rtx_total, lost_total;       /* segments; lost_total in MSS */
    toec_u32 dsacks, undone, reorderings; /* dsacks: segments reported as duplicates, */
    toec_u32 rtx_dsacks;                  /* ... of them those that were sent again */
    toec_u32 retransmits;                 /* rtx_total and SYNs */
    toec_u32 dup_acks;
};

/* DSACK to be sent (RFC 2883 4): a duplicate that the next ACK reports; none when it is empty. */
struct toec_dsack {
    toec_u32 start, end;
};

/* What an ACK says of the segments under way. */
struct toec_news {
    toec_time now;
    toec_u32 stamp;     /* toec_stamp(now) */
    toec_u32 delivered; /* bytes acknowledged or SACKed for the first time */
    toec_u32 sacked;    /* ... those SACKed */
    toec_u32 tsecr;     /* without our offset: ticks */
    toec_u8 has_ts;
    toec_u8 by_sack;   /* beyond a gap: the echoed timestamp is older than what it reports */
    toec_u8 orig;      /* some of it was taken for lost, and had not been sent again */
    toec_u8 compacted; /* runs have been merged for it */
    toec_u8 repaired;  /* a tail loss probe has filled a hole */
    toec_u8 dsack;     /* it reports duplicates: */
    toec_u8 timed;     /* run_sent and run_rtt are set */
    toec_u32 dsack_start, dsack_end;
    toec_u32 run_sent; /* of the run sent last among those delivered: the stamp, */
    toec_u32 run_rtt;  /* ... and its RTT; 0: it was sent more than once */
};

/* A segment was delivered, or some of it: `end` is its end. */
void toec_rack_delivered(struct toec_tcb *t, const struct toec_run *r, toec_u32 end,
                         struct toec_news *n);
/* RACK_update_reo_wnd() of RFC 8985 6.2: 2^10 ns. */
toec_u32 toec_rack_reo_wnd(const struct toec_tcb *t);
/* RACK_detect_loss(): marks what is lost and sets the reordering timer. Returns the bytes found
 * lost; *again: retransmissions among them. */
toec_u32 toec_rack_detect(struct toec_stack *s, struct toec_tcb *t, toec_time now, int *again);
/* RACK_mark_losses_on_RTO() of RFC 8985 6.3. */
void toec_rack_rto(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* A recovery is over (RFC 8985 6.2, step 4). */
void toec_rack_recovered(struct toec_tcb *t);
/* Fills what toec_info has of loss recovery; `out` is all zero there. */
void toec_rack_info(const struct toec_tcb *t, struct toec_info *out);
/* A DSACK has come. */
void toec_rack_dsack(struct toec_stack *s, struct toec_tcb *t, const struct toec_news *n);
/* Ticks until a probe, or 0: none is to be sent (RFC 8985 7.2). */
toec_u32 toec_tlp_after(const struct toec_tcb *t);
/* A probe has gone out (RFC 8985 7.3). */
void toec_tlp_sent(struct toec_stack *s, struct toec_tcb *t, int again, toec_time now);
/* TLP_process_ack() of RFC 8985 7.4, before SND.UNA moves; not 0 when the probe has repaired a
 * loss. dup: a duplicate ACK without SACK. */
int toec_tlp_ack(struct toec_tcb *t, toec_u32 ack, int dup, const struct toec_news *n);

#endif
