/* SPDX-License-Identifier: Apache-2.0 */
/* routes.h - an interface's routes and addresses from the kernel, in the form engines use. */
#ifndef ENGINE_ROUTES_H
#define ENGINE_ROUTES_H

#include <stdint.h>
#include <string.h>

#include <toe/core.h>

#define ROUTES_MAX 1024u

/* A route of either family. IPv4 addresses are IPv4-mapped, so their prefix lengths are 96 and
 * more. */
struct route {
    struct toec_addr to, gateway;
    uint32_t metric;
    uint8_t len;
    uint8_t has_gateway; /* 0: on-link */
    uint8_t nowhere;     /* unusable: blackhole, unreachable, ..., gateway of the other family */
};

/* The routes through our interface and those with `nowhere`, the preferred ones first. */
struct routes {
    uint32_t count;
    struct route route[ROUTES_MAX];
};

/* The interface's IPv6 addresses; there may be more than fit. */
struct addresses6 {
    uint32_t count;
    struct toec_given given[TOEC_GIVEN_MAX];
};

static inline int routes_is4(const struct toec_addr *a)
{
    static const struct toec_addr any4 = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}};

    return memcmp(a, &any4, 12) == 0;
}

/* Returns the route to this address; NULL: none. */
const struct route *routes_find(const struct routes *r, const struct toec_addr *to);
void routes_sort(struct routes *r);

#endif
