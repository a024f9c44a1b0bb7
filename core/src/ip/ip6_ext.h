/* SPDX-License-Identifier: Apache-2.0 */
/* ip6_ext.h - walks options and extension headers of IPv6 (RFC 8200 4), without the state of a
 * stack. */
#ifndef TOEC_IP6_EXT_H
#define TOEC_IP6_EXT_H

#include "stack.h"

/* The verdict on a header of options: continue, or drop the packet with or without an ICMP error.
 */
enum toec_opt_verdict { TOEC_OPTS_OK, TOEC_OPTS_DROP, TOEC_OPTS_REPORT, TOEC_OPTS_BAD };
/*
 * Checks the options of the header at ext, of len bytes. Sets *at to the offset in the header of
 * the option that caused the verdict.
 */
enum toec_opt_verdict toec_ip6_options(const toec_u8 *ext, unsigned len, int multicast,
                                       unsigned *at);
/*
 * RFC 7112: returns not 0 when len bytes, which begin with a header of type `next`, hold the rest
 * of the chain and the complete upper-layer header.
 */
int toec_ip6_chain_whole(unsigned next, const toec_u8 *p, toec_u32 len);

#endif
