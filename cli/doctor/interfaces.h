/* SPDX-License-Identifier: Apache-2.0 */
/* interfaces.h - checks of network interfaces: state, MTU, queues, XDP, offloads. */
#ifndef TOE_CLI_DOCTOR_INTERFACES_H
#define TOE_CLI_DOCTOR_INTERFACES_H

#include "facts.h"

/* Adds interface.* for the interface of --interface and of the TOE; of the others one line each. */
void check_interfaces(struct facts *f);

#endif
