/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_addr.h - our own addresses: duplicate address detection and autoconfiguration (RFC 4862) with
 * stable, opaque interface identifiers (RFC 7217); source address selection (RFC 6724).
 */
#ifndef TOEC_IP6_ADDR_H
#define TOEC_IP6_ADDR_H

#include "stack.h"

void toec_ip6_init(struct toec_stack *s, toec_time now);
/* Finds the own address a, if packets may be sent to it: preferred or deprecated; 0: not ours. */
struct toec_own6 *toec_own_find(struct toec_stack *s, const struct toec_addr *a);
/* Finds the own address a in any state except free. */
struct toec_own6 *toec_own_any(struct toec_stack *s, const struct toec_addr *a);
/* Returns our link-local address when it is usable, else 0. */
struct toec_own6 *toec_own_link_local(struct toec_stack *s);
/* Starts assigning an address of this prefix. */
void toec_own_add(struct toec_stack *s, const struct toec_addr *addr, unsigned len, int automatic,
                  toec_time preferred, toec_time valid, toec_time now);
/* Processes an autonomous prefix of an advertisement (RFC 4862 5.5.3); seconds, 0xffffffff:
 * forever. */
void toec_slaac(struct toec_stack *s, const struct toec_addr *prefix, unsigned len, toec_u32 valid,
                toec_u32 preferred, toec_time now);
/* Handles another host that uses or probes this tentative address (RFC 4862 5.4.3, 5.4.4). */
void toec_dad_conflict(struct toec_stack *s, struct toec_own6 *own, toec_time now);
void toec_own_timer(struct toec_stack *s, struct toec_timer *t, toec_time now);
/* Returns not 0 when dst is a group we listen to (all nodes, solicited-node). */
int toec_own_group(struct toec_stack *s, const struct toec_addr *dst);
/* Selects a source address for dst (RFC 6724); 0: none. */
const struct toec_addr *toec_ip6_source(struct toec_stack *s, const struct toec_addr *dst);

#endif
