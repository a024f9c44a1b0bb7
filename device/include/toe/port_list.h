/* SPDX-License-Identifier: Apache-2.0 */
/* port_list.h - lists of ports as the kernel prints them: net.ipv4.ip_local_reserved_ports. */
#ifndef TOE_PORT_LIST_H
#define TOE_PORT_LIST_H

#include <stdint.h>

/* Adds the ports and ranges of the list (8080,9148-9150) to the set, which has bit n % 8 of byte
 * n / 8 for port n. Ports after a mistake are ignored. */
void toe_port_list(const char *list, uint8_t set[65536 / 8]);

#endif
