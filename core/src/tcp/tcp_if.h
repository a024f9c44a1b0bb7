/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_if.h - the interface of TCP to the layers below: IP and ICMP pass received segments and
 * errors up through it, stack.c drives it. TCP's own state is at toec_stack.tcp.
 */
#ifndef TOEC_TCP_IF_H
#define TOEC_TCP_IF_H

#include "../base/timer.h"
#include "../ip/icmp_err.h"
#include "../ip/ip.h"

struct toec_seg;

/* Returns the bytes of memory TCP needs for this configuration (validated, defaults filled in); a
 * multiple of 64. */
unsigned long toec_tcp_size(const struct toec_config *cfg);
/* Initialises TCP in mem (aligned to 64 bytes) and sets s->tcp. The rest of s is already
 * initialised. */
void toec_tcp_init(struct toec_stack *s, void *mem, toec_time now);

/* Handles a TCP segment for a local address. in->l4_head and in->l4_len are not yet checked. */
void toec_tcp_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
/*
 * Handles a segment that was parsed elsewhere: its checksum is correct, its header is complete, its
 * options are parsed (tcp_opt.h). The caller fills in all of *g except hash; *g is modified.
 */
void toec_tcp_segment(struct toec_stack *s, struct toec_seg *g, toec_time now);

/* Handles the expiry of a timer with kind >= TOEC_TMR_TCP; it is no longer pending. */
void toec_tcp_timer(struct toec_stack *s, struct toec_timer *t, enum toec_timer_kind kind,
                    toec_time now);

/*
 * Sends all pending output. Called once per toec_poll(), after expired timers. Returns the earliest
 * time at which TCP must be called again, apart from its timers (TOEC_NEVER: none). Work that waits
 * for transmit room or for a neighbour does not count (see toec_ip_output()).
 */
toec_time toec_tcp_poll(struct toec_stack *s, toec_time now);

/* Handles an ICMP error that quotes a segment of this stack. */
void toec_tcp_icmp_error(struct toec_stack *s, const struct toec_icmp_err *e, toec_time now);

/* Fills TCP's counts in *out: flows, records, gaps, half_open, listeners, time_wait, ao_keys. */
void toec_tcp_usage(const struct toec_stack *s, struct toec_usage *out);

#endif
