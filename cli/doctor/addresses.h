/* SPDX-License-Identifier: Apache-2.0 */
/* addresses.h - checks of the TOE's addresses and routes against the kernel's. */
#ifndef TOE_CLI_DOCTOR_ADDRESSES_H
#define TOE_CLI_DOCTOR_ADDRESSES_H

#include "facts.h"

/* Adds addresses.toe, addresses.conflict, addresses.duplicate, addresses.route,
 * addresses.forwarding and addresses.router. */
void check_addresses(struct facts *f);

#endif
