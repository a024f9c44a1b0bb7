/* SPDX-License-Identifier: Apache-2.0 */
/* latency.c - collects and prints the exchanges of a flow (latency.h). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <toe/attach.h>

#include "common/exit.h"
#include "common/message.h"
#include "common/query.h"
#include "exchange.h"
#include "find.h"
#include "latency.h"

#define KEPT_MAX    100000u /* exchanges; further ones are counted only */
#define LISTED_MAX  1000u   /* of them in JSON and in the picture, the last ones */
#define BUSY_LOOKS  3       /* while another flow is timed: its reader may be about to end */
#define BUSY_MS     100
#define NS_PER_US   1000.0
#define ID_TEXT_MAX (FIND_ID_MAX + 8)

struct latency {
    const char *path;
    char request[ID_TEXT_MAX];
    struct exchange *kept;
    size_t count, room;
    uint64_t next;  /* number of the first exchange that is not kept */
    uint64_t lost;  /* overwritten between two looks */
    uint64_t extra; /* beyond KEPT_MAX */
};

/* ---- the TOE's answers ---- */

static bool keep(struct latency *l, const struct exchange *x)
{
    struct exchange *more;

    if (l->count == KEPT_MAX) {
        l->extra++;
        return true;
    }
    if (l->count == l->room) {
        more = realloc(l->kept, (2 * l->room + 64) * sizeof *more);
        if (!more)
            return false;
        l->kept = more;
        l->room = 2 * l->room + 64;
    }
    l->kept[l->count++] = *x;
    return true;
}

static uint64_t value(const json_t *row, size_t i)
{
    return (uint64_t)json_integer_value(json_array_get(row, i));
}

/* Reads one exchange; `names` are those of its times, then come the bytes. */
static struct exchange read_exchange(const json_t *row, const json_t *names)
{
    size_t n = json_array_size(names), i, k;
    struct exchange x = {.bytes_in = (uint32_t)value(row, n),
                         .bytes_out = (uint32_t)value(row, n + 1)};

    for (i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i));

        for (k = 0; k < MOMENTS; k++)
            if (name && strcmp(name, exchange_moments[k]) == 0)
                x.at[k] = value(row, i);
    }
    return x;
}

/* Keeps the exchanges of an answer that are complete: the last one may continue, unless the flow
 * has ended. */
static bool take(struct latency *l, const json_t *answer)
{
    const json_t *names = json_object_get(answer, "times"), *row;
    const json_t *rows = json_object_get(answer, "exchanges");
    uint64_t first = (uint64_t)json_integer_value(json_object_get(answer, "first"));
    bool ended = json_is_true(json_object_get(answer, "ended"));
    size_t i;

    if (first + json_array_size(rows) < l->next)
        l->next = first; /* the timing began again: the lease had ended */
    if (first > l->next) {
        l->lost += first - l->next;
        l->next = first;
    }
    json_array_foreach(rows, i, row)
    {
        struct exchange x = read_exchange(row, names);
        bool last = i + 1 == json_array_size(rows);

        if (first + i < l->next || (last && !ended && !x.at[ACKED]))
            continue;
        if (!keep(l, &x))
            return false;
        l->next = first + i + 1;
    }
    return true;
}

/* Returns the answer; NULL with an exit code after a message, or with CLI_OK while another flow is
 * timed, whose id is then in busy. */
static json_t *ask(const struct latency *l, int *code, char *busy, size_t size)
{
    json_t *answer = cli_query(l->path, TOEDEV_HELLO_TRACE, l->request, code);
    const char *other = json_string_value(json_object_get(answer, "busy"));

    if (!answer || json_is_array(json_object_get(answer, "exchanges")))
        return answer;
    if (other) {
        snprintf(busy, size, "%s", other);
    } else {
        *code = CLI_FAILURE;
        cli_message("trace: flow %s has ended", l->request + strlen("time "));
    }
    json_decref(answer);
    return NULL;
}

int latency_look(struct latency *l)
{
    char busy[FIND_ID_MAX] = "";
    int code;
    json_t *answer = ask(l, &code, busy, sizeof busy);
    bool ok = answer && take(l, answer);

    json_decref(answer);
    if (answer && !ok)
        cli_message("trace: no memory for more exchanges");
    if (!answer && code == CLI_OK)
        cli_message("trace: another toehold trace times flow %s of this engine now", busy);
    return code ? code : ok ? CLI_OK : CLI_FAILURE;
}

static int begin(struct latency *l)
{
    const struct timespec pause = {0, BUSY_MS * 1000000};
    char busy[FIND_ID_MAX] = "";
    int code = CLI_OK, looks;

    for (looks = 0; looks < BUSY_LOOKS && code == CLI_OK; looks++) {
        json_t *answer = ask(l, &code, busy, sizeof busy);

        if (answer) {
            l->next = (uint64_t)json_integer_value(json_object_get(answer, "first")) +
                      json_array_size(json_object_get(answer, "exchanges"));
            json_decref(answer);
            return CLI_OK;
        }
        nanosleep(&pause, NULL);
    }
    if (code == CLI_OK)
        cli_message("trace: --latency: another toehold trace times flow %s of this engine; "
                    "one flow of an engine can be timed at a time",
                    busy);
    return code ? code : CLI_FAILURE;
}

struct latency *latency_begin(const char *path, const char *id, int *code)
{
    struct latency *l = calloc(1, sizeof *l);

    *code = CLI_FAILURE;
    if (!l)
        return NULL;
    l->path = path;
    snprintf(l->request, sizeof l->request, "time %s", id);
    *code = begin(l);
    if (*code == CLI_OK)
        return l;
    latency_free(l);
    return NULL;
}

void latency_free(struct latency *l)
{
    if (l)
        free(l->kept);
    free(l);
}

void latency_end(const struct latency *l)
{
    char request[ID_TEXT_MAX], why[256];
    int code;

    snprintf(request, sizeof request, "done %s", l->request + strlen("time "));
    json_decref(cli_query_quietly(l->path, TOEDEV_HELLO_TRACE, request, &code, why, sizeof why));
}

/* ---- what was measured ---- */

static json_t *exchange_json(const struct exchange *x)
{
    json_t *j = json_object();
    char name[32];
    size_t k;

    for (k = 0; k < MOMENTS; k++) {
        snprintf(name, sizeof name, "%s_ns", exchange_moments[k]);
        if (x->at[k])
            json_object_set_new(j, name, json_integer((json_int_t)x->at[k]));
    }
    json_object_set_new(j, "bytes_in", json_integer(x->bytes_in));
    json_object_set_new(j, "bytes_out", json_integer(x->bytes_out));
    return j;
}

static json_t *summary_json(const struct summary *s)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "count", (json_int_t)s->count, "min_ns",
                     (json_int_t)s->min, "median_ns", (json_int_t)s->median, "p99_ns",
                     (json_int_t)s->p99, "max_ns", (json_int_t)s->max, "sum_ns",
                     (json_int_t)s->sum);
}

void latency_add(const struct latency *l, json_t *flow)
{
    json_t *parts = json_object(), *list = json_array();
    size_t i, from = l->count > LISTED_MAX ? l->count - LISTED_MAX : 0;
    struct summary s;

    for (i = 0; i < PARTS; i++)
        if (exchange_summary(l->kept, l->count, &exchange_parts[i], &s) && s.count)
            json_object_set_new(parts, exchange_parts[i].name, summary_json(&s));
    for (i = from; i < l->count; i++)
        json_array_append_new(list, exchange_json(&l->kept[i]));
    json_object_set_new(flow, "latency",
                        json_pack("{s:I, s:I, s:I, s:o}", "exchanges", (json_int_t)l->count,
                                  "overwritten", (json_int_t)l->lost, "not_kept",
                                  (json_int_t)l->extra, "parts", parts));
    json_object_set_new(flow, "exchanges", list);
}

static double us(const json_t *part, const char *name)
{
    return (double)json_integer_value(json_object_get(part, name)) / NS_PER_US;
}

static void write_part(FILE *f, const struct part *p, const json_t *parts)
{
    const json_t *part = json_object_get(parts, p->name);
    double all = us(json_object_get(parts, "answer"), "sum_ns");

    if (!part)
        return;
    fprintf(f, "%-46s %11.1f %11.1f %11.1f %11.1f", p->what, us(part, "min_ns"),
            us(part, "median_ns"), us(part, "p99_ns"), us(part, "max_ns"));
    if (p->within && all > 0)
        fprintf(f, " %6.1f %%", 100 * us(part, "sum_ns") / all);
    fputc('\n', f);
}

void latency_write(FILE *f, const json_t *flow)
{
    const json_t *l = json_object_get(flow, "latency"), *parts = json_object_get(l, "parts");
    long long count = json_integer_value(json_object_get(l, "exchanges"));
    long long lost = json_integer_value(json_object_get(l, "overwritten"));
    long long extra = json_integer_value(json_object_get(l, "not_kept"));
    size_t i;

    if (!l)
        return;
    fprintf(f, "latency of %lld exchanges, microseconds\n", count);
    if (count)
        fprintf(f, "%-46s %11s %11s %11s %11s %8s\n", "part", "min", "median", "99 %", "max",
                "share");
    for (i = 0; i < PARTS; i++)
        write_part(f, &exchange_parts[i], parts);
    if (count && !json_object_get(parts, "program"))
        fputs("no times of libtoe: the program runs with a libtoe of an earlier release, or only "
              "sends\n",
              f);
    if (lost)
        fprintf(f,
                "%lld further exchanges were overwritten between two looks: a shorter "
                "--every-ms sees more\n",
                lost);
    if (extra)
        fprintf(f, "%lld further exchanges are not counted: the first %u are\n", extra, KEPT_MAX);
}
