/* SPDX-License-Identifier: Apache-2.0 */
/* port_choice.h - the choice of a port to connect from (port_choice.c). Lock held. */
#ifndef ENGINE_PORT_CHOICE_H
#define ENGINE_PORT_CHOICE_H

#include "port_table.h"

/* Returns a port that the search has not returned yet, or at first perhaps one that it has: held
 * already, or a new one. 0: each that may be chosen was returned. within: as in struct asker. */
uint16_t port_choose(struct ports *p, struct ports_search *s, uid_t uid, uint32_t within);

#endif
