/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_cc.h - the congestion-control interface: what algorithms (cc_*.c) provide, and what loss
 * recovery, ECN and output call (tcp_cc.c).
 *
 * Loss detection and recovery belong to tcp_recover.c; an algorithm says how large the window is
 * and how fast it may be used. All windows are in bytes. cwnd itself lives in the TCB's hot part,
 * the rest in struct toec_cc_state.
 *
 * Who calls what:
 *   established            toec_cc_start()
 *   every ACK with news    toec_cc_acked(), after recovery has had the ACK
 *   entry of fast recovery toec_cc_congested(TOEC_CC_LOSS), before TOEC_F_FAST is set
 *   ECE (once per window)  toec_cc_congested(TOEC_CC_ECN)
 *   first RTO of a segment toec_cc_congested(TOEC_CC_RTO), before TOEC_F_LOSS is set
 *   it was spurious        toec_cc_undo()
 *   recovery is over       toec_cc_recovered()
 *   idle, then new data    toec_cc_restart()
 * congested() sets ssthresh; recovery then moves cwnd there as it sees fit (PRR), but only when
 * toec_cc_owns_cwnd() is 0: a rate-based algorithm keeps cwnd in its own hands at all times.
 */
#ifndef TOE_TCP_CC_H
#define TOE_TCP_CC_H

#include "cc_bbr_state.h"
#include "tcp_rate.h"

struct toec_stack;

enum toec_cc_event {
    TOEC_CC_LOSS = 1, /* fast recovery begins */
    TOEC_CC_ECN,      /* the peer reports CE marks */
    TOEC_CC_RTO       /* the retransmission timer has run out */
};

/* What an ACK says. The caller fills the first part, toec_cc_acked() the second. */
struct toec_cc_ack {
    toec_time now;
    toec_u32 acked;     /* bytes by which SND.UNA moved */
    toec_u32 delivered; /* bytes found delivered: ACKed or SACKed for the first time */
    toec_u32 rtt;       /* sample, 2^10 ns; 0: none */
    toec_u32 run_rtt;   /* while toec_cc_state.sampling: of what was sent last; 0: none */
    toec_u32 ece_bytes; /* of `delivered`, those an ECE stands for (ECN, DCTCP) */
    toec_u8 recovery;   /* the flow was in fast recovery when the ACK came */

    toec_u32 grow; /* acknowledged bytes that may enlarge cwnd: 0 in fast recovery, when the window
                    * was not the limit, or at its maximum; bounded against stretch ACKs in slow
                    * start */
    const struct toec_rate_sample *rs; /* with TOEC_CC_RATE, else 0 */
};

/* HyStart++ (RFC 9406), for algorithms that use toec_cc_slow_start(). Of the first slow start
 * alone: what it measures counts until toec_cc_state.hs_phase is TOEC_HS_OVER. */
enum toec_hs_phase { TOEC_HS_OVER = 0, TOEC_HS_SLOW, TOEC_HS_CSS };
struct toec_hystart {
    toec_u32 last_min, now_min; /* lastRoundMinRTT, currentRoundMinRTT; all ones: infinity */
    toec_u32 baseline;          /* cssBaselineMinRtt */
    toec_u32 window_end;
};

struct toec_cc_newreno {
    toec_u32 credit; /* acknowledged but not yet turned into window growth */
    struct toec_hystart hs;
};

/* RFC 9438 names; windows in bytes, times are stamps. */
struct toec_cubic_epoch {
    toec_u32 w_est;
    toec_u32 k;
    toec_u32 epoch; /* t_epoch, later by the time that does not count */
};
struct toec_cc_cubic {
    toec_u32 w_max, cwnd_prior;
    union {
        struct toec_cubic_epoch e; /* when epoch_set: congestion avoidance, */
        struct toec_hystart hs;    /* ... before which the first slow start was */
    } now;
    toec_u32 credit, est_credit; /* growth of cwnd and w_est not yet done, 2^-32 byte */
    toec_u32 seen_at;            /* the last ACK */
    toec_u8 epoch_set, after_rto;
};
/* What an undo brings back. */
struct toec_cubic_kept {
    toec_u32 w_max, cwnd_prior;
    struct toec_cubic_epoch e;
};

/* RFC 8257 names; alpha is of 2^20. */
struct toec_cc_dctcp {
    toec_u32 alpha;
    toec_u32 window_end;
    toec_u32 acked, marked; /* bytes, in this window */
    toec_u32 credit;
    struct toec_hystart hs;
};

struct toec_cc_state {
    toec_u32 ssthresh;
    toec_u8 sampling; /* every ACK looks into the record: TOEC_CC_RATE, or HyStart++ goes on */
    toec_u8 hs_phase; /* enum toec_hs_phase */
    toec_u8 hs_samples, hs_rounds; /* of RTT in this round; in CSS */
    union {
        struct toec_cc_newreno newreno;
        struct toec_cc_cubic cubic;
        struct toec_cc_dctcp dctcp;
        struct toec_cc_bbr *bbr; /* in the flow's record */
    } u;                         /* private to the algorithm of a flow; all 0 before init */
};

/* toec_cc_ops.flags */
#define TOEC_CC_OWN_CWND 1u  /* recovery does not touch cwnd */
#define TOEC_CC_PACED    2u  /* needs pacing */
#define TOEC_CC_ECT      4u  /* needs ECN marks to be of use (DCTCP) */
#define TOEC_CC_RATE     8u  /* needs rate samples: every ACK then looks into the record */
#define TOEC_CC_RECORD   16u /* keeps its state in the flow's record: see struct toec_record */

/* Hooks marked with ? may be 0. */
struct toec_cc_ops {
    const char *name; /* as TCP_CONGESTION has it */
    unsigned flags;
    /* The flow is established, or has changed to this algorithm. */
    void (*init)(struct toec_tcb *t, toec_time now);
    /* An ACK has brought news; in every state. */
    void (*acked)(struct toec_tcb *t, const struct toec_cc_ack *a);
    /* Sets ssthresh. flight: bytes outstanding. */
    void (*congested)(struct toec_tcb *t, enum toec_cc_event why, toec_u32 flight, toec_time now);
    /* ? An episode of loss begins: keep what undo() needs, in rack.episode. cwnd and ssthresh are
     * kept already. */
    void (*save)(struct toec_tcb *t);
    /* ? There was no loss: as before save(). cwnd and ssthresh are back already. */
    void (*undo)(struct toec_tcb *t, toec_time now);
    /* ? Fast recovery, or the recovery after a timeout, is over. */
    void (*recovered)(struct toec_tcb *t, toec_time now);
    /* ? Sending starts again; nothing was outstanding for `idle` ticks. */
    void (*restart)(struct toec_tcb *t, toec_u32 idle, toec_time now);
    /* ? Some of a run of segments is lost (toec_rate_lost()). */
    void (*lost)(struct toec_tcb *t, const struct toec_tx_mark *m, toec_u32 bytes, toec_time now);
};

#define TOEC_CC_COUNT 4

/* By enum toec_cc; 0: there is none of this number. */
const struct toec_cc_ops *toec_cc_get(unsigned n);

/* Where the flow's algorithm needs a record and none is free, it is NewReno's (counted). */
void toec_cc_start(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* min(10 SMSS, max(2 SMSS, 14600)), R6928-01. */
toec_u32 toec_cc_initial_window(const struct toec_tcb *t);
void toec_cc_acked(struct toec_stack *s, struct toec_tcb *t, struct toec_cc_ack *a);
void toec_cc_congested(struct toec_tcb *t, enum toec_cc_event why, toec_time now);
/* cwnd and ssthresh are at least what they were before the episode (RFC 9438 4.9, RFC 4015). */
void toec_cc_undo(struct toec_tcb *t, toec_time now);
void toec_cc_recovered(struct toec_tcb *t, toec_time now);
void toec_cc_restart(struct toec_stack *s, struct toec_tcb *t, toec_time now);
int toec_cc_owns_cwnd(const struct toec_tcb *t);
/* The flow changes to another algorithm; cwnd and ssthresh stay. TOEC_E_NOBUFS: it needs a record
 * and none is free. */
int toec_cc_change(struct toec_stack *s, struct toec_tcb *t, const struct toec_cc_ops *ops,
                   toec_time now);
/* Fills the rates and `cc`; adds TOEC_I_APP_LIMITED. */
void toec_cc_info(const struct toec_tcb *t, struct toec_info *out);

/* ---- for algorithms ---- */

#endif
