/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - bulk: a stream in one direction. */
#ifndef LOAD_STREAM_H
#define LOAD_STREAM_H

#include <stdint.h>

#include "state.h"

/* Begins the stream of a connected socket. */
void stream_begin(struct worker *w, struct conn *c);
/* Handles epoll events of the connection. */
void stream_event(struct worker *w, struct conn *c, uint32_t events);
/* Resets the streams down of a worker whose time is over; streams up end by themselves. */
void streams_end(struct worker *w);

#endif
