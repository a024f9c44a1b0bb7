/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_json.c - the times of exchanges as JSON for tools (exchange_json.h). The engine copies
 * them in its own thread.
 */
#include <stdlib.h>

#include "control.h"
#include "exchange_json.h"
#include "flows_json.h"
#include "hosts/exchange.h"
#include "hosts/trace.h"
#include "round/thread.h"

struct asked {
    uint32_t ring, serial;
    int unknown, gone, live, rc; /* rc of exchange_begin() */
    uint32_t busy_ring, busy_serial;
    uint64_t first;
    uint32_t count;
    struct exchange out[EXCHANGES + 1u];
};

static int is_of(const struct exchanges *x, const struct asked *a)
{
    return x && x->ring == a->ring && x->serial == a->serial;
}

static void take_in_engine(struct engine *e, void *arg)
{
    struct asked *a = arg;
    struct slot *s;

    a->unknown = !trace_known(e->traces, a->ring, a->serial);
    if (a->unknown)
        return;
    s = trace_slot(e, a->ring, a->serial);
    a->live = s && s->flow;
    if (a->live)
        a->rc = exchange_begin(e, s);
    else
        a->gone = !is_of(e->exchanges, a);
    if (a->rc == 0 && !a->gone)
        a->count = exchange_copy(e->exchanges, a->out, &a->first);
    if (a->rc == 1)
        trace_id(e->timed, &a->busy_ring, &a->busy_serial);
}

/* In the order of enum exchange_time. */
static json_t *names_json(void)
{
    return json_pack("[s, s, s, s, s, s, s, s, s, s]", "before", "in", "event", "taken", "read",
                     "write", "posted", "command", "out", "acked");
}

static json_t *one_json(const struct exchange *x)
{
    json_t *j = json_array();
    unsigned i;

    for (i = 0; i < EXCHANGE_TIMES; i++)
        json_array_append_new(j, json_integer((json_int_t)x->at[i]));
    json_array_append_new(j, json_integer(x->bytes_in));
    json_array_append_new(j, json_integer(x->bytes_out));
    return j;
}

static json_t *answer(const struct asked *a, uint32_t engine)
{
    json_t *list;
    uint32_t i;

    if (a->unknown || a->gone)
        return json_pack("{s:b}", a->unknown ? "unknown" : "gone", 1);
    if (a->rc == 1)
        return json_pack("{s:o}", "busy", flow_id_json(engine, a->busy_ring, a->busy_serial));
    if (a->rc < 0)
        return NULL;
    list = json_array();
    for (i = 0; i < a->count; i++)
        json_array_append_new(list, one_json(&a->out[i]));
    return json_pack("{s:I, s:o, s:o, s:b}", "first", (json_int_t)a->first, "times", names_json(),
                     "exchanges", list, "ended", !a->live);
}

json_t *exchange_json(struct control *c, uint32_t engine, uint32_t ring, uint32_t serial)
{
    struct asked *a = calloc(1, sizeof(*a));
    json_t *j = NULL;

    if (a) {
        a->ring = ring;
        a->serial = serial;
        engine_call(c->engines[engine], take_in_engine, a);
        j = answer(a, engine);
    }
    free(a);
    return j;
}

static void end_in_engine(struct engine *e, void *arg)
{
    if (e->timed && is_of(e->exchanges, arg))
        exchange_end(e);
}

json_t *exchange_done_json(struct control *c, uint32_t engine, uint32_t ring, uint32_t serial)
{
    struct asked *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->ring = ring;
    a->serial = serial;
    engine_call(c->engines[engine], end_in_engine, a);
    free(a);
    return json_object();
}
