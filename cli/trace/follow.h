/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - watches a flow: its events as they happen, and samples of its state. */
#ifndef TOE_CLI_TRACE_FOLLOW_H
#define TOE_CLI_TRACE_FOLLOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct follow {
    uint64_t seconds, every_ms;
    const char *svg; /* NULL: no picture */
    bool latency;    /* time the exchanges too (latency.h) */
    bool json;       /* print nothing; the caller prints the flow */
};

/* Asks for the events of a flow, by its id. NULL, with an exit code, after a message. */
json_t *follow_ask(const char *path, const char *id, int *code);

/*
 * Watches a flow, whose first answer is `flow`, until it ends, the time is over, or a signal
 * arrives. Adds later events, "samples", and with `latency` "exchanges" to `flow`. Returns an exit
 * code; a TOE that ends before the flow is a failure, after which the picture shows what was seen.
 */
int follow(const char *path, const char *id, json_t *flow, const struct follow *o);

#endif
