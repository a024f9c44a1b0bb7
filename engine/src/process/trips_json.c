/* SPDX-License-Identifier: Apache-2.0 */
/* trips_json.c - the round trips of an engine, as JSON for tools: [ns, "LOCAL REMOTE"] each. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "frames/engine_state.h"
#include "round/thread.h"
#include "round/trips.h"
#include "trips_json.h"

#define UNIT_NS 1024

struct asked {
    uint64_t since, head;
    struct toec_rtt *out;
    int rc;
};

static void take_in_engine(struct engine *e, void *arg)
{
    struct asked *a = arg;

    a->rc = trips_take(e, &a->since, &a->head, a->out);
}

static int end_text(char *text, size_t size, const struct toec_addr *a, unsigned port)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    int ip4 = memcmp(a->b, mapped, sizeof(mapped)) == 0;
    char ip[INET6_ADDRSTRLEN] = "";

    inet_ntop(ip4 ? AF_INET : AF_INET6, a->b + (ip4 ? 12 : 0), ip, sizeof(ip));
    return snprintf(text, size, ip4 ? "%s:%u" : "[%s]:%u", ip, port);
}

static json_t *sample_json(const struct toec_rtt *s)
{
    char flow[2 * INET6_ADDRSTRLEN + 32];
    int n = end_text(flow, sizeof(flow), &s->local, s->local_port);

    flow[n++] = ' ';
    end_text(flow + n, sizeof(flow) - (size_t)n, &s->remote, s->remote_port);
    return json_pack("[I, s]", (json_int_t)s->rtt * UNIT_NS, flow);
}

json_t *trips_json(struct control *c, const char *text)
{
    struct asked a = {0};
    json_t *list, *j = NULL;
    uint32_t engine;
    uint64_t i;

    if (sscanf(text, "%" SCNu32 " %" SCNu64, &engine, &a.since) != 2 || engine >= c->engine_count)
        return NULL;
    a.out = calloc(TRIPS, sizeof(*a.out));
    if (a.out)
        engine_call(c->engines[engine], take_in_engine, &a);
    if (a.out && a.rc == 0) {
        list = json_array();
        for (i = 0; i < a.head - a.since; i++)
            json_array_append_new(list, sample_json(&a.out[i]));
        j = json_pack("{s:i, s:i, s:I, s:I, s:o}", "resolution_ns", UNIT_NS, "engines",
                      (int)c->engine_count, "first", (json_int_t)a.since, "head",
                      (json_int_t)a.head, "samples", list);
    }
    free(a.out);
    return j;
}
