/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows_json.c - listeners and flows of an engine, as JSON for tools. The engine copies a batch in
 * its own thread between two rounds; the data path keeps no account for it.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "flows_json.h"
#include "frames/engine_state.h"
#include "hosts/listen.h"
#include "hosts/trace.h"
#include "round/thread.h"

/* How many slots one batch examines: it bounds the pause of the engine. */
#define LOOK_MAX 8192u

struct batch {
    uint32_t qp, index; /* where to begin; afterwards, where the next batch begins */
    uint32_t count, looked;
    int done;
    struct flow_entry entries[FLOWS_BATCH];
};

/* ---- in the engine's thread ---- */

static const struct qp *at_or_after(const struct engine *e, uint32_t id)
{
    const struct qp *found = NULL;
    uint32_t i;

    for (i = 0; i < e->qp_count; i++)
        if (e->qps[i]->id >= id && (!found || e->qps[i]->id < found->id))
            found = e->qps[i];
    return found;
}

static struct flow_entry *add(struct batch *b)
{
    return &b->entries[b->count++];
}

static void take_owner(struct flow_entry *x, const struct qp *qp)
{
    memset(x, 0, sizeof(*x));
    x->qp = qp->id;
    x->pid = qp->pid;
    x->uid = qp->uid;
    memcpy(x->name, qp->name, sizeof(x->name));
    x->name[sizeof(x->name) - 1] = 0;
}

void flow_take(const struct engine *e, const struct slot *s, struct flow_entry *x)
{
    take_owner(x, s->qp);
    x->send_queue = s->tx_used;
    x->recv_queue = s->rx_reported + s->pend_data;
    x->accepted = s->active || s->accepted;
    trace_id(s, &x->ring, &x->serial);
    toec_flow_info(e->stack, s->flow, &x->info);
}

static int is_full(const struct batch *b)
{
    return b->count == FLOWS_BATCH || b->looked >= LOOK_MAX;
}

/* Indices below LISTENERS_PER_QP are those of listeners. Returns 0 when the batch is full. */
static int take_listeners(struct batch *b, const struct qp *qp)
{
    const struct listen_member *m = qp->members;
    uint32_t at;

    for (at = 0; m && at < LISTENERS_PER_QP; at++, m = m->next) {
        struct flow_entry *x;

        if (at < b->index)
            continue;
        if (is_full(b))
            return 0;
        b->looked++;
        b->index = at + 1;
        x = add(b);
        take_owner(x, qp);
        x->is_listener = 1;
        x->backlog = m->backlog;
        x->used = m->used;
        x->v6only = m->group->v6only;
        x->info.local = m->group->addr;
        x->info.local_port = m->group->port;
    }
    if (b->index < LISTENERS_PER_QP)
        b->index = LISTENERS_PER_QP;
    return 1;
}

/* The others are those of slots. Returns 0 when the batch is full. */
static int take_slots(const struct engine *e, struct batch *b, const struct qp *qp)
{
    for (; b->index - LISTENERS_PER_QP < qp->fresh; b->index++) {
        const struct slot *s = &qp->slots[b->index - LISTENERS_PER_QP];

        if (is_full(b))
            return 0;
        b->looked++;
        if (s->flow)
            flow_take(e, s, add(b));
    }
    return 1;
}

static void take_in_engine(struct engine *e, void *arg)
{
    struct batch *b = arg;
    const struct qp *qp;

    while ((qp = at_or_after(e, b->qp))) {
        if (qp->id != b->qp)
            b->index = 0;
        b->qp = qp->id;
        if (!take_listeners(b, qp) || !take_slots(e, b, qp))
            return;
        b->qp++;
        b->index = 0;
    }
    b->done = 1;
}

/* ---- in the main thread ---- */

int flow_end_text(char *text, size_t size, const struct toec_addr *a)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    int ip4 = memcmp(a->b, mapped, sizeof(mapped)) == 0;

    return inet_ntop(ip4 ? AF_INET : AF_INET6, a->b + (ip4 ? 12 : 0), text, (socklen_t)size) ? 0
                                                                                             : -1;
}

json_t *flow_id_json(uint32_t engine, uint32_t ring, uint32_t serial)
{
    return json_sprintf("%" PRIu32 ".%" PRIu32 ".%" PRIu32, engine, ring, serial);
}

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

const char *flow_state_name(uint32_t state)
{
    static const char *const names[] = {"closed",     "syn-sent",   "syn-recv",   "established",
                                        "fin-wait-1", "fin-wait-2", "close-wait", "closing",
                                        "last-ack",   "time-wait"};

    return state < sizeof(names) / sizeof(*names) ? names[state] : "unknown";
}

static json_t *options_json(uint8_t opts)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } names[] = {{TOEC_I_TIMESTAMPS, "ts"},    {TOEC_I_SACK, "sack"},
                 {TOEC_I_WSCALE, "wscale"},    {TOEC_I_ECN, "ecn"},
                 {TOEC_I_ECN_SEEN, "ecnseen"}, {TOEC_I_SYN_DATA, "fastopen"}};
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (opts & names[i].bit)
            json_array_append_new(list, json_string(names[i].name));
    return list;
}

/* The fields that listeners and flows both have. */
static json_t *owner_json(const struct flow_entry *x, uint32_t engine, const char *toe)
{
    char local[INET6_ADDRSTRLEN] = "";

    flow_end_text(local, sizeof(local), &x->info.local);
    return json_pack("{s:s, s:o, s:o, s:o, s:i, s:o, s:s, s:s, s:i}", "toe", toe, "engine",
                     number(engine), "qp", number(x->qp), "uid", number(x->uid), "pid", x->pid,
                     "recv_queue", number(x->recv_queue), "process", x->name, "local", local,
                     "local_port", (int)x->info.local_port);
}

static json_t *listener_json(const struct flow_entry *x, uint32_t engine, const char *toe)
{
    json_t *j = owner_json(x, engine, toe);

    json_object_set_new(j, "state", json_string("listen"));
    json_object_set_new(j, "recv_queue", number(x->used)); /* as ss: not accepted yet */
    json_object_set_new(j, "send_queue", number(x->backlog));
    json_object_set_new(j, "v6only", json_boolean(x->v6only));
    return j;
}

static void set_numbers(json_t *j, const struct toec_info *i)
{
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {
        {"mss", i->mss_send},
        {"rcv_mss", i->mss_recv},
        {"pmtu", i->pmtu},
        {"snd_wscale", i->ws_send},
        {"rcv_wscale", i->ws_recv},
        {"srtt_us", i->srtt_us},
        {"rttvar_us", i->rttvar_us},
        {"rto_us", i->rto_us},
        {"min_rtt_us", i->min_rtt_us},
        {"cwnd_bytes", i->cwnd},
        {"ssthresh_bytes", i->ssthresh},
        {"snd_wnd", i->snd_wnd},
        {"rcv_wnd", i->rcv_wnd},
        {"in_flight", i->in_flight},
        {"retransmits", i->retransmits},
        {"bytes_sent", i->bytes_sent},
        {"bytes_acked", i->bytes_acked},
        {"bytes_received", i->bytes_received},
        {"bytes_retrans", i->bytes_retrans},
        {"delivery_rate", i->delivery_rate},
        {"pacing_rate", i->pacing_rate},
        {"sacked", i->sacked},
        {"lost", i->lost},
        {"retrans_out", i->retrans_out},
        {"lost_total", i->lost_total},
        {"dsacks", i->dsacks},
        {"reord_seen", i->reord_seen},
        {"reordering", i->reordering},
        {"undone", i->undone},
        {"timeouts", i->timeouts},
        {"backoff", i->backoff},
        {"ca_state", i->ca_state},
    };
    size_t k;

    for (k = 0; k < sizeof(fields) / sizeof(*fields); k++)
        json_object_set_new(j, fields[k].name, number(fields[k].value));
}

json_t *flow_json(const struct flow_entry *x, uint32_t engine, const char *toe)
{
    /* by enum toec_cc */
    static const char *const algorithms[] = {"cubic", "reno", "dctcp", "bbr3", "bbr"};
    const struct toec_info *i = &x->info;
    char remote[INET6_ADDRSTRLEN] = "";
    json_t *j = owner_json(x, engine, toe);

    flow_end_text(remote, sizeof(remote), &i->remote);
    if (x->serial)
        json_object_set_new(j, "flow", flow_id_json(engine, x->ring, x->serial));
    json_object_set_new(j, "state", json_string(flow_state_name(i->state)));
    json_object_set_new(j, "send_queue", number(x->send_queue));
    json_object_set_new(j, "remote", json_string(remote));
    json_object_set_new(j, "remote_port", number(i->remote_port));
    json_object_set_new(j, "accepted", json_boolean(x->accepted));
    json_object_set_new(j, "options", options_json(i->opts));
    json_object_set_new(j, "congestion",
                        json_string(i->cc < sizeof(algorithms) / sizeof(*algorithms)
                                        ? algorithms[i->cc]
                                        : "unknown"));
    json_object_set_new(j, "app_limited", json_boolean(i->opts & TOEC_I_APP_LIMITED));
    set_numbers(j, i);
    return j;
}

/* Returns the text that asks for what follows the batch, or null after the last engine. */
static json_t *next_json(const struct control *c, uint32_t engine, const struct batch *b)
{
    if (b->done && engine + 1 >= c->engine_count)
        return json_null();
    return b->done ? json_sprintf("%" PRIu32 " 0 0", engine + 1)
                   : json_sprintf("%" PRIu32 " %" PRIu32 " %" PRIu32, engine, b->qp, b->index);
}

json_t *flows_json(struct control *c, const char *from)
{
    struct batch *b = calloc(1, sizeof(*b));
    json_t *listeners, *flows, *j = NULL;
    uint32_t engine, i;
    int used = 0;

    if (b &&
        sscanf(from, "%" SCNu32 " %" SCNu32 " %" SCNu32 "%n", &engine, &b->qp, &b->index, &used) ==
            3 &&
        !from[used] && engine < c->engine_count) {
        engine_call(c->engines[engine], take_in_engine, b);
        listeners = json_array();
        flows = json_array();
        for (i = 0; i < b->count; i++) {
            const struct flow_entry *x = &b->entries[i];

            if (x->is_listener)
                json_array_append_new(listeners, listener_json(x, engine, c->toe));
            else
                json_array_append_new(flows, flow_json(x, engine, c->toe));
        }
        j = json_pack("{s:o, s:o, s:o}", "listeners", listeners, "flows", flows, "next",
                      next_json(c, engine, b));
    }
    free(b);
    return j;
}
