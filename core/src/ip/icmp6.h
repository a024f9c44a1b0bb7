/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icmp6.h - ICMPv6 (RFC 4443): echo, errors in and out; passes discovery to nd.c and queries to
 * mld.c.
 */
#ifndef TOEC_ICMP6_H
#define TOEC_ICMP6_H

#include "stack.h"

void toec_icmp6_init(struct toec_stack *s);
void toec_icmp6_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
/* As toec_icmp4_error(). rest: pointer of a parameter problem. Follows RFC 4443 2.4 (e). */
void toec_icmp6_error(struct toec_stack *s, const struct toec_ip_in *in, unsigned type,
                      unsigned code, toec_u32 rest, toec_time now);

#endif
