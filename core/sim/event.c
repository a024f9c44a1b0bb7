/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - a binary heap ordered by time, then by insertion (event.h). */
#include <stdlib.h>

#include "event.h"

static int earlier(const struct event *a, const struct event *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

void event_push(struct net *n, toec_time at, enum event_kind kind, void *what)
{
    struct event e = {at, n->order++, kind, what};
    size_t i;

    if (n->heap_n == n->heap_room) {
        n->heap_room = n->heap_room ? n->heap_room * 2 : 1024;
        n->heap = must(realloc(n->heap, n->heap_room * sizeof(*n->heap)));
    }
    for (i = n->heap_n++; i > 0 && earlier(&e, &n->heap[(i - 1) / 2]); i = (i - 1) / 2)
        n->heap[i] = n->heap[(i - 1) / 2];
    n->heap[i] = e;
}

int event_pop(struct net *n, toec_time until, struct event *out)
{
    struct event last;
    size_t i = 0;

    if (n->heap_n == 0 || n->heap[0].at > until)
        return 0;
    *out = n->heap[0];
    last = n->heap[--n->heap_n];
    for (;;) {
        size_t c = 2 * i + 1;

        if (c >= n->heap_n)
            break;
        if (c + 1 < n->heap_n && earlier(&n->heap[c + 1], &n->heap[c]))
            c++;
        if (!earlier(&n->heap[c], &last))
            break;
        n->heap[i] = n->heap[c];
        i = c;
    }
    if (n->heap_n)
        n->heap[i] = last;
    return 1;
}
