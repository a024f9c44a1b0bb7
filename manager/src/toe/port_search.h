/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_search.h - ephemeral ports one after the other, each once, from a random one on
 * (port_search.c), where neither the kernel nor the TOE can choose alone. Lock held.
 */
#ifndef LIBTOE_PORT_SEARCH_H
#define LIBTOE_PORT_SEARCH_H

#include "tsock.h"

/* Begins a search of the machine's ephemeral ports, within IP_LOCAL_PORT_RANGE if that is not 0. */
TOE_HIDDEN void tport_search_begin(struct tport_search *s, uint32_t within);
/* Returns the next port that is not reserved, network byte order; 0 when there is none left. */
TOE_HIDDEN uint16_t tport_search_next(struct tport_search *s);

#endif
