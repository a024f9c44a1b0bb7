/* SPDX-License-Identifier: Apache-2.0 */
/* route.h - what the kernel would do with a packet (route.c; tests/virtual/ has another). Lock
 * held. */
#ifndef LIBTOE_ROUTE_H
#define LIBTOE_ROUTE_H

#include "libtoe.h"

/* What the kernel would do with a packet to this address. */
enum troute { TROUTE_NONE, TROUTE_LOCAL, TROUTE_ON_LINK, TROUTE_GATEWAY };
/* ... and how: all 0 where it does not say. */
struct tway {
    uint32_t source; /* address that it would send from, of IPv4 or */
    struct in6_addr source6;
    uint32_t interface; /* ... by */
    bool via6;          /* to a gateway of IPv6 */
};
TOE_HIDDEN enum troute troute_ask(uint32_t ip, struct tway *way);
/* scope: 0, or of a link-local address its interface. */
TOE_HIDDEN enum troute troute_ask6(const struct in6_addr *ip, uint32_t scope, struct tway *way);
/* In a fork child: the parent's netlink socket is not ours. */
TOE_HIDDEN void troute_forget(void);

#endif
