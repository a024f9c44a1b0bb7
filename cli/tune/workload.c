/* SPDX-License-Identifier: Apache-2.0 */
/* workload.c - see workload.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "usage.h"
#include "workload.h"

#define PROBE_LIMIT 30.0 /* seconds of a dry run */
#define PREFIX_MAX  24   /* words before those of the command */

/* ---- words of the command ---- */

static void add(char **argv, size_t *n, const char *word)
{
    argv[(*n)++] = (char *)word;
}

static void add_place(const struct tune_workload *w, enum tune_place p, bool dry, char **argv,
                      size_t *n)
{
    if (p == TUNE_KERNEL)
        return;
    add(argv, n, w->toehold);
    add(argv, n, "run");
    add(argv, n, "--require");
    if (dry)
        add(argv, n, "--dry-run");
    if (p == TUNE_TOED) {
        add(argv, n, "--socket");
        add(argv, n, w->socket);
    }
    add(argv, n, "--engine");
    add(argv, n, tune_place_name(p));
    add(argv, n, "--");
}

static void add_load(const struct tune_workload *w, const char *seconds, const char *warm_up,
                     char **argv, size_t *n)
{
    const char *const words[] = {w->bench,        "http",         "--url",    w->url,
                                 "--duration",    seconds,        "--warmup", warm_up,
                                 "--connections", w->connections, "--json",   "--quiet"};
    size_t i;

    for (i = 0; i < sizeof words / sizeof *words; i++)
        add(argv, n, words[i]);
}

/* Runs the command, or the load, in a place. */
static enum tune_end execute(const struct tune_workload *w, const struct tune_setting *s, bool dry,
                             double limit, struct tune_child *c)
{
    char seconds[32], warm_up[32];
    size_t n = 0, words = 0;
    enum tune_end end;
    char **argv;

    while (w->command && w->command[words])
        words++;
    argv = calloc(PREFIX_MAX + words + 1, sizeof *argv);
    if (!argv) {
        snprintf(c->error, sizeof c->error, "%s", strerror(errno));
        c->out = NULL;
        return TUNE_NOT_STARTED;
    }
    snprintf(seconds, sizeof seconds, "%.3f", w->seconds);
    snprintf(warm_up, sizeof warm_up, "%.3f", w->seconds / 10);
    add_place(w, s->place, dry, argv, &n);
    if (w->url)
        add_load(w, seconds, warm_up, argv, &n);
    else
        memcpy(argv + n, w->command, words * sizeof *argv);
    end = tune_child_run(argv, s->variable, limit, c);
    free(argv);
    return end;
}

bool tune_can_run(const struct tune_workload *w, enum tune_place p, char *why, size_t why_size)
{
    static const char prefix[] = "toehold: ", suffix[] = "; refused (--require)";
    struct tune_setting s = {.place = p};
    struct tune_child c;
    bool ok = execute(w, &s, true, PROBE_LIMIT, &c) == TUNE_ENDED && c.code == 0;
    const char *text = c.error;
    char *end = strstr(c.error, suffix);

    if (end)
        *end = '\0'; /* an option of the dry run alone */
    if (strncmp(text, prefix, strlen(prefix)) == 0)
        text += strlen(prefix);
    if (!ok)
        snprintf(why, why_size, "%s", *text ? text : "toehold run --dry-run fails");
    free(c.out);
    return ok;
}

/* ---- figures ---- */

/* Returns the object that the command printed: all of its output, or the last line. */
static json_t *figures_of(const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    size_t end = strlen(text);
    const char *line;

    if (json_is_object(root))
        return root;
    json_decref(root);
    while (end && text[end - 1] == '\n')
        end--;
    line = end ? memrchr(text, '\n', end) : NULL;
    line = line ? line + 1 : text;
    root = json_loadb(line, (size_t)(text + end - line), 0, NULL);
    if (json_is_object(root))
        return root;
    json_decref(root);
    return NULL;
}

static double number(const json_t *root, const char *key)
{
    const json_t *v = json_object_get(root, key);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Takes what the command printed, which wins over what tune has measured. */
static void take_figures(const char *out, struct tune_result *r)
{
    json_t *root = figures_of(out);
    const json_t *latency = json_object_get(root, "latency_ns");
    double requests = number(root, "requests_per_s"), bytes = number(root, "bytes_per_s");

    r->unit = requests > 0 ? "requests/s" : bytes > 0 ? "bytes/s" : "runs/s";
    r->sample.metric[TUNE_THROUGHPUT] = requests > 0 ? requests
                                        : bytes > 0  ? bytes
                                                     : 1 / r->seconds;
    r->sample.metric[TUNE_P50] = number(latency, "p50");
    r->sample.metric[TUNE_P99] = number(latency, "p99");
    if (isfinite(number(root, "cpu_s_per_unit")))
        r->sample.metric[TUNE_CPU] = number(root, "cpu_s_per_unit");
    if (isfinite(number(root, "busiest_core")))
        r->sample.busiest = number(root, "busiest_core");
    json_decref(root);
}

static void fail(struct tune_result *r, const char *what, const char *why)
{
    r->failed = true;
    snprintf(r->why, sizeof r->why, "%s%s%s", what, *why ? ": " : "", why);
}

static enum tune_end watch(const struct tune_workload *w)
{
    return tune_pause(w->seconds) == TUNE_SIGNALLED ? TUNE_SIGNALLED : TUNE_ENDED;
}

/* Runs what is to be measured; *out is what it printed, NULL when tune watches. */
static enum tune_end run(const struct tune_workload *w, const struct tune_setting *s, double limit,
                         struct tune_result *r, char **out)
{
    struct tune_child c;
    char code[40];
    enum tune_end end;

    *out = NULL;
    if (!w->command && !w->url)
        return watch(w);
    end = execute(w, s, false, limit, &c);
    *out = c.out;
    snprintf(code, sizeof code, "the workload ended with %d", c.code);
    if (end == TUNE_NOT_STARTED)
        fail(r, "cannot start the workload", c.error);
    else if (end == TUNE_ENDED && c.code)
        fail(r, code, c.error);
    return end == TUNE_NOT_STARTED ? TUNE_ENDED : end;
}

enum tune_end tune_run_once(const struct tune_workload *w, const struct tune_setting *s,
                            double limit, struct tune_result *r)
{
    static struct tune_usage before, after; /* large */
    enum tune_end end;
    char *out = NULL;
    double cpu;

    memset(r, 0, sizeof *r);
    if (!tune_usage_read(w->interface, &before)) {
        fail(r, w->interface, strerror(errno));
        return TUNE_ENDED;
    }
    end = run(w, s, limit, r, &out);
    if (!tune_usage_read(w->interface, &after))
        fail(r, w->interface, strerror(errno));
    r->seconds = after.at - before.at;
    cpu = tune_usage_cpu(&before, &after, &r->sample.busiest);
    r->unit = "bytes/s";
    r->sample.metric[TUNE_THROUGHPUT] = (double)(after.bytes - before.bytes) / r->seconds;
    r->sample.metric[TUNE_P50] = r->sample.metric[TUNE_P99] = NAN;
    r->sample.metric[TUNE_CPU] = NAN;
    if (out)
        take_figures(out, r);
    if (isnan(r->sample.metric[TUNE_CPU]) && cpu > 0)
        r->sample.metric[TUNE_CPU] = cpu / (r->sample.metric[TUNE_THROUGHPUT] * r->seconds);
    free(out);
    return end;
}
