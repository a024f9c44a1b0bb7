/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mld.h - reports the groups we listen to (RFC 3810) to switches with MLD snooping: the
 * solicited-node groups of our addresses.
 */
#ifndef TOEC_MLD_H
#define TOEC_MLD_H

#include "stack.h"

/* Reports the new group of own[i]. */
void toec_mld_join(struct toec_stack *s, unsigned i, toec_time now);
void toec_mld_leave(struct toec_stack *s, const struct toec_addr *own);
void toec_mld_query(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
void toec_mld_timer(struct toec_stack *s, toec_time now);

#endif
