/* SPDX-License-Identifier: Apache-2.0 */
/* route.h - the kernel's routing decisions (route.c; tests/virtual/ has another). Lock held. */
#ifndef LIBTOE_ROUTE_H
#define LIBTOE_ROUTE_H

#include "libtoe.h"

/* What the kernel would do with a packet to this address. */
enum troute { TROUTE_NONE, TROUTE_LOCAL, TROUTE_ON_LINK, TROUTE_GATEWAY };
/* ... and how; fields that the kernel does not report are 0. */
struct tway {
    uint32_t source; /* source address, IPv4 or */
    struct in6_addr source6;
    uint32_t interface; /* outgoing interface, its index */
    bool via6;          /* through an IPv6 gateway */
};
TOE_HIDDEN enum troute troute_ask(uint32_t ip, struct tway *way);
/* scope: interface of a link-local address, else 0. */
TOE_HIDDEN enum troute troute_ask6(const struct in6_addr *ip, uint32_t scope, struct tway *way);
/* In a fork child: forgets the parent's netlink socket. */
TOE_HIDDEN void troute_forget(void);

#endif
