/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_json.c - the last events of flows, as JSON for tools. The engine copies rings in its own
 * thread between two rounds; this file formats the copies.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "exchange_json.h"
#include "flows_json.h"
#include "frames/engine_state.h"
#include "hosts/trace.h"
#include "round/thread.h"
#include "trace_json.h"

/* How many rings one batch examines: it bounds the pause of the engine. */
#define LOOK_MAX 8192u
#define BATCH    256u

/* ---- in the engine's thread ---- */

struct listed {
    struct trace_ring ring;
    struct trace_owner owner;
    uint32_t index;
    struct trace_event last;
};

struct batch {
    uint32_t at, count; /* the next ring; entries */
    int done;
    uint64_t now;
    struct listed entries[BATCH];
};

static void list_in_engine(struct engine *e, void *arg)
{
    const struct traces *t = e->traces;
    struct batch *b = arg;
    uint32_t looked = 0;

    b->now = e->now;
    for (; t && b->at < t->fresh && b->count < BATCH && looked < LOOK_MAX; looked++, b->at++) {
        struct trace_copy copy;

        if (!t->rings[b->at].named)
            continue;
        trace_copy(t, b->at, &copy);
        if (!copy.count)
            continue;
        b->entries[b->count].ring = copy.ring;
        b->entries[b->count].owner = copy.owner;
        b->entries[b->count].index = b->at;
        b->entries[b->count].last = copy.events[copy.count - 1];
        b->count++;
    }
    b->done = !t || b->at >= t->fresh;
}

struct wanted {
    uint32_t ring;
    uint32_t serial;
    uint64_t now;
    int unknown, gone, live, timed;
    struct trace_copy copy;
    struct flow_entry flow; /* if live */
};

static void copy_in_engine(struct engine *e, void *arg)
{
    const struct traces *t = e->traces;
    struct wanted *w = arg;
    const struct slot *s;

    w->now = e->now;
    w->unknown = !trace_known(t, w->ring, w->serial);
    if (w->unknown)
        return;
    w->gone = t->rings[w->ring].serial != w->serial || !t->rings[w->ring].named;
    if (w->gone)
        return;
    trace_copy(t, w->ring, &w->copy);
    w->gone = w->copy.count == 0;
    s = trace_slot(e, w->ring, w->serial);
    w->live = s && s->flow;
    w->timed = s && s == e->timed;
    if (w->live)
        flow_take(e, s, &w->flow);
}

/* ---- in the main thread ---- */

/* How a value is reported. */
enum shown { PLAIN, NO_VALUE, REASON };

static const struct {
    const char *name, *value; /* of the event; of its value */
    enum shown shown;
    const char *seq; /* name of its sequence number; NULL: none */
} kinds[TRACE_MAX] = {
    [TOEC_T_RETRANSMIT] = {"retransmit", "bytes", PLAIN, "seq"},
    [TOEC_T_OWN_WINDOW] = {"own_window_closed", NULL, NO_VALUE, "rcv_nxt"},
    [TOEC_T_STATE] = {"state", NULL, NO_VALUE, NULL},
    [TOEC_T_TIMEOUT] = {"timeout", "timeouts", PLAIN, "seq"},
    [TOEC_T_TAIL_PROBE] = {"tail_probe", NULL, NO_VALUE, "seq"},
    [TOEC_T_RECOVERY] = {"recovery", "ssthresh", PLAIN, "seq"},
    [TOEC_T_CWND_CUT] = {"cwnd_cut", "ssthresh", PLAIN, "seq"},
    [TOEC_T_ECN_CUT] = {"ecn_cut", "cwnd_before", PLAIN, "seq"},
    [TOEC_T_RECOVERED] = {"recovered", "ssthresh", PLAIN, "seq"},
    [TOEC_T_UNDO] = {"undo", "cwnd", PLAIN, "seq"},
    [TOEC_T_WINDOW_CLOSED] = {"window_closed", "window", PLAIN, "seq"},
    [TOEC_T_WINDOW_PROBE] = {"window_probe", "probes", PLAIN, "seq"},
    [TOEC_T_WINDOW_OPEN] = {"window_open", "window", PLAIN, "seq"},
    [TOEC_T_KEEPALIVE] = {"keepalive", "probes", PLAIN, NULL},
    [TOEC_T_PATH_MTU] = {"path_mtu", "mtu", PLAIN, "seq"},
    [TOEC_T_ERROR] = {"error", "reason", REASON, NULL},
    [TOEC_T_RST_RECEIVED] = {"reset_received", NULL, NO_VALUE, "seq"},
    [TOEC_T_RST_SENT] = {"reset_sent", NULL, NO_VALUE, "seq"},
    [TRACE_CONNECT] = {"connect", "port", PLAIN, NULL},
    [TRACE_SYN] = {"syn_received", NULL, NO_VALUE, NULL},
    [TRACE_ESTABLISHED] = {"established", NULL, NO_VALUE, NULL},
    [TRACE_PEER_CLOSED] = {"peer_closed", NULL, NO_VALUE, NULL},
    [TRACE_ACCEPT] = {"accept", NULL, NO_VALUE, NULL},
    [TRACE_SEND] = {"send", "bytes", PLAIN, "calls"},
    [TRACE_RECV] = {"recv", "bytes", PLAIN, "calls"},
    [TRACE_SHUTDOWN] = {"shutdown", NULL, NO_VALUE, NULL},
    [TRACE_CLOSE] = {"close", NULL, NO_VALUE, NULL},
    [TRACE_ABORT] = {"abort", NULL, NO_VALUE, NULL},
    [TRACE_MOVED] = {"moved", "qp", PLAIN, NULL},
    [TRACE_TAKEN_OVER] = {"taken_over", NULL, NO_VALUE, NULL},
    [TRACE_GONE] = {"gone", "reason", REASON, NULL},
};

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static const char *event_name(const struct trace_event *e)
{
    unsigned kind = trace_kind(e);

    return kind < TRACE_MAX && kinds[kind].name ? kinds[kind].name : "unknown";
}

/* The state of a flow whose earlier events are lost. */
#define UNKNOWN UINT32_MAX

/* Returns the state after an event (RFC 9293 3.3.2), given the one before: events of calls and of
 * the peer do not carry it. */
static uint32_t state_after(const struct trace_event *e, uint32_t before)
{
    switch (trace_kind(e)) {
    case TRACE_CONNECT:
        return TOEC_SYN_SENT;
    case TRACE_SYN:
        return TOEC_SYN_RECEIVED;
    case TRACE_ESTABLISHED:
        return TOEC_ESTABLISHED;
    case TOEC_T_STATE:
    case TRACE_TAKEN_OVER:
        return e->value;
    case TRACE_PEER_CLOSED:
        return before == TOEC_ESTABLISHED  ? TOEC_CLOSE_WAIT
               : before == TOEC_FIN_WAIT_1 ? TOEC_CLOSING
               : before == TOEC_FIN_WAIT_2 ? TOEC_TIME_WAIT
                                           : before;
    case TRACE_SHUTDOWN:
    case TRACE_CLOSE:
        return before == TOEC_ESTABLISHED  ? TOEC_FIN_WAIT_1
               : before == TOEC_CLOSE_WAIT ? TOEC_LAST_ACK
                                           : before;
    case TRACE_GONE:
        return e->value == TOEC_R_OK && (before == TOEC_FIN_WAIT_2 || before == TOEC_CLOSING ||
                                         before == TOEC_TIME_WAIT)
                   ? TOEC_TIME_WAIT
                   : TOEC_CLOSED;
    default:
        return before;
    }
}

/* Returns the name of errno for a reason, as they have Linux's values; "closed" for a flow that
 * both sides have closed. */
static const char *reason_name(uint32_t reason)
{
    const char *name = strerrorname_np((int)reason);

    return reason == TOEC_R_OK ? "closed" : name ? name : "unknown";
}

static json_t *event_json(const struct trace_event *e, uint64_t now)
{
    unsigned kind = trace_kind(e);
    json_t *j =
        json_pack("{s:o, s:s}", "time_ns", number(trace_time(e, now)), "event", event_name(e));

    if (kind >= TRACE_MAX)
        return j;
    if (kinds[kind].seq)
        json_object_set_new(j, kinds[kind].seq, number(e->seq));
    if (kinds[kind].shown == PLAIN)
        json_object_set_new(j, kinds[kind].value, number(e->value));
    else if (kinds[kind].shown == REASON)
        json_object_set_new(j, kinds[kind].value, json_string(reason_name(e->value)));
    return j;
}

/* Whose flow it is, and its last event. */
static json_t *ring_json(const struct control *c, uint32_t engine, const struct listed *x,
                         uint64_t now)
{
    const struct trace_ring *r = &x->ring;
    const struct trace_owner *o = &x->owner;
    char local[64] = "", remote[64] = "";
    struct toec_addr a;
    json_t *j;

    memcpy(a.b, r->local, sizeof(a.b));
    flow_end_text(local, sizeof(local), &a);
    memcpy(a.b, r->remote, sizeof(a.b));
    flow_end_text(remote, sizeof(remote), &a);
    j = json_pack("{s:o, s:s, s:o, s:o, s:o, s:i, s:s, s:s, s:i, s:s, s:i, s:b, s:o, s:o}", "flow",
                  flow_id_json(engine, x->index, r->serial), "toe", c->toe, "engine",
                  number(engine), "qp", number(o->qp), "uid", number(o->uid), "pid", o->pid,
                  "process", o->name, "local", local, "local_port", (int)r->local_port, "remote",
                  remote, "remote_port", (int)r->remote_port, "ended", (int)r->ended, "last",
                  event_json(&x->last, now), "now_ns", number(now));
    if (j && r->ended)
        json_object_set_new(j, "reason", json_string(reason_name(x->last.value)));
    return j;
}

static json_t *next_json(const struct control *c, uint32_t engine, const struct batch *b)
{
    if (b->done && engine + 1 >= c->engine_count)
        return json_null();
    return b->done ? json_sprintf("list %" PRIu32 " 0", engine + 1)
                   : json_sprintf("list %" PRIu32 " %" PRIu32, engine, b->at);
}

static json_t *list_json(struct control *c, uint32_t engine, uint32_t at)
{
    struct batch *b = calloc(1, sizeof(*b));
    json_t *flows;
    uint32_t i;

    if (!b)
        return NULL;
    b->at = at;
    engine_call(c->engines[engine], list_in_engine, b);
    flows = json_array();
    for (i = 0; i < b->count; i++) {
        const struct listed *x = &b->entries[i];

        json_array_append_new(flows, ring_json(c, engine, x, b->now));
    }
    flows = json_pack("{s:o, s:o}", "flows", flows, "next", next_json(c, engine, b));
    free(b);
    return flows;
}

/* Returns the events, with the state where an event has changed it. */
static json_t *events_json(const struct trace_copy *copy, uint64_t now)
{
    json_t *list = json_array(), *j;
    uint32_t state = UNKNOWN, i;

    for (i = 0; i < copy->count; i++) {
        uint32_t after = state_after(&copy->events[i], state);

        j = event_json(&copy->events[i], now);
        if (after != state)
            json_object_set_new(j, "state", json_string(flow_state_name(after)));
        state = after;
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *wanted_json(const struct control *c, uint32_t engine, const struct wanted *w)
{
    const struct trace_copy *copy = &w->copy;
    struct listed x = {.ring = copy->ring, .owner = copy->owner, .index = w->ring};
    json_t *j;

    if (w->unknown || w->gone)
        return json_pack("{s:b}", w->unknown ? "unknown" : "gone", 1);
    x.last = copy->events[copy->count - 1];
    j = ring_json(c, engine, &x, w->now);
    json_object_set_new(j, "lost", number(copy->lost));
    json_object_set_new(j, "settled", number(copy->total));
    json_object_set_new(j, "timed", json_boolean(w->timed));
    json_object_set_new(j, "events", events_json(copy, w->now));
    if (w->live)
        json_object_set_new(j, "now", flow_json(&w->flow, engine, c->toe));
    return j;
}

static json_t *one_json(struct control *c, uint32_t engine, uint32_t ring, uint32_t serial)
{
    struct wanted *w = calloc(1, sizeof(*w));
    json_t *j = NULL;

    if (w) {
        w->ring = ring;
        w->serial = serial;
        engine_call(c->engines[engine], copy_in_engine, w);
        j = wanted_json(c, engine, w);
    }
    free(w);
    return j;
}

json_t *trace_json(struct control *c, const char *request)
{
    uint32_t engine, ring, serial;
    int used = 0, timed = strncmp(request, "time ", 5) == 0;
    int done = strncmp(request, "done ", 5) == 0;

    if (sscanf(request, "list %" SCNu32 " %" SCNu32 "%n", &engine, &ring, &used) == 2 && used &&
        !request[used])
        return engine < c->engine_count ? list_json(c, engine, ring) : NULL;
    used = 0;
    if (!timed && !done && strncmp(request, "flow ", 5) != 0)
        return NULL;
    request += 5;
    if (sscanf(request, "%" SCNu32 ".%" SCNu32 ".%" SCNu32 "%n", &engine, &ring, &serial, &used) !=
            3 ||
        !used || request[used])
        return NULL;
    if (engine >= c->engine_count)
        return json_pack("{s:b}", "unknown", 1);
    if (done)
        return exchange_done_json(c, engine, ring, serial);
    if (timed)
        return exchange_json(c, engine, ring, serial);
    return one_json(c, engine, ring, serial);
}
