/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rate.h - delivery rate samples (draft-cheng-iccrg-delivery-rate-estimation, taken up by
 * draft-ietf-ccwg-bbr 4.1): how fast the path has carried what was sent.
 *
 * The record of transmissions (one entry per run of segments, see loss recovery) holds a
 * struct toec_tx_mark per entry; it is filled when the run is sent and given back when some of the
 * run is found delivered or lost. Everything counts bytes modulo 2^32, times are toec_stamp()s.
 */
#ifndef TOE_TCP_RATE_H
#define TOE_TCP_RATE_H

#include "../base/base.h"

struct toec_tcb;

/* Time of everything that congestion control measures: 2^10 ns, modulo 2^32 (73 minutes). */
TOEC_INLINE toec_u32 toec_stamp(toec_time now)
{
    return (toec_u32)(now >> 10);
}

/* What was known when a run of segments was sent (the draft's P.*). */
struct toec_tx_mark {
    toec_u32 delivered;    /* C.delivered */
    toec_u32 delivered_at; /* C.delivered_time */
    toec_u32 first_sent;   /* C.first_sent_time */
    toec_u32 lost;         /* C.lost */
    toec_u32 in_flight;    /* with this run; TOEC_TX_APP_LIMITED beside it */
};
#define TOEC_TX_APP_LIMITED 0x80000000u
#define TOEC_TX_MERGED      0x40000000u /* of several runs: its time gives no RTT */
#define TOEC_TX_VOLUME      0x3fffffffu

/* Of one ACK (the draft's rs.*). */
struct toec_rate_sample {
    toec_u32 delivered;       /* bytes in `interval` */
    toec_u32 interval;        /* 2^10 ns; 0: this ACK gives no sample */
    toec_u32 prior_delivered; /* C.delivered when the newest segment delivered was sent */
    toec_u32 lost;            /* bytes lost since then */
    toec_u32 in_flight;       /* in flight when it was sent, itself included */
    toec_u32 rtt;             /* of it, 2^10 ns; 0: it was sent more than once */
    toec_u32 newly_acked;     /* bytes this ACK reports delivered */
    toec_u32 newly_lost;      /* bytes found lost since the ACK before */
    toec_u8 app_limited;      /* it was sent while the application was the limit */
    toec_u8 valid;            /* any segment was found delivered */
};

/* Of a flow (the draft's C.*). */
struct toec_tcp_rate {
    toec_u32 delivered;
    toec_u32 delivered_at;
    toec_u32 first_sent;
    toec_u32 lost;
    toec_u32 app_limited; /* C.delivered that ends the application-limited phase; 0: not in one */
    toec_u32 prior_at;    /* delivered_at of the newest delivered segment's mark */
    toec_u32 newest_sent; /* when it was sent */
    toec_u64 bw;          /* last good sample, bytes per 2^30 ns */
    toec_u8 bw_app_limited;
    struct toec_rate_sample rs;
};

/* The flow is established. */
void toec_rate_start(struct toec_tcb *t, toec_time now);

/*
 * Loss recovery calls these.
 *
 * sent: `bytes` go out at `now` (new or again): fills *m. in_flight: bytes in flight before them.
 * delivered: `bytes` of a run that was last sent at stamp `sent_at` are ACKed or SACKed for the
 * first time; again: it was sent more than once (no RTT sample). Several runs per ACK are given in
 * any order.
 * lost: `bytes` of a run are taken for lost.
 */
void toec_rate_sent(struct toec_tcb *t, struct toec_tx_mark *m, toec_u32 in_flight, toec_u32 bytes,
                    toec_time now);
void toec_rate_delivered(struct toec_tcb *t, const struct toec_tx_mark *m, toec_u32 bytes,
                         toec_u32 sent_at, int again, toec_time now);
void toec_rate_lost(struct toec_tcb *t, const struct toec_tx_mark *m, toec_u32 bytes,
                    toec_time now);

/* For toec_cc_acked(): completes rate.rs, once all of an ACK has been given. */
void toec_rate_sample(struct toec_tcb *t);

/* The flow could send more than the application gives it (CheckIfApplicationLimited()). */
void toec_rate_app_limited(struct toec_tcb *t, toec_u32 in_flight);

#endif
