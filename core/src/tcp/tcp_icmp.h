/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_icmp.h - effects of ICMP errors on flows (RFC 1122 4.2.3.9, RFC 5461, RFC 5927, RFC 1191).
 */
#ifndef TOEC_TCP_ICMP_H
#define TOEC_TCP_ICMP_H

#include "tcb.h"

/* Starts the retransmission timer when there is data, FIN or SYN that cannot be sent now. */
void toec_watch(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Handles TOEC_SEND_UNREACH from toec_ip_output() for this flow. May free it. */
void toec_unreachable(struct toec_stack *s, struct toec_tcb *t, toec_time now);

#endif
