/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_opt.h - TCP options (RFC 9293 3.2, RFC 7323, RFC 2018): parsing and writing. */
#ifndef TOEC_TCP_OPT_H
#define TOEC_TCP_OPT_H

#include "tcb.h"

/* Parses options; returns 0, or -1 when they are malformed. */
int toec_opt_parse(struct toec_seg *g, const toec_u8 *opt, unsigned len);
/* Removes options that the stack is configured not to use (TOEC_I_*) from the SYN g. */
void toec_opt_without(struct toec_seg *g, unsigned opts);
/* The writers below return the bytes written, a multiple of 4. */
unsigned toec_opt_syn(toec_u8 *o, unsigned opts, unsigned mss, unsigned wscale, toec_u32 tsval,
                      toec_u32 tsecr);
unsigned toec_opt_ts(toec_u8 *o, toec_u32 tsval, toec_u32 tsecr);
/* Writes SACK blocks (RFC 2018 4), most recent first, in at most `room` bytes. */
unsigned toec_opt_sack(toec_u8 *o, const struct toec_tcb *t, unsigned room);

#endif
