/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ecn.h - Explicit Congestion Notification of a flow (RFC 3168 6.1, as relaxed by RFC 8311).
 * No ECN++: control packets are never ECN-capable. The functions are in tcp_ecn.c.
 */
#ifndef TOE_TCP_ECN_H
#define TOE_TCP_ECN_H

#include <toe/types.h>

struct toec_cc_ack;
struct toec_tcb;
struct toec_seg;
struct toec_stack;

/* toec_ecn.flags: negotiated state and pending actions. */
#define TOEC_ECN_ASKED 0x01u /* our SYN was an ECN-setup SYN */
#define TOEC_ECN_PLAIN 0x02u /* we sent a SYN or SYN-ACK that was not: never send ECT */
#define TOEC_ECN_TX    0x04u /* new data is sent ECN-capable */
#define TOEC_ECN_RX    0x08u /* marks on the peer's data are echoed */
#define TOEC_ECN_ECE   0x10u /* set ECE on all segments sent */
#define TOEC_ECN_CWR   0x20u /* set CWR on the next new data */
#define TOEC_ECN_CUT   0x40u /* cut_end is valid */
#define TOEC_ECN_SEEN  0x80u /* the peer has sent ECN-capable data */

struct toec_ecn {
    toec_u32 cut_end; /* SND.MAX at the last window cut: ACKs up to it cause no further cut */
    toec_u8 flags;
    toec_u8 policy; /* enum toec_ecn_policy */
    toec_u8 echo;   /* the ACK being processed carries ECE: the window does not grow */
    toec_u8 tos;    /* TOEC_OPT_TOS, without the ECN field */
};

/* ---- handshake ---- */

/* Returns the ECN flags for a SYN or SYN-ACK and records what was requested. */
unsigned toec_ecn_syn_flags(struct toec_stack *s, struct toec_tcb *t);
/* Returns not 0 when a listener with this policy accepts the SYN's request for ECN. */
int toec_ecn_grants(unsigned policy, const struct toec_seg *syn);
/* Handles a received SYN (passive or simultaneous open), also a retransmitted one. */
void toec_ecn_take_syn(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);
/* Handles the SYN-ACK that answers our SYN. */
void toec_ecn_take_synack(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);
void toec_ecn_start(struct toec_stack *s, struct toec_tcb *t);

/* ---- sending ---- */

/* Returns the TCP flags to add to a segment; sets the ECN field in *tos. */
unsigned toec_ecn_emit(const struct toec_tcb *t, toec_u32 seq, toec_u32 len, toec_u8 *tos);
/* Returns not 0 while data that was outstanding at the last cut is still outstanding. Losses and
 * marks detected until then belong to the same window of data and cause no further cut (RFC 3168
 * 6.1.2). */
int toec_ecn_is_cut(const struct toec_tcb *t);
/* Records a window cut, for any reason, at the current SND.MAX. */
void toec_ecn_cut(struct toec_tcb *t);

/* ---- receiving ---- */

/* Handles an acceptable segment whose ECN field is not 0 or that carries CWR. */
void toec_ecn_data(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now);
/* Handles an acceptable ACK. SND.UNA is already updated; all of *a except ece_bytes is filled. */
void toec_ecn_ack(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                  struct toec_cc_ack *a);

#endif
