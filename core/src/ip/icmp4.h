/* SPDX-License-Identifier: Apache-2.0 */
/* icmp4.h - ICMP for IPv4 (RFC 792, 1122 3.2.2): echo, errors in and out. */
#ifndef TOEC_ICMP4_H
#define TOEC_ICMP4_H

#include "../base/rate.h"
#include "../wire/wire_icmp4.h"
#include "icmp_err.h"

/*
 * Errors are limited per destination (hashed into this many buckets): with one global limit, a host
 * could find out how many errors others cause (SAD DNS, CVE-2020-25705).
 */
#define TOEC_ICMP4_BUCKETS 64

struct toec_icmp4 {
    struct toec_rate echo;
    struct toec_rate errors[TOEC_ICMP4_BUCKETS];
};

void toec_icmp4_init(struct toec_stack *s);
void toec_icmp4_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
/*
 * Sends an error about the datagram `in`, unless RFC 1122 3.2.2 forbids it or the rate limit is
 * reached. `in` is unfragmented, reassembled, or holds the first fragment.
 */
void toec_icmp4_error(struct toec_stack *s, const struct toec_ip_in *in, unsigned type,
                      unsigned code, toec_time now);

/* Returns what the error means to the owner of a flow or endpoint (icmp4.c). */
enum toec_reason toec_icmp_reason(const struct toec_icmp_err *e);
/* R1122-12: delivers an error of either family to the transport protocol that it concerns. */
void toec_icmp_deliver(struct toec_stack *s, const struct toec_icmp_err *e, toec_time now);

#endif
