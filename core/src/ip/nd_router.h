/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nd_router.h - routers as a host sees them (RFC 4861 6.3): solicitations, advertisements, default
 * routers, on-link prefixes and redirects.
 */
#ifndef TOEC_ND_ROUTER_H
#define TOEC_ND_ROUTER_H

#include "nd.h"

void toec_ra_input(struct toec_stack *s, const struct toec_ip_in *in,
                   const struct toec_nd_options *o, toec_time now);
/* Returns the router to use when dst is not on the link; 0: none. */
const struct toec_addr *toec_router_pick(struct toec_stack *s);
int toec_ip6_on_link(const struct toec_stack *s, const struct toec_addr *dst);
void toec_rs_start(struct toec_stack *s, toec_time now);
void toec_rs_timer(struct toec_stack *s, toec_time now);
void toec_ip6_expiry_timer(struct toec_stack *s, toec_time now);
/* Handles a router that does not answer, or is no longer a router (for_good). */
void toec_router_lost(struct toec_stack *s, const struct toec_addr *addr, int for_good,
                      toec_time now);
/* Adds, updates or removes a router; lifetime in seconds, 0: remove, 0xffffffff: forever. */
void toec_router_set(struct toec_stack *s, const struct toec_addr *addr, toec_u32 lifetime,
                     toec_time now);
void toec_prefix_set(struct toec_stack *s, const struct toec_addr *prefix, unsigned len,
                     toec_u32 lifetime, toec_time now);
void toec_redirect_add(struct toec_stack *s, const struct toec_addr *dst,
                       const struct toec_addr *via, toec_time now);
const struct toec_addr *toec_redirect_find(struct toec_stack *s, const struct toec_addr *dst);

#endif
