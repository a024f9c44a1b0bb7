/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c - see routes.h. */
#include <stdlib.h>
#include <string.h>

#include "routes.h"

static int better(const void *a, const void *b)
{
    const struct route *x = a, *y = b;

    if (x->len != y->len)
        return x->len > y->len ? -1 : 1;
    return x->metric < y->metric ? -1 : x->metric > y->metric;
}

void routes_sort(struct routes *r)
{
    qsort(r->route, r->count, sizeof(r->route[0]), better);
}

static int has_prefix(const struct route *r, const struct toec_addr *to)
{
    unsigned whole = r->len / 8u, rest = r->len % 8u;

    return memcmp(r->to.b, to->b, whole) == 0 &&
           (!rest || ((r->to.b[whole] ^ to->b[whole]) >> (8 - rest)) == 0);
}

const struct route *routes_find(const struct routes *r, const struct toec_addr *to)
{
    uint32_t i;

    for (i = 0; i < r->count; i++)
        if (routes_is4(&r->route[i].to) == routes_is4(to) && has_prefix(&r->route[i], to))
            return &r->route[i];
    return NULL;
}
