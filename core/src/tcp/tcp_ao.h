/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ao.h - TCP-AO inside core/ (RFC 5925): keys, and what a connection that has some knows
 * besides. None of it is part of the TCB: TOEC_RARE_AO says that toec_tcp.ao_of has the rest.
 */
#ifndef TOEC_TCP_AO_H
#define TOEC_TCP_AO_H

#include "../base/mac.h"
#include "../ip/stack.h"

struct toec_tcb;
struct toec_tuple;
struct toec_seg;
struct toec_tw;
struct toec_listener;

#define TOEC_AO_MAC                                                                                \
    12u /* bytes of the code: both algorithms truncate to 96 bits (RFC 5926 3.2)                   \
         */
#define TOEC_AO_LEN (4u + TOEC_AO_MAC) /* of the option: kind, length, KeyID, RNextKeyID, MAC */

/* toec_seg.ao_n */
#define TOEC_AO_COUNT 0x3fu /* how many AO options a segment has; */
#define TOEC_AO_MD5   0x40u /* ... it has one of RFC 2385 */

/* A key of a listener or, with traffic keys, of a connection. */
struct toec_ao_key {
    struct toec_ao_key *next;
    struct toec_addr remote;
    toec_u16 remote_port;
    toec_u8 prefix, send_id, recv_id, no_options, alg;
    toec_u8 len; /* of secret */
    toec_u8 secret[TOEC_AO_SECRET_MAX];
    toec_u8 tx[TOEC_MAC_MOST], rx[TOEC_MAC_MOST]; /* when toec_ao.ready */
};

/* Sequence Number Extension (RFC 5925 6.2): that of the latest sequence number. */
struct toec_sne {
    toec_u32 seq, sne;
};

/* Of a connection, also when it is in TIME-WAIT. */
struct toec_ao {
    struct toec_ao_key *keys, *current, *rnext; /* the first added first; never none */
    struct toec_sne snd, rcv;
    toec_u8 ready; /* both ISNs are known: traffic keys are made */
    toec_u8 accept_icmp;
    toec_u64 good, bad, no_key, missing, icmp_ignored;
};

/* The AO state of a flow with TOEC_RARE_AO. */
struct toec_ao *toec_ao_of(const struct toec_stack *s, const struct toec_tcb *t);
/* Makes it one without keys, which is to get some at once; 0: no room (counted). */
struct toec_ao *toec_ao_new(struct toec_stack *s);
/* One more key at the end of a list; 0: no room (counted). */
struct toec_ao_key *toec_ao_key_new(struct toec_stack *s, struct toec_ao_key **list);
void toec_ao_keys_free(struct toec_stack *s, struct toec_ao_key **list);
void toec_ao_free(struct toec_stack *s, struct toec_ao *ao);
/* The flow has it from now on; ... and no more: it is given back. */
void toec_ao_attach(struct toec_stack *s, struct toec_tcb *t, struct toec_ao *ao);
struct toec_ao *toec_ao_detach(struct toec_stack *s, struct toec_tcb *t);
/* Not 0 when the key is for this peer. */
int toec_ao_matches(const struct toec_ao_key *k, const struct toec_tuple *id);
/* By KeyID as sent or as received; -1: any. */
struct toec_ao_key *toec_ao_find(struct toec_ao_key *list, int send_id, int recv_id);
/* A flow that the SYN g opens, whose MAC is right: gets the listener's keys for this peer.
 * toec_ao_derive() is due when its ISNs are set. -1: no room (counted). */
int toec_ao_open(struct toec_stack *s, struct toec_tcb *t, const struct toec_listener *l,
                 const struct toec_seg *g);
/* Traffic keys of all, both ISNs being known. */
void toec_ao_derive(const struct toec_tcb *t, struct toec_ao *ao);
/* Not 0: the connection is not to hear of an ICMP error of this type and code (counted). */
int toec_ao_ignores(struct toec_stack *s, struct toec_tcb *t, const struct toec_icmp_err *e);

#endif
