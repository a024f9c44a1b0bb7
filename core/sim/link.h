/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - one direction of the bottleneck: loss, queue, rate, delay. */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include "net.h"

void link_init(struct link *l, struct net *n);
/* A packet arrives at the queue. */
void link_enter(struct link *l, struct packet *p);
/* The packet at the head of the queue has been sent. */
void link_leave(struct link *l);
/* Adds the waiting bytes since the last call to byte_ns. */
void link_account(struct link *l);
struct packet *packet_new(struct net *n);
void packet_free(struct net *n, struct packet *p);

#endif
