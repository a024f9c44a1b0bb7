/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - two looks at a TOE and the rates between them (model.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <toe/attach.h>

#include "common/exit.h"
#include "common/query.h"
#include "model.h"

long long top_number(const json_t *entry, const char *name)
{
    return json_integer_value(json_object_get(entry, name));
}

const char *top_word(const json_t *entry, const char *name)
{
    const char *text = json_string_value(json_object_get(entry, name));

    return text ? text : "";
}

const char *top_rate(double v, char text[16])
{
    static const char prefix[] = " kMGTP";
    unsigned i = 0;

    while (v >= 999.95 && i < sizeof prefix - 2) {
        v /= 1000;
        i++;
    }
    if (i == 0)
        snprintf(text, 16, "%.0f", v);
    else
        snprintf(text, 16, "%.1f%c", v, prefix[i]);
    return text;
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns the rate of a counter. One below its earlier value is of another TOE. */
static double rate(long long was, long long is, double seconds)
{
    return seconds > 0 ? (double)(is >= was ? is - was : is) / seconds : 0;
}

/* ---- flows ---- */

static void end_text(const json_t *entry, const char *address, const char *port, char *text,
                     size_t size)
{
    const char *ip = top_word(entry, address);

    snprintf(text, size, strchr(ip, ':') ? "[%s]:%lld" : "%s:%lld", ip, top_number(entry, port));
}

struct filling {
    struct top_look *look;
    size_t room;
    bool failed; /* no memory */
};

static void add_flow(void *arg, json_t *entry)
{
    struct filling *g = arg;
    struct top_look *l = g->look;
    struct top_flow *f;

    if (l->flow_count == g->room) {
        size_t room = g->room ? g->room * 2 : 64;
        struct top_flow *p = realloc(l->flows, room * sizeof *p);

        g->failed |= !p;
        if (!p)
            return;
        l->flows = p;
        g->room = room;
    }
    f = &l->flows[l->flow_count++];
    memset(f, 0, sizeof *f);
    f->entry = json_incref(entry);
    snprintf(f->id, sizeof f->id, "%s", top_word(entry, "flow"));
    end_text(entry, "local", "local_port", f->local, sizeof f->local);
    end_text(entry, "remote", "remote_port", f->remote, sizeof f->remote);
}

static int by_id(const void *a, const void *b)
{
    const struct top_flow *x = a, *y = b;

    return strcmp(x->id, y->id);
}

/* Rates of flows that the look before has, too; a new flow's are those since its begin. */
static void set_flow_rates(struct top_look *l, struct top_look *before, double seconds)
{
    size_t i;

    if (before->flow_count)
        qsort(before->flows, before->flow_count, sizeof *before->flows, by_id);

    for (i = 0; i < l->flow_count; i++) {
        struct top_flow *f = &l->flows[i];
        const struct top_flow *old =
            f->id[0] && before->flow_count
                ? bsearch(f, before->flows, before->flow_count, sizeof *f, by_id)
                : NULL;
        const json_t *was = old ? old->entry : NULL;

        f->tx = rate(top_number(was, "bytes_sent"), top_number(f->entry, "bytes_sent"), seconds);
        f->rx = rate(top_number(was, "bytes_received"), top_number(f->entry, "bytes_received"),
                     seconds);
        f->retrans =
            rate(top_number(was, "retransmits"), top_number(f->entry, "retransmits"), seconds);
    }
}

/* ---- engines ---- */

static const json_t *engine_of(const struct top_look *l, long long id)
{
    const json_t *e;
    size_t i;

    json_array_foreach(l ? json_object_get(l->stats, "engines") : NULL, i, e)
    {
        if (top_number(e, "id") == id)
            return e;
    }
    return NULL;
}

static void set_engine(struct top_engine *e, const json_t *is, const json_t *was, double seconds)
{
    const json_t *net = json_object_get(is, "netio"), *net_was = json_object_get(was, "netio");
    const json_t *count = json_object_get(is, "counters"),
                 *count_was = json_object_get(was, "counters");
#define RATE(of, name) rate(top_number(of##_was, name), top_number(of, name), seconds)

    e->id = top_number(is, "id");
    e->flows = top_number(json_object_get(is, "usage"), "flows");
    e->rx = RATE(net, "rx_frames");
    e->tx = RATE(net, "tx_frames");
    e->rx_bytes = RATE(net, "rx_bytes");
    e->tx_bytes = RATE(net, "tx_bytes");
    e->opened = RATE(count, "tcp_established");
    /* an engine within a program's threads has no CPU time of its own */
    e->cpu = top_number(count, "cpu_ns") ? RATE(count, "cpu_ns") / 1e7 : -1;
    e->polling = top_number(count, "cpu_ns") ? RATE(count, "polling_ns") / 1e7 : -1;
#undef RATE
}

/* ---- drops ---- */

/* The description of a counter names drops, refusals and failures. */
static bool is_drop(const char *help)
{
    return strstr(help, "dropped") || strstr(help, "refused") || strstr(help, "failed");
}

static bool add_drop(struct top_look *l, const struct top_drop *d)
{
    struct top_drop *p = realloc(l->drops, (l->drop_count + 1) * sizeof *p);

    if (!p)
        return false;
    l->drops = p;
    l->drops[l->drop_count++] = *d;
    return true;
}

static bool add_drops(struct top_look *l, const char *group, const json_t *is, const json_t *was,
                      double seconds)
{
    const json_t *help = json_object_get(json_object_get(l->stats, "help"), group);
    json_t *value;
    const char *name;

    json_object_foreach(json_object_get(is, group), name, value)
    {
        struct top_drop d = {.name = name,
                             .help = top_word(json_object_get(help, name), "help"),
                             .engine = top_number(is, "id"),
                             .total = json_integer_value(value)};

        if (!d.total || !is_drop(d.help))
            continue;
        d.rate = rate(top_number(json_object_get(was, group), name), d.total, seconds);
        if (!add_drop(l, &d))
            return false;
    }
    return true;
}

static int by_rate(const void *a, const void *b)
{
    const struct top_drop *x = a, *y = b;

    if (x->rate != y->rate)
        return x->rate < y->rate ? 1 : -1;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return strcmp(x->name, y->name);
}

static bool set_engines(struct top_look *l, const struct top_look *before, double seconds)
{
    const json_t *engines = json_object_get(l->stats, "engines"), *e;
    size_t i;

    l->engines = calloc(json_array_size(engines) + 1, sizeof *l->engines);
    if (!l->engines)
        return false;
    json_array_foreach(engines, i, e)
    {
        const json_t *was = engine_of(before, top_number(e, "id"));

        set_engine(&l->engines[l->engine_count++], e, was, seconds);
        if (!add_drops(l, "counters", e, was, seconds) || !add_drops(l, "netio", e, was, seconds))
            return false;
    }
    if (l->drop_count)
        qsort(l->drops, l->drop_count, sizeof *l->drops, by_rate);
    return true;
}

/* ---- a look ---- */

int top_look(const char *path, struct top_look *before, struct top_look *out, char *why,
             size_t size)
{
    struct filling filling = {.look = out};
    double seconds;
    int code;

    memset(out, 0, sizeof *out);
    out->stats = cli_query_quietly(path, TOEDEV_HELLO_QUERY, TOEDEV_QUERY_HELP, &code, why, size);
    if (out->stats)
        code = cli_query_all(path, TOEDEV_HELLO_FLOWS, "0 0 0", "flows", add_flow, &filling, why,
                             size);
    if (code) {
        top_free(out);
        return code;
    }
    out->at = seconds_now();
    out->first = !before;
    seconds = before ? out->at - before->at : 0;
    if (before)
        set_flow_rates(out, before, seconds);
    if (filling.failed || !set_engines(out, before, seconds)) {
        snprintf(why, size, "no memory");
        top_free(out);
        return CLI_FAILURE;
    }
    return CLI_OK;
}

void top_free(struct top_look *l)
{
    size_t i;

    for (i = 0; i < l->flow_count; i++)
        json_decref(l->flows[i].entry);
    free(l->flows);
    free(l->engines);
    free(l->drops);
    json_decref(l->stats);
    memset(l, 0, sizeof *l);
}

/* ---- sorting ---- */

static enum top_sort sort_by;
static bool sort_reverse;

static double sort_value(const struct top_flow *f)
{
    switch (sort_by) {
    case TOP_TX:
        return f->tx;
    case TOP_RX:
        return f->rx;
    case TOP_RETRANS:
        return f->retrans;
    case TOP_RTT:
        return (double)top_number(f->entry, "srtt_us");
    case TOP_CWND:
        return (double)top_number(f->entry, "cwnd_bytes");
    default:
        return (double)(top_number(f->entry, "send_queue") + top_number(f->entry, "recv_queue"));
    }
}

static int by_value(const void *a, const void *b)
{
    double x = sort_value(a), y = sort_value(b);

    if (x != y)
        return (x < y) != sort_reverse ? 1 : -1;
    return by_id(a, b);
}

void top_sort(struct top_look *l, enum top_sort by, bool reverse)
{
    sort_by = by;
    sort_reverse = reverse;
    if (l->flow_count)
        qsort(l->flows, l->flow_count, sizeof *l->flows, by_value);
}

const char *top_sort_name(enum top_sort by)
{
    static const char *const names[TOP_SORTS] = {"tx", "rx", "retrans", "rtt", "cwnd", "queue"};

    return names[by];
}
