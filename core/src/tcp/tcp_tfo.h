/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_tfo.h - Fast Open (RFC 7413): what a flow, a listener and the stack remember of it.
 *
 * A passive flow that a cookie has opened is ESTABLISHED for everyone but for TOEC_FO_SYN: its
 * SYN-ACK is not acknowledged yet, SND.UNA is the ISN, and what was lost of it is the SYN-ACK.
 */
#ifndef TOEC_TCP_TFO_H
#define TOEC_TCP_TFO_H

#include "../ip/stack.h"

struct toec_tcb;
struct toec_seg;
struct toec_listener;

#define TOEC_FO_ASK      0x01u /* active: the SYN carries the option, empty or with a cookie */
#define TOEC_FO_HOLD     0x02u /* ... and waits for the first data */
#define TOEC_FO_DATA     0x04u /* ... which goes with it */
#define TOEC_FO_NOCOOKIE 0x08u /* ... without option */
#define TOEC_FO_ACKED    0x10u /* the data on the SYN was taken (both ends) */
#define TOEC_FO_COOKIE   0x20u /* passive: the SYN-ACK carries a cookie */
#define TOEC_FO_SYN      0x40u /* passive, open: the SYN-ACK is not acknowledged yet */
#define TOEC_FO_SYNACK   0x80u /* ... and to be sent, again perhaps */

#define TOEC_FO_COOKIE_MIN 4u  /* RFC 7413 4.1.1 */
#define TOEC_FO_COOKIE_MAX 16u /* as large as an option may grow with those of RFC 7323, 2018 */
#define TOEC_FO_COOKIE_LEN 8u  /* of those given out, as Linux */

struct toec_tfo {
    toec_u8 flags;       /* TOEC_FO_* */
    toec_u8 syn_retries; /* of any SYN, TOEC_OPT_SYNCNT; 0: TOEC_R2_SYN */
    toec_u16 syn_len;    /* data that went with the SYN */
    toec_u32 listener, serial;
};

/* Of a listener. */
struct toec_tfo_listen {
    toec_u32 max;     /* flows in TOEC_FO_SYN at once; 0: off */
    toec_u32 pending; /* ... there are */
    toec_u32 resets;  /* ... there were lately, until a RST; all expire at once */
    toec_u32 reset_at;
    toec_u32 serial; /* tells this listener from an earlier one in its place */
    int no_cookie;   /* any SYN with data or the option will do */
    toec_u32 n_keys; /* 0: the stack's own, which change by themselves */
    toec_u64 key[2][2];
};

#define TOEC_FO_SETS 32u
#define TOEC_FO_WAYS 4u

/* What is known of a server (RFC 7413 4.1.3); live when used is not 0. */
struct toec_tfo_peer {
    struct toec_addr addr;
    toec_u8 cookie[TOEC_FO_COOKIE_MAX];
    toec_u8 len;    /* of the cookie; 0: none */
    toec_u8 losses; /* SYNs with the option or data that were lost, one after the other */
    toec_u16 mss;   /* of its last SYN-ACK */
    toec_u32 lost_at;
    toec_u32 used; /* count of uses: the least recently used goes */
};

struct toec_tfo_cache {
    toec_u32 uses;
    toec_u32 serial;
    struct toec_tfo_peer peer[TOEC_FO_SETS][TOEC_FO_WAYS];
};

/* ---- as client ---- */

/* Writes the option of a SYN or SYN-ACK where it fits into room; returns its bytes. */
unsigned toec_tfo_option(struct toec_stack *s, struct toec_tcb *t, toec_u8 *o, unsigned room,
                         toec_time now);
/* How much data goes with this SYN, whose options have opt_len bytes. */
toec_u32 toec_tfo_syn_len(struct toec_stack *s, struct toec_tcb *t, unsigned opt_len);
/* A SYN with the option or data was not answered in time. */
void toec_tfo_lost(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* The SYN-ACK: keeps its cookie; what it acknowledges of the data on the SYN is returned, the rest
 * is to be sent. */
toec_u32 toec_tfo_synack(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);

/* ---- as server ---- */

/* A SYN has made the flow t: opens it at once, when it brings a good cookie. */
void toec_tfo_open(struct toec_stack *s, struct toec_listener *l, struct toec_tcb *t,
                   struct toec_seg *g, toec_time now);
/* In TOEC_FO_SYN: 1 when g is the peer's SYN again. */
int toec_tfo_syn_again(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);
/* ... our SYN is acknowledged: the handshake is over. */
void toec_tfo_acked(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* ... the flow ends; reset: by the peer's RST. */
void toec_tfo_end(struct toec_stack *s, struct toec_tcb *t, int reset, toec_time now);
/* ... the timer has run out. Not 0 when the flow is gone. */
int toec_tfo_timeout(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* ... before anything else is sent. Result as toec_emit(). */
int toec_tfo_output(struct toec_stack *s, struct toec_tcb *t, toec_time now);

#endif
