/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_open.h - opening of connections: the SYN's options, SYN-SENT (RFC 9293 3.10.7.3), and the
 * transition to ESTABLISHED that active and passive opens share.
 */
#ifndef TOEC_TCP_OPEN_H
#define TOEC_TCP_OPEN_H

#include "tcb.h"

unsigned toec_own_mss(const struct toec_path *path);
unsigned toec_wscale_for(unsigned rx_log);
/* Applies the options of a SYN or SYN-ACK to the flow; buffers and path are set. */
void toec_take_options(struct toec_tcb *t, const struct toec_seg *g);
void toec_take_irs(struct toec_tcb *t, toec_u32 irs, toec_u32 ticks);
void toec_take_iss(struct toec_tcb *t, toec_u32 iss);
void toec_established(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                      toec_time now);
void toec_synsent_input(struct toec_stack *s, struct toec_tcb *t, struct toec_seg *g,
                        toec_time now);

#endif
