/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_listen.h - listeners and passive opens (RFC 9293 3.10.7.2), the backlog of half-open flows
 * and the SYN cookies that take over when it is full (RFC 4987 3.6).
 */
#ifndef TOEC_TCP_LISTEN_H
#define TOEC_TCP_LISTEN_H

#include "tcp_tables.h"

/* Handles a segment for a listener; iss: the ISN to use for a new flow. */
void toec_listen_input(struct toec_stack *s, struct toec_listener *l, struct toec_seg *g,
                       toec_u32 iss, toec_time now);
/* Returns the families (TOEC_L_*) of a wildcard address; 0 for any other address. */
unsigned toec_any_families(const struct toec_addr *a, int only6);
struct toec_listener *toec_listener_find(struct toec_stack *s, const struct toec_addr *addr,
                                         toec_u16 port);
/* Add a flow to its listener's half-open list; remove it when the handshake is complete or the flow
 * ends. */
void toec_half_open_add(struct toec_stack *s, struct toec_tcb *t, struct toec_listener *l);
void toec_half_open_del(struct toec_stack *s, struct toec_tcb *t);

#endif
