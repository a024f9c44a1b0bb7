/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - a stack of core/ at each end of a flow. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "net.h"

/* Finds a congestion control by name. Returns -1 when core/ has none of this name. */
int flow_cc(const char *name, unsigned *index);
/* Creates both stacks and begins to connect. */
void flow_start(struct flow *f);
/* Runs a stack until it has nothing to do, and schedules its next poll. */
void host_poll(struct host *h);
/* Delivers a packet to its receiver. */
void host_arrive(struct packet *p);

#endif
