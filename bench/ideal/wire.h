/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - the replacement of netio/, without any network. */
#ifndef IDEAL_WIRE_H
#define IDEAL_WIRE_H

#include <stdint.h>

struct netio;

struct netio *ideal_wire_new(void);
/* Sets the receiver of the payload that toec_port_transmit() fetches; NULL: none. The stack reads
 * the first answer by it. */
void ideal_wire_reader(void (*read)(void *arg, const uint8_t *data, uint32_t n), void *arg);

#endif
