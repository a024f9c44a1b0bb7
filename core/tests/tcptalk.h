/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcptalk.h - dialogues between a stack and a crafted peer: the peer's side of one connection kept
 * by hand, so that a test reads as the exchange it shows. Sequence numbers are relative: the first
 * byte of each stream is 0.
 */
#ifndef TCPTALK_H
#define TCPTALK_H

#include "tcpsim.h"

#define PEER_PORT 5000
#define OWN_PORT  80
#define PEER_ISN  0x12345678u

struct talk {
    struct sim s;
    struct conn *c;
    uint16_t peer_port, own_port;
    uint32_t isn;          /* the peer's */
    uint32_t iss;          /* the stack's */
    int ts, sack;          /* negotiated */
    int wscale;            /* the peer's shift, -1: none */
    uint32_t tsval, tsecr; /* of the peer's next segments */
    uint32_t wnd;          /* field of the peer's next segments */
    int mss;               /* option of the peer's SYN, -1: none */
    toec_time rtt;         /* the peer answers SYN and SYN-ACK after so long */
    unsigned syn_flags;    /* more flags of the peer's SYN or SYN-ACK (F_ECE, F_CWR) */
    unsigned heard_syn;    /* flags of the stack's SYN or SYN-ACK beside F_SYN and F_ACK */
};

/* Set by a test before: t->s.host[0].cfg and buffers, ts, sack, wscale, mss, isn. */
void talk_init(struct talk *t);
/* The peer connects to a listener on OWN_PORT; c is established. */
void talk_passive(struct talk *t);
/* The same, with nothing set before. */
void talk_open(struct talk *t);
/* ... with a receive buffer of 4096 bytes, which the peer has filled. */
void talk_full(struct talk *t);
/* talk_passive(), then n segments of 1460 bytes are sent; */
void talk_under_way(struct talk *t, unsigned n);
/* ... with SACK or not and an RTT of 100 ms. */
void talk_flight(struct talk *t, int sack, unsigned n);
/* Makes the stack connect to the peer's OWN_PORT; nothing is sent yet. */
void talk_connect(struct talk *t);
/* ... and is established. */
void talk_active(struct talk *t);
void talk_end(struct talk *t);

/* A segment of the peer: stream offsets, len bytes of pattern. */
struct tseg talk_seg(struct talk *t, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len);
/* ... sent, without polling; */
void talk_put(struct talk *t, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len);
/* ... sent, then polled. */
void talk_say(struct talk *t, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len);
/* An ACK with SACK blocks given as pairs of stream offsets, ended by two equal ones. */
void talk_sack(struct talk *t, uint32_t seq, uint32_t ack, const uint32_t *blocks);
/* ... with one block. */
void talk_block(struct talk *t, uint32_t ack, uint32_t from, uint32_t to);
/* talk_put() in a packet whose IP header has this ECN field. */
void talk_put_marked(struct talk *t, unsigned mark, unsigned flags, uint32_t seq, uint32_t ack,
                     uint32_t len);
/* The application writes n bytes, pushed; the stack is polled. */
void talk_send(struct talk *t, uint32_t n);
/* The application reads up to n bytes; the stack is polled. */
void talk_read(struct talk *t, uint32_t n);
/* The stack must have sent a segment with these; returns it. */
struct tseg talk_hear(struct talk *t, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len);
void talk_silence(struct talk *t);
/* Drops the segments sent so far; returns their number. */
unsigned talk_skip(struct talk *t);
uint64_t talk_count(struct talk *t, enum toec_counter c);
struct toec_info talk_info(struct talk *t);
/* Sets an option of the connection; it must be accepted. */
void talk_set(struct talk *t, enum toec_option option, uint32_t value);
/* ... and returns the result. */
int talk_option(struct talk *t, enum toec_option option, uint32_t value);

#endif
