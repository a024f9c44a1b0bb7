/* SPDX-License-Identifier: Apache-2.0 */
/* wire_ip6.h - IPv6 header (RFC 8200 3): named fields of a header whose length has been checked. */
#ifndef TOEC_WIRE_IP6_H
#define TOEC_WIRE_IP6_H

#include "wire.h"

#define TOEC_IP6_LEN 40

#endif
