/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mld.h - says which groups we listen to (RFC 3810), so that switches that snoop send them here:
 * the solicited-node groups of our addresses.
 */
#ifndef TOEC_MLD_H
#define TOEC_MLD_H

#include "stack.h"

/* The group of own[i] is new: reports. */
void toec_mld_join(struct toec_stack *s, unsigned i, toec_time now);
void toec_mld_leave(struct toec_stack *s, const struct toec_addr *own);
void toec_mld_query(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
void toec_mld_timer(struct toec_stack *s, toec_time now);

#endif
