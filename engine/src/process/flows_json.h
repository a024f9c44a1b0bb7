/* SPDX-License-Identifier: Apache-2.0 */
/* flows_json.h - listeners and flows of an engine, as JSON for tools. */
#ifndef ENGINE_FLOWS_JSON_H
#define ENGINE_FLOWS_JSON_H

#include <jansson.h>

#include "control.h"

/*
 * Returns the answer to TOEDEV_HELLO_FLOWS. from is "ENGINE QP INDEX": the first queue pair wanted,
 * and where in it to begin, "0 0 0" for all of engine 0. The answer has at most FLOWS_BATCH
 * entries, and `next`, the text to ask for the rest, or null. NULL: from is malformed or names no
 * engine, or no memory.
 */
#define FLOWS_BATCH 512u
json_t *flows_json(struct control *c, const char *from);

/* What is listed of a listener or a flow. */
struct flow_entry {
    uint32_t qp, uid, backlog, used;
    int pid, is_listener, v6only;
    char name[32];
    uint32_t send_queue, recv_queue;
    int accepted;
    uint32_t ring;         /* of its events (trace.h) ... */
    uint32_t serial;       /* ... if not 0 */
    struct toec_info info; /* of a listener: local and local_port */
};
/* Copies what is listed of the slot's flow. In the engine's thread. */
void flow_take(const struct engine *e, const struct slot *s, struct flow_entry *x);
/* The following are of any thread. */
json_t *flow_json(const struct flow_entry *x, uint32_t engine, const char *toe);
/* Returns the id of a flow: "ENGINE.RING.SERIAL". */
json_t *flow_id_json(uint32_t engine, uint32_t ring, uint32_t serial);
/* Writes an address as text; an IPv4 address without its mapping. */
int flow_end_text(char *text, size_t size, const struct toec_addr *a);
const char *flow_state_name(uint32_t state);

#endif
