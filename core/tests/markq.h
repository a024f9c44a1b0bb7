/* SPDX-License-Identifier: Apache-2.0 */
/* markq.h - a bottleneck towards host 1 whose queue marks above a threshold and never drops. */
#ifndef MARKQ_H
#define MARKQ_H

#include "tcpsim.h"

struct markq {
    toec_time ns_per_byte;
    toec_time mark_above; /* waiting time */
    int not_ect;          /* marks packets that are not ECN-capable too (a broken queue) */
    toec_time free_at;    /* time at which the queue is empty */
    toec_time waited, longest;
    unsigned marks, data;
    unsigned bad; /* segments of host 0 that were ECN-capable and must not be */
    uint32_t top; /* highest sequence number sent */
    int top_set;
};

/* For sim.router; sim.router_state is a struct markq. */
int64_t markq_router(struct sim *s, unsigned from, uint8_t *frame, uint32_t len);

#endif
