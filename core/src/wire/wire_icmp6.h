/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_icmp6.h - ICMPv6 (RFC 4443), neighbour discovery (RFC 4861 4), listener reports (RFC 3810
 * 5).
 */
#ifndef TOEC_WIRE_ICMP6_H
#define TOEC_WIRE_ICMP6_H

#include "../base/wire.h"

#define TOEC_ICMP6_TYPE 0
#define TOEC_ICMP6_CODE 1
#define TOEC_ICMP6_SUM  2
#define TOEC_ICMP6_REST 4 /* MTU, pointer, or identifier and sequence */
#define TOEC_ICMP6_LEN  8

#define TOEC_ICMP6_UNREACH       1u
#define TOEC_ICMP6_TOO_BIG       2u
#define TOEC_ICMP6_TIME_EXCEEDED 3u
#define TOEC_ICMP6_PARAM_PROBLEM 4u
#define TOEC_ICMP6_INFO          128u /* types from here on are not errors */
#define TOEC_ICMP6_ECHO          128u
#define TOEC_ICMP6_ECHO_REPLY    129u
#define TOEC_ICMP6_MLD_QUERY     130u
#define TOEC_ICMP6_RS            133u
#define TOEC_ICMP6_RA            134u
#define TOEC_ICMP6_NS            135u
#define TOEC_ICMP6_NA            136u
#define TOEC_ICMP6_REDIRECT      137u
#define TOEC_ICMP6_MLD2_REPORT   143u

/* Codes of TOEC_ICMP6_UNREACH. */
#define TOEC_ICMP6_UNREACH_ROUTE  0u
#define TOEC_ICMP6_UNREACH_ADMIN  1u
#define TOEC_ICMP6_UNREACH_ADDR   3u
#define TOEC_ICMP6_UNREACH_PORT   4u
#define TOEC_ICMP6_UNREACH_POLICY 5u
#define TOEC_ICMP6_UNREACH_REJECT 6u
/* Code of TOEC_ICMP6_TIME_EXCEEDED. */
#define TOEC_ICMP6_EXCEEDED_REASS 1u
/* Codes of TOEC_ICMP6_PARAM_PROBLEM. */
#define TOEC_ICMP6_PARAM_FIELD  0u
#define TOEC_ICMP6_PARAM_NEXT   1u
#define TOEC_ICMP6_PARAM_OPTION 2u
#define TOEC_ICMP6_PARAM_CHAIN  3u /* RFC 7112 6 */

/* Neighbour solicitation and advertisement, redirect. */
#define TOEC_ND_FLAGS     4 /* of an advertisement */
#define TOEC_ND_TARGET    8
#define TOEC_ND_LEN       24
#define TOEC_ND_REDIR_TO  24 /* destination of a redirect */
#define TOEC_ND_REDIR     40
#define TOEC_NA_ROUTER    0x80u
#define TOEC_NA_SOLICITED 0x40u
#define TOEC_NA_OVERRIDE  0x20u

/* Router advertisement. */
#define TOEC_RA_HOPS      4
#define TOEC_RA_LIFETIME  6 /* seconds */
#define TOEC_RA_REACHABLE 8 /* milliseconds */
#define TOEC_RA_RETRANS   12
#define TOEC_RA_LEN       16
#define TOEC_RS_LEN       8

/* Options (RFC 4861 4.6): type, length in units of 8 bytes. */
#define TOEC_NDOPT_SOURCE_MAC 1u
#define TOEC_NDOPT_TARGET_MAC 2u
#define TOEC_NDOPT_PREFIX     3u
#define TOEC_NDOPT_MTU        5u
#define TOEC_NDOPT_NONCE      14u /* RFC 7527 4 */
#define TOEC_NDOPT_MAC_LEN    8
#define TOEC_NDOPT_PREFIX_LEN 32
#define TOEC_NDOPT_MTU_LEN    8
/* ... of a prefix information option */
#define TOEC_PIO_LEN       2
#define TOEC_PIO_FLAGS     3
#define TOEC_PIO_VALID     4
#define TOEC_PIO_PREFERRED 8
#define TOEC_PIO_PREFIX    16
#define TOEC_PIO_ON_LINK   0x80u
#define TOEC_PIO_AUTO      0x40u

/* Version 2 report: records of 20 bytes without sources. */
#define TOEC_MLD_COUNT   6
#define TOEC_MLD_RECORD  20
#define TOEC_MLD_EXCLUDE 2u /* MODE_IS_EXCLUDE without sources: is listening */
#define TOEC_MLD_TO_EX   4u /* CHANGE_TO_EXCLUDE: starts listening */
#define TOEC_MLD_TO_IN   3u /* CHANGE_TO_INCLUDE without sources: stops listening */

#endif
