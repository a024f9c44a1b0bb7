/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.h - requests and answers: pingpong, conns and http. */
#ifndef LOAD_EXCHANGE_H
#define LOAD_EXCHANGE_H

#include <stdint.h>

#include "state.h"

/* Begins an exchange whose latency counts from `started`. */
void exchange_begin(struct worker *w, struct conn *c, uint64_t started);
/* Handles epoll events of the connection. */
void exchange_event(struct worker *w, struct conn *c, uint32_t events);

#endif
