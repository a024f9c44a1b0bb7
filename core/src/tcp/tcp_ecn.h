/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ecn.h - Explicit Congestion Notification of a flow (RFC 3168 6.1, with what RFC 8311 relaxed;
 * no ECN++: control packets are never ECN-capable). The functions are in tcp_ecn.c.
 */
#ifndef TOE_TCP_ECN_H
#define TOE_TCP_ECN_H

#include <toe/types.h>

struct toec_cc_ack;
struct toec_tcb;
struct toec_seg;
struct toec_stack;

/* What is known and owed: toec_ecn.flags. */
#define TOEC_ECN_ASKED 0x01u /* our SYN was an ECN-setup SYN */
#define TOEC_ECN_PLAIN 0x02u /* a SYN or SYN-ACK of ours was not, so nothing of ours may be ECT */
#define TOEC_ECN_TX    0x04u /* new data is sent ECN-capable */
#define TOEC_ECN_RX    0x08u /* marks on the peer's data are echoed */
#define TOEC_ECN_ECE   0x10u /* ECE stands on what is sent */
#define TOEC_ECN_CWR   0x20u /* owe CWR on the next new data */
#define TOEC_ECN_CUT   0x40u /* cut_end counts */
#define TOEC_ECN_SEEN  0x80u /* ECN-capable data has come from the peer */

struct toec_ecn {
    toec_u32 cut_end; /* SND.MAX when the window was cut last: ACKs up to it cut no more */
    toec_u8 flags;
    toec_u8 policy; /* enum toec_ecn_policy */
    toec_u8 echo;   /* the ACK in hand carries ECE: the window does not grow */
    toec_u8 tos;    /* TOEC_OPT_TOS, without the ECN field */
};

/* ---- handshake ---- */

/* The flags a SYN or SYN-ACK carries; notes what was asked. */
unsigned toec_ecn_syn_flags(struct toec_stack *s, struct toec_tcb *t);
/* Not 0 when a listener with this policy grants what the SYN asks for. */
int toec_ecn_grants(unsigned policy, const struct toec_seg *syn);
/* A SYN has come (passive or simultaneous open); again: not for the first time. */
void toec_ecn_take_syn(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);
/* Our SYN has been answered by this SYN-ACK. */
void toec_ecn_take_synack(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);
void toec_ecn_start(struct toec_stack *s, struct toec_tcb *t);

/* ---- sending ---- */

/* TCP flags to add to a segment, and the ECN field of its IP header. */
unsigned toec_ecn_emit(const struct toec_tcb *t, toec_u32 seq, toec_u32 len, toec_u8 *tos);
/* Not 0 while what was outstanding at the last cut still is: losses and marks found meanwhile are
 * of one window of data, and cut no more (RFC 3168 6.1.2). */
int toec_ecn_is_cut(const struct toec_tcb *t);
/* The window was cut, for whatever reason, at now's SND.MAX. */
void toec_ecn_cut(struct toec_tcb *t);

/* ---- receiving ---- */

/* An acceptable segment whose IP header is marked or that carries CWR. */
void toec_ecn_data(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now);
/* An acceptable ACK; SND.UNA is its own, and a is filled but for ece_bytes. */
void toec_ecn_ack(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                  struct toec_cc_ack *a);

#endif
