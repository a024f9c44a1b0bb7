/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers_steer.h - to which worker of an address a frame goes: that of its connection, for a new
 * one a worker that listens on the port. For the worker that steers.
 */
#ifndef TOE_NETIO_WORKERS_STEER_H
#define TOE_NETIO_WORKERS_STEER_H

#include "workers.h"
#include "workers_look.h"

/* Hands a received frame to the workers that it is for. Returns whether it is (also) for this one.
 */
int steer_frame(struct workers *w, const struct netio_frame *f);
/* Learns which worker has a connection, from a frame that worker `number` sends. */
void steer_learn(struct workers *w, const uint8_t *data, uint32_t len, uint32_t number);

/* Returns whether the segment opens a connection. */
static inline int steer_is_first(const struct seen *s)
{
    return (s->flags & (SEEN_SYN | SEEN_ACK | SEEN_RST)) == SEEN_SYN;
}

#endif
