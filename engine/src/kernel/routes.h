/* SPDX-License-Identifier: Apache-2.0 */
/* routes.h - what the kernel has of an interface's routes and addresses, as engines use it. */
#ifndef ENGINE_ROUTES_H
#define ENGINE_ROUTES_H

#include <stdint.h>
#include <string.h>

#include <toe/core.h>

#define ROUTES_MAX 1024u

/* Of either family; IPv4 is mapped, and so is the length of its prefixes: 96 and more. */
struct route {
    struct toec_addr to, gateway;
    uint32_t metric;
    uint8_t len;
    uint8_t has_gateway; /* else it is on the link */
    uint8_t nowhere;     /* blackhole, unreachable, ..., or a gateway of the other family: we cannot
                          * send there */
};

/* Those by our interface, and those that lead nowhere; the one that counts first. */
struct routes {
    uint32_t count;
    struct route route[ROUTES_MAX];
};

/* What the interface has of IPv6; there may be more than fit. */
struct addresses6 {
    uint32_t count;
    struct toec_given given[TOEC_GIVEN_MAX];
};

static inline int routes_is4(const struct toec_addr *a)
{
    static const struct toec_addr any4 = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}};

    return memcmp(a, &any4, 12) == 0;
}

/* The route to take; NULL: none. */
const struct route *routes_find(const struct routes *r, const struct toec_addr *to);
void routes_sort(struct routes *r);

#endif
