/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.h - which packet that arrives answers which one that left, when traffic is watched: as the
 * measuring module has it (device/rtt.rdl, CONTROL.mode).
 */
#ifndef TOE_CLI_MATCH_H
#define TOE_CLI_MATCH_H

#include "measure.h"

struct matcher;

struct matcher *match_new(struct rtt *r);
void match_free(struct matcher *m);
/* A packet from its IP header on, as much of it as was captured, and its stamp. */
void match_packet(struct matcher *m, const uint8_t *ip, size_t size, bool leaves, uint64_t stamp);
/* What has waited for its time is lost; at the end all that has. */
void match_expire(struct matcher *m, uint64_t now);

#endif
