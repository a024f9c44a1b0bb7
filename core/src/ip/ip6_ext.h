/* SPDX-License-Identifier: Apache-2.0 */
/* ip6_ext.h - walks over options and extension headers of IPv6 (RFC 8200 4) that need no stack. */
#ifndef TOEC_IP6_EXT_H
#define TOEC_IP6_EXT_H

#include "stack.h"

/* What becomes of a packet for a header of options: go on, or drop it, telling the sender or not.
 */
enum toec_opt_verdict { TOEC_OPTS_OK, TOEC_OPTS_DROP, TOEC_OPTS_REPORT, TOEC_OPTS_BAD };
/*
 * Looks at the options of the header at ext, of len bytes. *at: offset in the header of the option
 * meant by the verdict.
 */
enum toec_opt_verdict toec_ip6_options(const toec_u8 *ext, unsigned len, int multicast,
                                       unsigned *at);
/*
 * RFC 7112: not 0 when len bytes, which begin with a header of type `next`, hold the rest of the
 * chain and the whole upper-layer header.
 */
int toec_ip6_chain_whole(unsigned next, const toec_u8 *p, toec_u32 len);

#endif
