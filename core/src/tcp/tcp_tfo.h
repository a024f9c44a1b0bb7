/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_tfo.h - Fast Open (RFC 7413): its state in a flow, a listener and the stack.
 *
 * A passive flow opened by a cookie is in state ESTABLISHED at once. Until its SYN-ACK is
 * acknowledged it has TOEC_FO_SYN: SND.UNA is the ISN, and a timeout retransmits only the SYN-ACK.
 */
#ifndef TOEC_TCP_TFO_H
#define TOEC_TCP_TFO_H

#include "../ip/stack.h"

struct toec_tcb;
struct toec_seg;
struct toec_listener;

#define TOEC_FO_ASK      0x01u /* active: the SYN carries the option, empty or with a cookie */
#define TOEC_FO_HOLD     0x02u /* ... and waits for the first data */
#define TOEC_FO_DATA     0x04u /* ... which the SYN carries */
#define TOEC_FO_NOCOOKIE 0x08u /* ... without the option */
#define TOEC_FO_ACKED    0x10u /* the data on the SYN was accepted (set at both ends) */
#define TOEC_FO_COOKIE   0x20u /* passive: the SYN-ACK carries a cookie */
#define TOEC_FO_SYN      0x40u /* passive, open: the SYN-ACK is not acknowledged yet */
#define TOEC_FO_SYNACK   0x80u /* ... and must be sent or retransmitted */
/* Bits whose first meaning belongs to the other side: */
#define TOEC_FO_ASK_EXP    0x80u /* active: ... in the experimental option (RFC 7413, appendix) */
#define TOEC_FO_COOKIE_EXP 0x04u /* passive: ... in the experimental option */

#define TOEC_FO_COOKIE_MIN 4u  /* RFC 7413 4.1.1 */
#define TOEC_FO_COOKIE_MAX 16u /* what fits beside the options of RFC 7323 and RFC 2018 */
#define TOEC_FO_COOKIE_LEN 8u  /* of the cookies this stack issues, as in Linux */
#define TOEC_FO_HEAD       2u  /* bytes of the option before the cookie */
#define TOEC_FO_EXP_HEAD   4u  /* ... of the experimental option */

/* toec_tfo_peer.try_exp: the option in which to request a cookie, as Linux does */
#define TOEC_FO_TRY_EXP 1u /* the peer has left one request in option 34 unanswered */
#define TOEC_FO_TRIED   2u /* ... and one in the experimental option: option 34 again */

struct toec_tfo {
    toec_u8 flags;       /* TOEC_FO_* */
    toec_u8 syn_retries; /* of any SYN, TOEC_OPT_SYNCNT; 0: TOEC_R2_SYN */
    toec_u16 syn_len;    /* bytes of data sent with the SYN */
    toec_u32 listener, serial;
};

/* Fast Open state of a listener. */
struct toec_tfo_listen {
    toec_u32 max;     /* limit of flows in TOEC_FO_SYN; 0: off */
    toec_u32 pending; /* current number of such flows */
    toec_u32 resets;  /* such flows that a RST ended recently; the count expires as a whole */
    toec_u32 reset_at;
    toec_u32 serial; /* distinguishes this listener from an earlier one in the same slot */
    int no_cookie;   /* accept any SYN with data or the option */
    toec_u32 n_keys; /* 0: use the stack's own keys, which rotate */
    toec_u64 key[2][2];
};

#define TOEC_FO_SETS 32u
#define TOEC_FO_WAYS 4u

/* Cache entry for a server (RFC 7413 4.1.3); valid when used is not 0. */
struct toec_tfo_peer {
    struct toec_addr addr;
    toec_u8 cookie[TOEC_FO_COOKIE_MAX];
    toec_u8 len;    /* of the cookie; 0: none */
    toec_u8 losses; /* consecutive lost SYNs with the option or data */
    toec_u16 mss;   /* of its last SYN-ACK */
    toec_u32 lost_at;
    toec_u32 used;   /* use counter for LRU replacement */
    toec_u8 exp;     /* the cookie came in the experimental option, and returns in it */
    toec_u8 try_exp; /* TOEC_FO_TRY_EXP, TOEC_FO_TRIED; 0: neither */
};

struct toec_tfo_cache {
    toec_u32 uses;
    toec_u32 serial;
    struct toec_tfo_peer peer[TOEC_FO_SETS][TOEC_FO_WAYS];
};

/* ---- as client ---- */

/* Writes the option of a SYN or SYN-ACK if it fits into room; returns its bytes. */
unsigned toec_tfo_option(struct toec_stack *s, struct toec_tcb *t, toec_u8 *o, unsigned room,
                         toec_time now);
/* Returns the bytes of data to send with this SYN. */
toec_u32 toec_tfo_syn_len(struct toec_stack *s, struct toec_tcb *t);
/* Handles the timeout of a SYN with the option or data. */
void toec_tfo_lost(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Handles the SYN-ACK: stores its cookie. Returns the bytes of the SYN's data that it acknowledges;
 * the rest must be sent again. */
toec_u32 toec_tfo_synack(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);

/* ---- as server ---- */

/* Opens flow t, just created by SYN g, at once when g carries a valid cookie. */
void toec_tfo_open(struct toec_stack *s, struct toec_listener *l, struct toec_tcb *t,
                   struct toec_seg *g, toec_time now);
/* In TOEC_FO_SYN: handles g and returns 1 when it is a retransmission of the peer's SYN. */
int toec_tfo_syn_again(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);
/* ... handles the ACK of our SYN: the handshake is complete. */
void toec_tfo_acked(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* ... leaves TOEC_FO_SYN; reset: because of the peer's RST. */
void toec_tfo_end(struct toec_stack *s, struct toec_tcb *t, int reset, toec_time now);
/* ... handles the retransmission timeout; returns not 0 when the flow was freed. */
int toec_tfo_timeout(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* ... sends the SYN-ACK if it is due, before any other output. Returns as toec_emit(). */
int toec_tfo_output(struct toec_stack *s, struct toec_tcb *t, toec_time now);

#endif
