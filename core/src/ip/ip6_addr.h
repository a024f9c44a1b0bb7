/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_addr.h - our own addresses: duplicate address detection and autoconfiguration (RFC 4862)
 * with interface identifiers that are stable and tell nothing (RFC 7217); which one to send from
 * (RFC 6724).
 */
#ifndef TOEC_IP6_ADDR_H
#define TOEC_IP6_ADDR_H

#include "stack.h"

void toec_ip6_init(struct toec_stack *s, toec_time now);
/* The own address a that packets may be sent to: preferred or deprecated; 0: not ours. */
struct toec_own6 *toec_own_find(struct toec_stack *s, const struct toec_addr *a);
/* ... in any state but free. */
struct toec_own6 *toec_own_any(struct toec_stack *s, const struct toec_addr *a);
/* Our link-local address when it may be used, else 0. */
struct toec_own6 *toec_own_link_local(struct toec_stack *s);
/* Begins to make an address of this prefix ours. */
void toec_own_add(struct toec_stack *s, const struct toec_addr *addr, unsigned len, int automatic,
                  toec_time preferred, toec_time valid, toec_time now);
/* RFC 4862 5.5.3: an autonomous prefix of an advertisement; seconds, 0xffffffff: for ever. */
void toec_slaac(struct toec_stack *s, const struct toec_addr *prefix, unsigned len, toec_u32 valid,
                toec_u32 preferred, toec_time now);
/* Someone else uses or tests this tentative address (RFC 4862 5.4.3, 5.4.4). */
void toec_dad_conflict(struct toec_stack *s, struct toec_own6 *own, toec_time now);
void toec_own_timer(struct toec_stack *s, struct toec_timer *t, toec_time now);
/* Not 0 when dst is a group we listen to (all nodes, solicited-node). */
int toec_own_group(struct toec_stack *s, const struct toec_addr *dst);
/* RFC 6724: 0 when there is none. */
const struct toec_addr *toec_ip6_source(struct toec_stack *s, const struct toec_addr *dst);

#endif
