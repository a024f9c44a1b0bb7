/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_if.h - the door of TCP: the calls by which IP and ICMP, which lie below it, hand over what
 * arrives, and by which stack.c drives it. TCP's own state is at toec_stack.tcp.
 */
#ifndef TOEC_TCP_IF_H
#define TOEC_TCP_IF_H

#include "../base/timer.h"
#include "../ip/icmp_err.h"
#include "../ip/ip.h"

struct toec_seg;

/* Bytes TCP needs for this (validated, defaults filled in) configuration; a multiple of 64. */
unsigned long toec_tcp_size(const struct toec_config *cfg);
/* Sets TCP up in mem (aligned to 64 bytes) and s->tcp. The rest of s is initialised already. */
void toec_tcp_init(struct toec_stack *s, void *mem, toec_time now);

/* A TCP segment for one of our addresses. in->l4_head and in->l4_len are not yet checked. */
void toec_tcp_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
/*
 * The same for a segment that was parsed elsewhere: its checksum is right, its header is whole, its
 * options are parsed (tcp_opt.h). Everything in *g but hash is filled in; *g changes.
 */
void toec_tcp_segment(struct toec_stack *s, struct toec_seg *g, toec_time now);

/* A timer with kind >= TOEC_TMR_TCP has expired; it is no longer pending. */
void toec_tcp_timer(struct toec_stack *s, struct toec_timer *t, enum toec_timer_kind kind,
                    toec_time now);

/*
 * Sends what is owed. Called once per toec_poll(), after due timers. Returns the earliest time TCP
 * wants to be called again beside its timers (TOEC_NEVER: none). Need not count work that waits for
 * transmit or a neighbour (see toec_ip_output()).
 */
toec_time toec_tcp_poll(struct toec_stack *s, toec_time now);

/* An ICMP error quotes one of our segments. */
void toec_tcp_icmp_error(struct toec_stack *s, const struct toec_icmp_err *e, toec_time now);

/* Fills flows, half_open, listeners, time_wait. */
void toec_tcp_usage(const struct toec_stack *s, struct toec_usage *out);

#endif
