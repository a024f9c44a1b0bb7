/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ao.h - TCP-AO inside core/ (RFC 5925): keys, and the state of a connection that uses them.
 * This state is not part of the TCB: with TOEC_RARE_AO, toec_tcp.ao_of holds it.
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
    12u /* bytes of a MAC: both algorithms truncate theirs to 96 bits (RFC 5926 3.2) */
#define TOEC_AO_LEN (4u + TOEC_AO_MAC) /* bytes of the option: kind, length, two KeyIDs, MAC */

/* toec_seg.ao_n */
#define TOEC_AO_COUNT 0x3fu /* mask: number of AO options in the segment */
#define TOEC_AO_MD5   0x40u /* flag: the segment has an MD5 option (RFC 2385) */

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

/* Sequence Number Extension (RFC 5925 6.2) of the latest sequence number. */
struct toec_sne {
    toec_u32 seq, sne;
};

/* TCP-AO state of a connection, also in TIME-WAIT. */
struct toec_ao {
    struct toec_ao_key *keys, *current, *rnext; /* in order of addition; never empty */
    struct toec_sne snd, rcv;
    toec_u8 ready; /* both ISNs are known: traffic keys are derived */
    toec_u8 accept_icmp;
    toec_u64 good, bad, no_key, missing, icmp_ignored;
};

/* Returns the AO state of a flow with TOEC_RARE_AO. */
struct toec_ao *toec_ao_of(const struct toec_stack *s, const struct toec_tcb *t);
/* Allocates AO state without keys; the caller adds one at once. 0: none free (counted). */
struct toec_ao *toec_ao_new(struct toec_stack *s);
/* Appends a new key to a list; 0: none free (counted). */
struct toec_ao_key *toec_ao_key_new(struct toec_stack *s, struct toec_ao_key **list);
void toec_ao_keys_free(struct toec_stack *s, struct toec_ao_key **list);
void toec_ao_free(struct toec_stack *s, struct toec_ao *ao);
/* Attach AO state to a flow; detach it and return it to the caller. */
void toec_ao_attach(struct toec_stack *s, struct toec_tcb *t, struct toec_ao *ao);
struct toec_ao *toec_ao_detach(struct toec_stack *s, struct toec_tcb *t);
/* Returns not 0 when the key applies to this peer. */
int toec_ao_matches(const struct toec_ao_key *k, const struct toec_tuple *id);
/* Finds a key by SendID and RecvID; -1: any. */
struct toec_ao_key *toec_ao_find(struct toec_ao_key *list, int send_id, int recv_id);
/* Copies the listener's keys for this peer to the flow that SYN g opens; the MAC of g is correct.
 * Call toec_ao_derive() once both ISNs are set. -1: no memory (counted). */
int toec_ao_open(struct toec_stack *s, struct toec_tcb *t, const struct toec_listener *l,
                 const struct toec_seg *g);
/* Derives the traffic keys of all keys; both ISNs are known. */
void toec_ao_derive(const struct toec_tcb *t, struct toec_ao *ao);
/* Returns not 0 when the connection ignores an ICMP error of this type and code (counted). */
int toec_ao_ignores(struct toec_stack *s, struct toec_tcb *t, const struct toec_icmp_err *e);

#endif
