/* SPDX-License-Identifier: Apache-2.0 */
/* wire_icmp4.h - ICMP for IPv4 (RFC 792, RFC 1191). */
#ifndef TOEC_WIRE_ICMP4_H
#define TOEC_WIRE_ICMP4_H

#include "../base/wire.h"

#define TOEC_ICMP4_TYPE 0
#define TOEC_ICMP4_CODE 1
#define TOEC_ICMP4_SUM  2
#define TOEC_ICMP4_REST 4 /* echo: identifier, sequence; errors: unused */
#define TOEC_ICMP4_MTU  6 /* next-hop MTU of "fragmentation needed" (RFC 1191 4) */
#define TOEC_ICMP4_LEN  8

#define TOEC_ICMP4_ECHO_REPLY    0u
#define TOEC_ICMP4_UNREACH       3u
#define TOEC_ICMP4_SOURCE_QUENCH 4u
#define TOEC_ICMP4_REDIRECT      5u
#define TOEC_ICMP4_ECHO          8u
#define TOEC_ICMP4_TIME_EXCEEDED 11u
#define TOEC_ICMP4_PARAM_PROBLEM 12u

/* Codes of TOEC_ICMP4_UNREACH. */
#define TOEC_ICMP4_UNREACH_NET   0u
#define TOEC_ICMP4_UNREACH_HOST  1u
#define TOEC_ICMP4_UNREACH_PROTO 2u
#define TOEC_ICMP4_UNREACH_PORT  3u
#define TOEC_ICMP4_UNREACH_FRAG  4u
/* Communication administratively prohibited (RFC 1812 5.2.7.1). */
#define TOEC_ICMP4_UNREACH_NET_UNKNOWN 6u
#define TOEC_ICMP4_UNREACH_NET_ADMIN   9u
#define TOEC_ICMP4_UNREACH_HOST_ADMIN  10u
#define TOEC_ICMP4_UNREACH_NET_TOS     11u
#define TOEC_ICMP4_UNREACH_ADMIN       13u
/* Code of TOEC_ICMP4_TIME_EXCEEDED: reassembly timed out. */
#define TOEC_ICMP4_EXCEEDED_REASS 1u

#endif
