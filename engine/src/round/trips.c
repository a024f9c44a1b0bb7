/* SPDX-License-Identifier: Apache-2.0 */
/* trips.c - records the round trips that the stack measures (trips.h). */
#include <stdlib.h>

#include "engine.h"
#include "trips.h"

static void keep(void *user, const struct toec_rtt *sample)
{
    struct trips *t = ((struct engine *)user)->trips;

    t->entry[t->head++ & (TRIPS - 1)] = *sample;
}

int trips_take(struct engine *e, uint64_t *since, uint64_t *head, struct toec_rtt *out)
{
    struct trips *t = e->trips;
    uint64_t i;

    if (!t) {
        t = e->trips = calloc(1, sizeof(*t));
        if (!t)
            return -1;
        toec_watch_rtt(e->stack, keep);
    }
    *head = t->head;
    if (*since > t->head)
        *since = t->head;
    if (t->head - *since > TRIPS)
        *since = t->head - TRIPS;
    for (i = *since; i < t->head; i++)
        *out++ = t->entry[i & (TRIPS - 1)];
    return 0;
}

void trips_free(struct engine *e)
{
    free(e->trips);
    e->trips = NULL;
}
