/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rate.h - delivery rate samples (draft-cheng-iccrg-delivery-rate-estimation, taken up by
 * draft-ietf-ccwg-bbr 4.1): the rate at which the path delivers data.
 *
 * The record of transmissions (one entry per run of segments, see tcp_rack.h) holds a struct
 * toec_tx_mark per entry. It is filled when the run is sent and passed back here when some of the
 * run is found delivered or lost. Counts are bytes modulo 2^32, times are toec_stamp()s.
 */
#ifndef TOE_TCP_RATE_H
#define TOE_TCP_RATE_H

#include "../base/base.h"

struct toec_tcb;

/* Returns the time in the unit of congestion control: 2^10 ns, modulo 2^32 (73 minutes). */
TOEC_INLINE toec_u32 toec_stamp(toec_time now)
{
    return (toec_u32)(now >> 10);
}

/* Flow state at the time a run of segments was sent (the draft's P.*). */
struct toec_tx_mark {
    toec_u32 delivered;    /* C.delivered */
    toec_u32 delivered_at; /* C.delivered_time */
    toec_u32 first_sent;   /* C.first_sent_time */
    toec_u32 lost;         /* C.lost */
    toec_u32 in_flight;    /* including this run, with the flags below */
};
#define TOEC_TX_APP_LIMITED 0x80000000u
#define TOEC_TX_MERGED      0x40000000u /* runs were merged: no RTT sample */
#define TOEC_TX_VOLUME      0x3fffffffu

/* The sample of one ACK (the draft's rs.*). */
struct toec_rate_sample {
    toec_u32 delivered;       /* bytes in `interval` */
    toec_u32 interval;        /* 2^10 ns; 0: this ACK gives no sample */
    toec_u32 prior_delivered; /* C.delivered when the newest segment delivered was sent */
    toec_u32 lost;            /* bytes lost since then */
    toec_u32 in_flight;       /* bytes in flight when it was sent, itself included */
    toec_u32 rtt;             /* its RTT, 2^10 ns; 0: it was sent more than once */
    toec_u32 newly_acked;     /* bytes this ACK reports delivered */
    toec_u32 newly_lost;      /* bytes found lost since the previous ACK */
    toec_u8 app_limited;      /* it was sent while the application was the limit */
    toec_u8 valid;            /* any segment was found delivered */
};

/* Delivery rate state of a flow (the draft's C.*). */
struct toec_tcp_rate {
    toec_u32 delivered;
    toec_u32 delivered_at;
    toec_u32 first_sent;
    toec_u32 lost;
    toec_u32 app_limited; /* C.delivered that ends the application-limited phase; 0: not in one */
    toec_u32 prior_at;    /* delivered_at of the newest delivered segment's mark */
    toec_u32 newest_sent; /* when that segment was sent */
    toec_u64 bw;          /* last valid sample, bytes per 2^30 ns */
    toec_u8 bw_app_limited;
    struct toec_rate_sample rs;
};

/* Starts the measurement for a flow. */
void toec_rate_start(struct toec_tcb *t, toec_time now);

/*
 * Called by loss recovery.
 *
 * sent: fills *m for `bytes` that are sent or retransmitted at `now`. in_flight: bytes in flight
 * before them.
 * delivered: `bytes` of a run that was last sent at stamp `sent_at` are ACKed or SACKed for the
 * first time; again: it was sent more than once (no RTT sample). The runs of one ACK may be passed
 * in any order.
 * lost: `bytes` of a run are marked lost.
 */
void toec_rate_sent(struct toec_tcb *t, struct toec_tx_mark *m, toec_u32 in_flight, toec_u32 bytes,
                    toec_time now);
void toec_rate_delivered(struct toec_tcb *t, const struct toec_tx_mark *m, toec_u32 bytes,
                         toec_u32 sent_at, int again, toec_time now);
void toec_rate_lost(struct toec_tcb *t, const struct toec_tx_mark *m, toec_u32 bytes,
                    toec_time now);

/* Completes rate.rs after all runs of an ACK have been passed; called by toec_cc_acked(). */
void toec_rate_sample(struct toec_tcb *t);

/* Marks the flow as limited by the application (CheckIfApplicationLimited()). */
void toec_rate_app_limited(struct toec_tcb *t, toec_u32 in_flight);

#endif
