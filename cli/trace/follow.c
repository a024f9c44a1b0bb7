/* SPDX-License-Identifier: Apache-2.0 */
/* follow.c - watches a flow (follow.h). */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <toe/attach.h>

#include "common/exit.h"
#include "common/message.h"
#include "common/query.h"
#include "dialogue.h"
#include "find.h"
#include "follow.h"
#include "latency.h"
#include "svg.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static long long number(const json_t *entry, const char *name)
{
    return json_integer_value(json_object_get(entry, name));
}

json_t *follow_ask(const char *path, const char *id, int *code)
{
    char request[sizeof(((struct toedev_hello *)0)->name)];
    json_t *flow;

    if ((size_t)snprintf(request, sizeof request, "flow %s", id) >= sizeof request) {
        cli_message("trace: no TOE has a flow %s; toehold trace lists the flows", id);
        *code = CLI_FAILURE;
        return NULL;
    }
    flow = cli_query(path, TOEDEV_HELLO_TRACE, request, code);
    if (!flow || json_is_array(json_object_get(flow, "events")))
        return flow;
    if (json_is_true(json_object_get(flow, "gone")))
        cli_message("trace: flow %s has ended, and newer flows have overwritten its events", id);
    else
        cli_message("trace: this TOE has had no flow %s; toehold trace lists the flows", id);
    json_decref(flow);
    *code = CLI_FAILURE;
    return NULL;
}

static void wait_ms(uint64_t ms)
{
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

    (void)nanosleep(&t, NULL); /* a signal ends it early */
}

/* The values of a sample, from the answer's "now". Those of the streams are relative sequence
 * numbers: the SYN is 0. */
static void add_sample(json_t *samples, const json_t *answer)
{
    const json_t *now = json_object_get(answer, "now");
    long long una = 1 + number(now, "bytes_acked"), rcv = 1 + number(now, "bytes_received");

    if (!now)
        return;
    json_array_append_new(
        samples,
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "time_ns",
                  (json_int_t)number(answer, "now_ns"), "snd_una", (json_int_t)una, "snd_nxt",
                  (json_int_t)(1 + number(now, "bytes_sent")), "snd_edge",
                  (json_int_t)(una + number(now, "snd_wnd")), "sacked",
                  (json_int_t)number(now, "sacked"), "lost", (json_int_t)number(now, "lost"),
                  "cwnd", (json_int_t)number(now, "cwnd_bytes"), "ssthresh",
                  (json_int_t)number(now, "ssthresh_bytes"), "rcv_nxt", (json_int_t)rcv, "rcv_edge",
                  (json_int_t)(rcv + number(now, "rcv_wnd"))));
}

/* Sets the event with this number since the flow's begin: again, if more calls have joined it. */
static void set_event(json_t *events, long long first, long long n, json_t *event)
{
    size_t at = (size_t)(n - first);

    if (n < first)
        return;
    if (at < json_array_size(events))
        json_array_set(events, at, event);
    else
        json_array_append(events, event);
}

/* Adds the events of an answer. Those that were overwritten between two answers are missing;
 * `first` then grows by as many, so that numbers remain right. */
static void merge(json_t *flow, const json_t *answer, long long *first)
{
    json_t *events = json_object_get(flow, "events"), *event;
    long long lost = number(answer, "lost"), have = *first + (long long)json_array_size(events);
    size_t i;

    if (lost > have)
        *first += lost - have;
    json_array_foreach(json_object_get(answer, "events"), i, event)
    {
        set_event(events, *first, lost + (long long)i, event);
    }
    json_object_set(flow, "now_ns", json_object_get(answer, "now_ns"));
    json_object_set(flow, "settled", json_object_get(answer, "settled"));
    json_object_set(flow, "ended", json_object_get(answer, "ended"));
    if (json_object_get(answer, "reason"))
        json_object_set(flow, "reason", json_object_get(answer, "reason"));
    if (json_object_get(answer, "now"))
        json_object_set(flow, "now", json_object_get(answer, "now"));
    else
        json_object_del(flow, "now");
}

/* Prints events up to this number. Returns the number of the next one. */
static long long print_until(const json_t *flow, long long first, long long next, long long end)
{
    const json_t *events = json_object_get(flow, "events");
    long long start = number(json_array_get(events, 0), "time_ns");

    for (; next < end; next++) {
        const json_t *event = json_array_get(events, (size_t)(next - first));
        const json_t *before =
            next > first ? json_array_get(events, (size_t)(next - first - 1)) : event;

        if (event)
            dialogue_event(stdout, event, start, number(before, "time_ns"));
    }
    fflush(stdout);
    return next;
}

static void catch_signals(void)
{
    struct sigaction act = {.sa_handler = on_signal};

    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

/* l NULL: exchanges are not timed. */
static int watch(const char *path, const char *id, json_t *flow, json_t *samples, struct latency *l,
                 const struct follow *o)
{
    long long first = number(flow, "lost"), next = first;
    long long until = number(flow, "now_ns") + (long long)o->seconds * 1000000000;
    int code = CLI_OK;

    if (!o->json)
        dialogue_head(stdout, flow);
    add_sample(samples, flow);
    while (!interrupted && !json_is_true(json_object_get(flow, "ended")) &&
           number(flow, "now_ns") < until) {
        json_t *answer;

        if (!o->json)
            next = print_until(flow, first, next, number(flow, "settled"));
        wait_ms(o->every_ms);
        answer = follow_ask(path, id, &code);
        if (!answer)
            break;
        merge(flow, answer, &first);
        next = next < first ? first : next;
        add_sample(samples, answer);
        json_decref(answer);
        if (l && (code = latency_look(l)) != CLI_OK)
            break;
    }
    if (!o->json)
        print_until(flow, first, next,
                    first + (long long)json_array_size(json_object_get(flow, "events")));
    return code;
}

int follow(const char *path, const char *id, json_t *flow, const struct follow *o)
{
    json_t *samples = json_array();
    struct latency *l = NULL;
    char why[512];
    int code;

    json_object_set_new(flow, "samples", samples);
    if (o->svg && !svg_writable(o->svg, why, sizeof why)) {
        cli_message("trace: %s", why);
        return CLI_FAILURE;
    }
    catch_signals();
    if (o->latency) {
        l = latency_begin(path, id, &code);
        if (!l)
            return code;
    }
    code = watch(path, id, flow, samples, l, o);
    if (l) {
        latency_end(l);
        latency_add(l, flow);
        latency_free(l);
        if (!o->json)
            latency_write(stdout, flow);
    }
    if (o->svg && !svg_trace(flow, o->svg, why, sizeof why)) {
        cli_message("trace: %s", why);
        return CLI_FAILURE;
    }
    return code;
}
