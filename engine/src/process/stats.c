/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.c - the TOE's statistics as JSON. Each engine copies its figures in its own thread between
 * two rounds; this file formats the copies.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <toe/counters.h>

#include "base/clock.h"
#include "base/log.h"
#include "control.h"
#include "frames/engine_state.h"
#include "round/thread.h"
#include "stats.h"
#include "switch.h"

#define SCHEMA_VERSION 1 /* of the answer: rises when a name moves or changes its meaning */

struct qp_figures {
    uint32_t id, slots, used, listeners;
    int pid;
    char name[32];
    uint64_t sw_commands, hw_commands, errors;
    uint16_t halted;
};

struct figures {
    struct netio_info info;
    struct netio_stats netio;
    struct toec_usage usage;
    toec_u64 core[TOEC_C_MAX];
    uint64_t engine[EC_MAX];
    uint32_t qp_count;
    struct qp_figures *qps; /* room for max_qps */
    struct offload offload;
    uint32_t held, hold_max; /* received frames held; the most that the back end can spare */
    uint32_t delay_us;       /* of frames, at present */
    struct toec_own_addr own6[8];
    unsigned own6_n;
};

/* Returns the CPU time of the engine's thread, which calls this. */
static uint64_t cpu_time(const struct engine *e)
{
    struct timespec t;

    if (!e->has_thread || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void copy_figures(struct engine *e, void *arg)
{
    struct figures *f = arg;
    uint32_t i;

    common_tally(e);
    netio_get_info(e->netio, &f->info);
    netio_get_stats(e->netio, &f->netio);
    f->own6_n = toec_own_addresses(e->stack, f->own6, 8);
    toec_usage(e->stack, &f->usage);
    f->offload = e->offload;
    f->held = e->hold.count;
    f->hold_max = e->hold.max;
    f->delay_us =
        e->cfg.moderation == MODERATION_AUTO ? moderation_delay(&e->moderation) : e->cfg.moderation;
    memcpy(f->core, toec_counters(e->stack), sizeof(f->core));
    memcpy(f->engine, e->counters, sizeof(f->engine));
    f->engine[EC_cpu_ns] = cpu_time(e);
    f->qp_count = e->qp_count;
    for (i = 0; i < e->qp_count; i++) {
        const struct qp *qp = e->qps[i];

        f->qps[i] = (struct qp_figures){.id = qp->id,
                                        .slots = qp->cfg.slots,
                                        .used = qp->cfg.slots - qp->free_count,
                                        .listeners = qp->member_count,
                                        .pid = qp->pid,
                                        .sw_commands = qp->sw_commands,
                                        .hw_commands = qp->hw_commands,
                                        .errors = qp->errors,
                                        .halted = qp->halted};
        memcpy(f->qps[i].name, qp->name, sizeof(f->qps[i].name));
    }
}

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

struct described {
    const char *name, *help;
};

#define X(name, description) {#name, description},
static const struct described core_names[] = {TOEC_COUNTERS(X)};
static const struct described engine_names[] = {ENGINE_COUNTERS(X)};
#undef X
static const struct described netio_names[] = {
    {"mode", "the back end and its mode"},
    {"rx_held", "received frames that hosts hold at present"},
    {"rx_hold_max", "received frames that hosts may hold"},
    {"rx_delay_us", "time that frames may wait at present while the engine sleeps (--moderation)"},
    {"rx_frames", "frames received"},
    {"rx_bytes", "bytes received"},
    {"tx_frames", "frames sent"},
    {"tx_bytes", "bytes sent"},
    {"rx_dropped", "received frames dropped by the back end or the kernel: ring full, no buffer"},
    {"tx_dropped", "frames submitted to the back end and not sent"},
};
static const struct described usage_names[] = {
    {"flows", "connections with a TCB"},
    {"records", "out-of-order intervals and sent runs remembered"},
    {"half_open", "connections that have not completed the handshake"},
    {"listeners", "listening sockets"},
    {"time_wait", "connections in TIME-WAIT"},
    {"neighbours", "neighbours (ARP, neighbour discovery)"},
    {"datagrams", "datagrams in reassembly"},
};
static const struct described control_names[] = {
    {"refused", "hellos refused on the control socket"},
    {"hung_up", "connections closed for an invalid message or a timeout"},
    {"evicted", "silent connections closed for a newer one of their user"},
};
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static json_t *counters_json(const struct figures *f)
{
    json_t *j = json_object();
    unsigned i;

    for (i = 0; i < TOEC_C_MAX; i++)
        json_object_set_new(j, core_names[i].name, number(f->core[i]));
    for (i = 0; i < EC_MAX; i++)
        json_object_set_new(j, engine_names[i].name, number(f->engine[i]));
    return j;
}

/* The names say what they count. */
static const char *unit_of(const char *name)
{
    return strstr(name, "bytes")      ? "bytes"
           : strstr(name, "frames")   ? "frames"
           : strstr(name, "_ns")      ? "ns"
           : strstr(name, "delay_us") ? "us"
                                      : "";
}

static void describe(json_t *to, const char *group, const struct described *table, size_t n)
{
    json_t *j = json_object_get(to, group);
    size_t i;

    if (!j) {
        j = json_object();
        json_object_set_new(to, group, j);
    }
    for (i = 0; i < n; i++)
        json_object_set_new(
            j, table[i].name,
            json_pack("{s:s, s:s}", "unit", unit_of(table[i].name), "help", table[i].help));
}

/* Returns {group: {name: {unit, help}}}. */
static json_t *help_json(void)
{
    json_t *j = json_object();

    describe(j, "control", control_names, COUNT(control_names));
    describe(j, "netio", netio_names, COUNT(netio_names));
    describe(j, "usage", usage_names, COUNT(usage_names));
    describe(j, "counters", core_names, COUNT(core_names));
    describe(j, "counters", engine_names, COUNT(engine_names));
    return j;
}

static json_t *netio_json(const struct figures *f)
{
    const struct netio_stats *n = &f->netio;

    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "mode", f->info.mode,
                     "rx_held", number(f->held), "rx_hold_max", number(f->hold_max), "rx_delay_us",
                     number(f->delay_us), "rx_frames", number(n->rx_frames), "rx_bytes",
                     number(n->rx_bytes), "tx_frames", number(n->tx_frames), "tx_bytes",
                     number(n->tx_bytes), "rx_dropped", number(n->rx_dropped), "tx_dropped",
                     number(n->tx_dropped));
}

static json_t *usage_json(const struct toec_usage *u)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "flows", number(u->flows), "records",
                     number(u->records), "half_open", number(u->half_open), "listeners",
                     number(u->listeners), "time_wait", number(u->time_wait), "neighbours",
                     number(u->neighbours), "datagrams", number(u->datagrams));
}

static json_t *qps_json(const struct figures *f)
{
    json_t *list = json_array();
    uint32_t i;

    for (i = 0; i < f->qp_count; i++) {
        const struct qp_figures *q = &f->qps[i];

        json_array_append_new(list, json_pack("{s:o, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:i}",
                                              "id", number(q->id), "pid", q->pid, "name", q->name,
                                              "slots", number(q->slots), "slots_used",
                                              number(q->used), "listeners", number(q->listeners),
                                              "sw_commands", number(q->sw_commands), "hw_commands",
                                              number(q->hw_commands), "errors", number(q->errors),
                                              "halted", (int)q->halted));
    }
    return list;
}

/* Returns the TOE's IPv6 addresses: "2001:db8::1/64", with the reason for those not in use. */
static json_t *ip6_json(const struct figures *f)
{
    json_t *list = json_array();
    unsigned i;

    for (i = 0; i < f->own6_n; i++) {
        char ip[INET6_ADDRSTRLEN] = "", text[INET6_ADDRSTRLEN + 24];

        inet_ntop(AF_INET6, f->own6[i].addr.b, ip, sizeof(ip));
        snprintf(text, sizeof(text), "%s/%u%s", ip, f->own6[i].prefix_len,
                 f->own6[i].usable      ? ""
                 : f->own6[i].tentative ? " tentative"
                                        : " duplicate");
        json_array_append_new(list, json_string(text));
    }
    return list;
}

static json_t *engine_json(struct control *c, uint32_t id)
{
    struct figures *f = calloc(1, sizeof(*f));
    json_t *j = NULL;

    if (f)
        f->qps = calloc(c->options->max_qps, sizeof(*f->qps));
    if (f && f->qps) {
        engine_call(c->engines[id], copy_figures, f);
        j = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id", number(id), "netio",
                      netio_json(f), "offload", offload_json(&f->offload), "ip6", ip6_json(f),
                      "counters", counters_json(f), "usage", usage_json(&f->usage), "queue_pairs",
                      qps_json(f));
    }
    if (f)
        free(f->qps);
    free(f);
    return j;
}

json_t *stats_json(struct control *c, const char *more)
{
    json_t *engines = json_array(), *j;
    char address[96];
    uint32_t i;

    for (i = 0; i < c->engine_count; i++)
        json_array_append_new(engines, engine_json(c, i));
    options_addresses(c->options, address, sizeof(address));
    j = json_pack("{s:s, s:i, s:o, s:s, s:s, s:{s:o, s:o, s:o}, s:o}", "version", TOEHOLD_VERSION,
                  "schema_version", SCHEMA_VERSION, "uptime_s",
                  number((engine_clock() - c->started) / NS_PER_S), "address", address, "manager",
                  c->polling ? "polling" : "interrupts", "control", "refused", number(c->refused),
                  "hung_up", number(c->hung_up), "evicted", number(c->evicted), "engines", engines);
    if (j && strcmp(more, TOEDEV_QUERY_HELP) == 0)
        json_object_set_new(j, "help", help_json());
    return j;
}

void query_answer(int fd, json_t *j)
{
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    size_t len = text ? strlen(text) : 0;
    int room = (int)len + 4096;

    /* One message: the socket's buffer must take it whole. */
    if (text && setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    if (!text || send(fd, text, len, MSG_NOSIGNAL) < 0)
        log_warning("cannot answer a query: %s", strerror(errno));
    free(text);
    json_decref(j);
}
