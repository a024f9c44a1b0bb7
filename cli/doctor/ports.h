/* SPDX-License-Identifier: Apache-2.0 */
/* ports.h - checks of TCP ports: the range for connections, and ports that the kernel holds. */
#ifndef TOE_CLI_DOCTOR_PORTS_H
#define TOE_CLI_DOCTOR_PORTS_H

#include "facts.h"

/* Adds ports.range, ports.reserved and ports.kernel. */
void check_ports(struct facts *f);

#endif
