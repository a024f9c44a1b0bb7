/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.h - where the time of a flow's exchanges goes: the peer and the wire, the TOE, the ring,
 * libtoe, the program. The TOE times each exchange (toe/attach.h, TOEDEV_HELLO_TRACE "time ID");
 * this file collects them and sums up.
 */
#ifndef TOE_CLI_TRACE_LATENCY_H
#define TOE_CLI_TRACE_LATENCY_H

#include <jansson.h>
#include <stdio.h>

struct latency;

/* Has the TOE begin to time a flow, by its id. NULL, with an exit
 * code, after a message. */
struct latency *latency_begin(const char *path, const char *id, int *code);
/* Collects the exchanges since the last look. Returns an exit code, after a message. */
int latency_look(struct latency *l);
/* Has the TOE end the timing, so that another flow can be timed. */
void latency_end(const struct latency *l);
/* Adds "exchanges" and "latency" to a flow. */
void latency_add(const struct latency *l, json_t *flow);
/* Writes "latency" of a flow as a table. */
void latency_write(FILE *f, const json_t *flow);
void latency_free(struct latency *l);

#endif
