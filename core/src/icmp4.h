/* SPDX-License-Identifier: Apache-2.0 */
/* icmp4.h - ICMP for IPv4 (RFC 792, 1122 3.2.2): echo, errors in and out. */
#ifndef TOEC_ICMP4_H
#define TOEC_ICMP4_H

#include "ip.h"
#include "rate.h"
#include "wire_icmp4.h"

struct toec_icmp4 {
    struct toec_rate echo, errors;
    toec_u32 frag_id; /* of the next reply that must be fragmented */
};

void toec_icmp4_init(struct toec_stack *s);
void toec_icmp4_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
/* Sends an error about the datagram `in`, unless RFC 1122 3.2.2 forbids it or the rate is reached.
 */
void toec_icmp4_error(struct toec_stack *s, const struct toec_ip_in *in, unsigned type,
                      unsigned code, toec_time now);

#endif
