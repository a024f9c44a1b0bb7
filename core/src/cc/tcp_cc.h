/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_cc.h - the congestion-control interface: the operations that algorithms (cc_*.c) implement,
 * and the functions that loss recovery, ECN and output call (tcp_cc.c).
 *
 * Loss detection and recovery belong to tcp_recover.c; an algorithm determines the size of the
 * window and the pacing rate. All windows are in bytes. cwnd itself is in the hot part of the TCB,
 * the rest in struct toec_cc_state.
 *
 * Events and the functions to call:
 *   established            toec_cc_start()
 *   every ACK with news    toec_cc_acked(), after recovery has had the ACK
 *   entry of fast recovery toec_cc_congested(TOEC_CC_LOSS), before TOEC_F_FAST is set
 *   ECE (once per window)  toec_cc_congested(TOEC_CC_ECN)
 *   first RTO of a segment toec_cc_congested(TOEC_CC_RTO), before TOEC_F_LOSS is set
 *   it was spurious        toec_cc_undo()
 *   recovery is over       toec_cc_recovered()
 *   idle, then new data    toec_cc_restart()
 * congested() sets ssthresh; recovery then moves cwnd towards it (PRR), but only when
 * toec_cc_owns_cwnd() is 0: a rate-based algorithm alone changes its cwnd.
 */
#ifndef TOE_TCP_CC_H
#define TOE_TCP_CC_H

#include "cc_bbr1_state.h"
#include "cc_bbr_state.h"
#include "tcp_rate.h"

struct toec_stack;

enum toec_cc_event {
    TOEC_CC_LOSS = 1, /* fast recovery begins */
    TOEC_CC_ECN,      /* the peer reports CE marks */
    TOEC_CC_RTO       /* the retransmission timer has expired */
};

/* What one ACK reports. The caller fills the first part, toec_cc_acked() the second. */
struct toec_cc_ack {
    toec_time now;
    toec_u32 acked;     /* bytes by which SND.UNA moved */
    toec_u32 delivered; /* bytes found delivered: ACKed or SACKed for the first time */
    toec_u32 rtt;       /* sample, 2^10 ns; 0: none */
    toec_u32 run_rtt;   /* with toec_cc_state.sampling: RTT of the data sent last; 0: none */
    toec_u32 ece_bytes; /* part of `delivered` reported by ECE (ECN, DCTCP) */
    toec_u8 recovery;   /* the flow was in fast recovery when the ACK arrived */

    toec_u32 grow; /* acknowledged bytes that may increase cwnd: 0 in fast recovery, when cwnd was
                    * not the limit, or at its maximum; bounded in slow start because of stretch
                    * ACKs */
    const struct toec_rate_sample *rs; /* with TOEC_CC_RATE, else 0 */
};

/* HyStart++ (RFC 9406), for algorithms that use toec_cc_slow_start(). Used in the first slow start
 * only: its state is valid until toec_cc_state.hs_phase is TOEC_HS_OVER. */
enum toec_hs_phase { TOEC_HS_OVER = 0, TOEC_HS_SLOW, TOEC_HS_CSS };
struct toec_hystart {
    toec_u32 last_min, now_min; /* lastRoundMinRTT, currentRoundMinRTT; all ones: infinity */
    toec_u32 base; /* in CSS cssBaselineMinRtt, before it the stamp of the train's begin */
    toec_u32 window_end;
};

struct toec_cc_newreno {
    toec_u32 credit; /* acknowledged bytes not yet converted into window growth */
    struct toec_hystart hs;
};

/* RFC 9438 names; windows in bytes, times are stamps. */
struct toec_cubic_epoch {
    toec_u32 w_est;
    toec_u32 k;
    toec_u32 epoch; /* t_epoch, moved later by the time that does not count */
};
struct toec_cc_cubic {
    toec_u32 w_max, cwnd_prior;
    union {
        struct toec_cubic_epoch e; /* with epoch_set: congestion avoidance */
        struct toec_hystart hs;    /* before that: the first slow start */
    } now;
    toec_u32 credit, est_credit; /* growth of cwnd and w_est not yet applied, 2^-32 byte */
    toec_u32 seen_at;            /* stamp of the last ACK */
    toec_u8 epoch_set, after_rto;
};
/* State that an undo restores. */
struct toec_cubic_kept {
    toec_u32 w_max, cwnd_prior;
    struct toec_cubic_epoch e;
};

/* RFC 8257 names; alpha in units of 2^-20. */
struct toec_cc_dctcp {
    toec_u32 alpha;
    toec_u32 window_end;
    toec_u32 acked, marked; /* bytes, in this window */
    toec_u32 credit;
    struct toec_hystart hs;
};

struct toec_cc_state {
    toec_u32 ssthresh;
    toec_u8 sampling;   /* every ACK uses the record: TOEC_CC_RATE, or HyStart++ is active */
    toec_u8 hs_phase;   /* enum toec_hs_phase */
    toec_u8 hs_samples; /* RTT samples in this round */
    toec_u8 hs_count;   /* in CSS its rounds, before it whether there is a train of ACKs */
    union {
        struct toec_cc_newreno newreno;
        struct toec_cc_cubic cubic;
        struct toec_cc_dctcp dctcp;
        struct toec_cc_bbr *bbr; /* version 3, in the flow's record */
        struct toec_cc_bbr1 *bbr1;
    } u; /* private to the algorithm of a flow; all 0 before init */
};

/* toec_cc_ops.flags */
#define TOEC_CC_OWN_CWND 1u  /* recovery must not change cwnd */
#define TOEC_CC_PACED    2u  /* needs pacing */
#define TOEC_CC_ECT      4u  /* needs ECN marks (DCTCP) */
#define TOEC_CC_RATE     8u  /* needs rate samples: every ACK then uses the record */
#define TOEC_CC_RECORD   16u /* keeps its state in the flow's record: see struct toec_record */

/* Hooks marked with ? may be 0. */
struct toec_cc_ops {
    const char *name; /* its TCP_CONGESTION name */
    unsigned flags;
    /* Called when the flow is established or changes to this algorithm. */
    void (*init)(struct toec_tcb *t, toec_time now);
    /* Called for each ACK that delivers data or is a duplicate, in every state. */
    void (*acked)(struct toec_tcb *t, const struct toec_cc_ack *a);
    /* Sets ssthresh. flight: bytes outstanding. */
    void (*congested)(struct toec_tcb *t, enum toec_cc_event why, toec_u32 flight, toec_time now);
    /* ? An episode of loss begins: saves in rack.episode what undo() needs. cwnd and ssthresh are
     * already saved. */
    void (*save)(struct toec_tcb *t);
    /* ? There was no loss: restores the state of save(). cwnd and ssthresh are already restored. */
    void (*undo)(struct toec_tcb *t, toec_time now);
    /* ? Fast recovery, or the recovery after a timeout, has ended. */
    void (*recovered)(struct toec_tcb *t, toec_time now);
    /* ? The flow sends again after `idle` ticks with nothing outstanding. */
    void (*restart)(struct toec_tcb *t, toec_u32 idle, toec_time now);
    /* ? `bytes` of a run of segments are lost (toec_rate_lost()). */
    void (*lost)(struct toec_tcb *t, const struct toec_tx_mark *m, toec_u32 bytes, toec_time now);
};

#define TOEC_CC_COUNT 5

/* Returns the algorithm with this number (enum toec_cc), or 0. */
const struct toec_cc_ops *toec_cc_get(unsigned n);

/* Points the flow's algorithm, which keeps its state in a record (TOEC_CC_RECORD), to that state.
 */
void toec_cc_place(struct toec_tcb *t);
/* Starts congestion control of a flow. If its algorithm needs a record and none is free, the flow
 * uses NewReno instead (counted). */
void toec_cc_start(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Returns min(10 SMSS, max(2 SMSS, 14600)), R6928-01. */
toec_u32 toec_cc_initial_window(const struct toec_tcb *t);
void toec_cc_acked(struct toec_stack *s, struct toec_tcb *t, struct toec_cc_ack *a);
void toec_cc_congested(struct toec_tcb *t, enum toec_cc_event why, toec_time now);
/* Raises cwnd and ssthresh to at least their values before the episode (RFC 9438 4.9, RFC 4015). */
void toec_cc_undo(struct toec_tcb *t, toec_time now);
void toec_cc_recovered(struct toec_tcb *t, toec_time now);
void toec_cc_restart(struct toec_stack *s, struct toec_tcb *t, toec_time now);
int toec_cc_owns_cwnd(const struct toec_tcb *t);
/* Changes the flow's algorithm; cwnd and ssthresh stay. TOEC_E_NOBUFS: the algorithm needs a record
 * and none is free. */
int toec_cc_change(struct toec_stack *s, struct toec_tcb *t, const struct toec_cc_ops *ops,
                   toec_time now);
/* Fills the rates and `cc`; adds TOEC_I_APP_LIMITED. */
void toec_cc_info(const struct toec_tcb *t, struct toec_info *out);

/* ---- for algorithms ---- */

#endif
