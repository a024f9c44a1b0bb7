/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - parts of an exchange, and their distribution (exchange.h). */
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

const char *const exchange_moments[MOMENTS] = {"before", "in",     "event",   "taken", "read",
                                               "write",  "posted", "command", "out",   "acked"};

const struct part exchange_parts[PARTS] = {
    {"peer", BEFORE, IN, false, "peer, wire: answer before left -> request in", NULL},
    {"toe_in", IN, EVENT, true, "TOE: request in -> notification written", "#06c"},
    {"ring_in", EVENT, TAKEN, true, "ring: written -> taken (with the wake-up)", "#888"},
    {"program", TAKEN, WRITE, true, "program: readable -> its write", "#c60"},
    {"program_read", TAKEN, READ, false, "  of this: readable -> it has read", NULL},
    {"libtoe", WRITE, POSTED, true, "libtoe: write -> command posted", "#a0a"},
    {"ring_out", POSTED, COMMAND, true, "ring: posted -> taken by the TOE", "#888"},
    {"toe_out", COMMAND, OUT, true, "TOE: command -> first frame out", "#080"},
    {"answer", IN, OUT, false, "all of this: request in -> answer out", NULL},
    {"acked", OUT, ACKED, false, "wire, peer: answer out -> acknowledged", NULL},
};

static int compare(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

bool exchange_summary(const struct exchange *x, size_t n, const struct part *p, struct summary *out)
{
    uint64_t *ns = calloc(n ? n : 1, sizeof *ns);
    size_t i;

    memset(out, 0, sizeof *out);
    if (!ns)
        return false;
    for (i = 0; i < n; i++)
        if (exchange_length(&x[i], p, &ns[out->count]))
            out->sum += ns[out->count++];
    if (out->count) {
        qsort(ns, out->count, sizeof *ns, compare);
        out->min = ns[0];
        out->median = ns[out->count / 2];
        out->p99 = ns[(out->count - 1) * 99 / 100];
        out->max = ns[out->count - 1];
    }
    free(ns);
    return true;
}
