/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.h - matches arriving packets to those that left, when traffic is watched; by the rules of
 * the measuring module (device/rtt.rdl, CONTROL.mode).
 */
#ifndef TOE_CLI_MATCH_H
#define TOE_CLI_MATCH_H

#include "measure.h"

struct matcher;

struct matcher *match_new(struct rtt *r);
void match_free(struct matcher *m);
/* Handles a packet: its captured bytes from the IP header on, and its stamp. */
void match_packet(struct matcher *m, const uint8_t *ip, size_t size, bool leaves, uint64_t stamp);
/* Counts entries older than --timeout-ms as lost. */
void match_expire(struct matcher *m, uint64_t now);

#endif
