/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_cc.h - the congestion-control interface (RFC 5681 roles; algorithms in cc_*.c).
 *
 * Loss detection and recovery belong to tcp_recover.c; an algorithm only says how large the window
 * is. All windows are in bytes. cwnd itself lives in the TCB's hot part, the rest in toec_cc_state.
 */
#ifndef TOE_TCP_CC_H
#define TOE_TCP_CC_H

#include <toe/types.h>

struct toec_tcb;

/* Private to the algorithm of a flow; 0 after init. */
struct toec_cc_state {
    toec_u32 ssthresh;
    toec_u32 credit;     /* acknowledged but not yet turned into window growth */
    toec_u32 w_max;      /* CUBIC: window before the last reduction, bytes */
    toec_u32 w_est;      /* CUBIC: what Reno would have, bytes */
    toec_u32 est_credit; /* CUBIC: as credit, of w_est */
    toec_u32 k;          /* CUBIC: time to reach w_max, 1/1024 s */
    toec_u32 epoch;      /* CUBIC: start of the epoch, ticks; see epoch_set */
    toec_u32 epoch_set;
};

struct toec_cc_ops {
    const char *name;
    void (*init)(struct toec_tcb *t);
    /* `acked` new bytes acknowledged outside fast recovery while the window was the limit. */
    void (*on_ack)(struct toec_tcb *t, toec_u32 acked, toec_u32 ticks);
    /* Loss found with `flight` bytes outstanding: sets ssthresh (cwnd is set by recovery). */
    void (*on_loss)(struct toec_tcb *t, toec_u32 flight);
    /* Retransmission timeout: sets ssthresh, forgets the epoch (cwnd is set by recovery). */
    void (*on_rto)(struct toec_tcb *t, toec_u32 flight);
    /* Sending starts again after an idle time longer than the RTO (RFC 5681 4.1). */
    void (*on_idle)(struct toec_tcb *t);
};

#define TOEC_CC_COUNT 2

const struct toec_cc_ops *toec_cc_get(unsigned n);

/* The slow start that both algorithms share (RFC 5681 3.1); returns the bytes left over. */
toec_u32 toec_cc_slow_start(struct toec_tcb *t, toec_u32 acked);

extern const struct toec_cc_ops toec_cc_cubic;
extern const struct toec_cc_ops toec_cc_newreno;

#endif
