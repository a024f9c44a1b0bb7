/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - prints the result as a table or JSON, writes the HdrHistogram log. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common.h"
#include "hlog.h"
#include "result.h"

static const struct {
    const char *name;
    double percent;
} percentiles[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99_9", 99.9}, {"p99_99", 99.99}};

#define PERCENTILES (sizeof percentiles / sizeof percentiles[0])

static const char *mode_name(const struct load_options *o)
{
    return o->mode == LOAD_PINGPONG ? "pingpong"
           : o->mode == LOAD_BULK   ? "bulk"
           : o->mode == LOAD_CONNS  ? "conns"
                                    : "http";
}

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static json_t *latency_json(const struct hist *h)
{
    json_t *j = json_object();
    size_t i;

    json_object_set_new(j, "count", number(h->total));
    json_object_set_new(j, "min", number(h->total ? h->min : 0));
    json_object_set_new(j, "mean", json_real(h->total ? h->sum / (double)h->total : 0));
    for (i = 0; i < PERCENTILES; i++)
        json_object_set_new(j, percentiles[i].name,
                            number(hist_percentile(h, percentiles[i].percent)));
    json_object_set_new(j, "max", number(h->max));
    return j;
}

static json_t *seconds_json(const struct tally *t)
{
    json_t *list = json_array();
    struct hist *h = hist_new();
    uint32_t i;

    for (i = 0; h && i < t->interval_count; i++) {
        const struct interval *in = &t->intervals[i];
        json_t *j;

        hist_reset(h);
        interval_unpack(in, h);
        j = latency_json(h);
        json_object_set_new(j, "second", number(in->second));
        json_object_set_new(j, "bytes", number(in->bytes));
        json_array_append_new(list, j);
    }
    free(h);
    return list;
}

static json_t *failures_json(const struct tally *t)
{
    json_t *j = json_object();
    int i;

    for (i = 0; i < FAIL_MAX; i++)
        if (t->failures[i])
            json_object_set_new(j, fail_name(i), number(t->failures[i]));
    return j;
}

static json_t *statuses_json(const struct tally *t)
{
    json_t *j = json_object();
    char name[8];
    int i;

    for (i = 0; i < 1000; i++)
        if (t->statuses[i]) {
            snprintf(name, sizeof name, "%d", i);
            json_object_set_new(j, name, number(t->statuses[i]));
        }
    return j;
}

static json_t *settings_json(const struct load_options *o)
{
    json_t *j = json_object();

    json_object_set_new(j, "to", json_string(o->url ? o->url : o->where));
    json_object_set_new(j, "api", json_string(o->calls->name));
    json_object_set_new(j, "connections", number(o->connections));
    json_object_set_new(j, "idle", number(o->idle));
    json_object_set_new(j, "at_once", number(o->at_once));
    json_object_set_new(j, "ports", number(o->ports));
    json_object_set_new(j, "threads", number(o->threads));
    json_object_set_new(j, "time_s", json_real((double)o->time_ns / 1e9));
    json_object_set_new(j, "warmup_s", json_real((double)o->warmup_ns / 1e9));
    json_object_set_new(j, "rate", o->rate > 0 ? json_real(o->rate) : json_null());
    json_object_set_new(j, "busy", json_boolean(o->busy));
    json_object_set_new(j, "verify", json_boolean(o->verify));
    json_object_set_new(j, "fresh", json_boolean(o->fresh));
    if (o->mode == LOAD_BULK) {
        json_object_set_new(j, "message", number(o->message));
        json_object_set_new(j, "zero_copy", json_boolean(o->zero_copy));
        json_object_set_new(j, "direction", json_string(o->down ? "down" : "up"));
    } else if (o->mode != LOAD_HTTP) {
        json_object_set_new(j, "size", number(o->size));
    }
    return j;
}

static double per_second(uint64_t n, double seconds)
{
    return seconds > 0 ? (double)n / seconds : 0;
}

/* Returns the CPU time of this process since its start, user and system. */
static double cpu_seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Returns whether the run ended by a signal, or because no connection was left. */
static bool ended_early(const struct run *run, double seconds)
{
    return run->gave_up || (load_interrupted && seconds < (double)run->o->time_ns / 1e9);
}

static void print_json(const struct run *run, const struct tally *t, double seconds)
{
    const struct load_options *o = run->o;
    json_t *j = json_object();

    json_object_set_new(j, "mode", json_string(mode_name(o)));
    json_object_set_new(j, "settings", settings_json(o));
    json_object_set_new(j, "seconds", json_real(seconds));
    json_object_set_new(j, "ended_early", json_boolean(ended_early(run, seconds)));
    json_object_set_new(j, "connections", number(t->connections));
    json_object_set_new(j, "sent", number(t->sent));
    json_object_set_new(j, "answered", number(t->answered));
    json_object_set_new(j, "requests", number(t->in_window));
    json_object_set_new(j, "requests_per_s", json_real(per_second(t->in_window, seconds)));
    json_object_set_new(j, "bytes", number(t->bytes_in_window));
    json_object_set_new(j, "bytes_per_s", json_real(per_second(t->bytes_in_window, seconds)));
    json_object_set_new(j, "unanswered", number(t->unanswered));
    json_object_set_new(j, "idle_lost", number(t->idle_lost));
    json_object_set_new(j, "cpu_s", json_real(cpu_seconds()));
    if (o->mode == LOAD_BULK)
        json_object_set_new(j, "bytes_in_all", number(t->bytes));
    if (o->zero_copy && !o->down) {
        json_object_set_new(j, "zero_copy_sends", number(t->zc_completed));
        json_object_set_new(j, "zero_copy_copied", number(t->zc_copied));
    }
    json_object_set_new(j, "resident_before", number(t->resident));
    json_object_set_new(j, "resident_connected", number(t->resident_connected));
    json_object_set_new(j, "own_bytes_per_connection", number(sizeof(struct conn)));
    json_object_set_new(j, "errors", failures_json(t));
    if (o->mode == LOAD_HTTP)
        json_object_set_new(j, "statuses", statuses_json(t));
    if (o->mode != LOAD_BULK)
        json_object_set_new(j, "latency_ns", latency_json(t->all));
    json_object_set_new(j, "by_second", seconds_json(t));
    json_dumpf(j, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(j);
}

static void print_table(const struct load_options *o, const struct tally *t, double seconds)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bool plain =
        (no_color && *no_color) || !isatty(STDOUT_FILENO) || !term || !strcmp(term, "dumb");
    const char *what = o->mode == LOAD_CONNS ? "connections" : "requests";
    size_t i;
    int f;

    printf("%s%s %s%s, %u connection%s, %.1f s\n", plain ? "" : "\033[1m", mode_name(o),
           o->url ? o->url : o->where, plain ? "" : "\033[0m", o->connections,
           o->connections == 1 ? "" : "s", seconds);
    if (o->mode != LOAD_BULK)
        printf("  %-14s %14.0f /s   %llu in all\n", what, per_second(t->in_window, seconds),
               (unsigned long long)t->in_window);
    printf("  %-14s %14.2f MiB/s\n", "payload", per_second(t->bytes_in_window, seconds) / 1048576);
    for (i = 0; t->all->total && i < PERCENTILES; i++)
        printf("  %s%-7g %14.1f us\n", "latency %", percentiles[i].percent,
               (double)hist_percentile(t->all, percentiles[i].percent) / 1e3);
    if (t->all->total)
        printf("  %-14s %16.1f us\n", "latency max", (double)t->all->max / 1e3);
    if (t->unanswered)
        printf("  %-14s %14llu\n", "unanswered", (unsigned long long)t->unanswered);
    for (f = 0; f < 1000; f++)
        if (t->statuses[f] && (uint32_t)f != o->expect_status)
            printf("  status %-7d %14llu   %u was expected\n", f,
                   (unsigned long long)t->statuses[f], o->expect_status);
    for (f = 0; f < FAIL_MAX; f++)
        if (t->failures[f])
            printf("  %-14s %14llu   %s\n", fail_name(f), (unsigned long long)t->failures[f],
                   fail_text(f));
}

static int write_log(const struct run *run, const struct tally *t, double seconds)
{
    const char *path = run->o->hdr;
    struct hist *h = hist_new();
    FILE *f = fopen(path, "we");
    int rc = h ? 0 : -1;
    uint32_t i;
    bool lost;

    if (!f) {
        load_message("--hdr %s: %s", path, strerror(errno));
        free(h);
        return -1;
    }
    hlog_begin(f, run->epoch_of_record, "toehold bench; values are nanoseconds");
    for (i = 0; rc == 0 && i < t->interval_count; i++) {
        const struct interval *in = &t->intervals[i];
        double at = (double)in->second, left = seconds - at;

        hist_reset(h);
        interval_unpack(in, h);
        rc = hlog_interval(f, at, left < 1 ? left : 1, h);
    }
    free(h);
    lost = ferror(f) != 0;
    if (fclose(f) != 0 || lost || rc != 0) {
        load_message("--hdr %s: %s", path, rc ? "no memory" : strerror(errno));
        return -1;
    }
    return 0;
}

int result_check_log(const struct load_options *o)
{
    FILE *f = o->hdr ? fopen(o->hdr, "ae") : NULL;

    if (o->hdr && !f) {
        load_message("--hdr %s: %s", o->hdr, strerror(errno));
        return -1;
    }
    if (f)
        fclose(f);
    return 0;
}

/* Returns whether there is any figure: an answered request, or bytes of a stream. */
static bool measured(const struct load_options *o, const struct tally *t, double seconds)
{
    return o->mode == LOAD_BULK ? seconds > 0 && t->bytes > 0
                                : t->answered && (t->in_window || t->all->total);
}

/* Reports failures and an early end. */
static void report_failures(const struct run *run, const struct tally *t, double seconds)
{
    const struct load_options *o = run->o;
    double whole = (double)o->time_ns / 1e9;

    if (t->failed)
        load_message("%llu failure%s; the first: %s", (unsigned long long)t->failed,
                     t->failed == 1 ? "" : "s", fail_text(t->first_failure));
    if (t->unanswered)
        load_message("%llu %s no answer within --timeout %g s of the end",
                     (unsigned long long)t->unanswered, t->unanswered == 1 ? "has" : "have",
                     (double)o->timeout_ns / 1e9);
    if (ended_early(run, seconds))
        load_message("ended after %.3f of %g s of the measured time: %s", seconds, whole,
                     load_interrupted ? "interrupted"
                     : o->fresh       ? "every attempt failed"
                                      : "all connections have failed");
    if (!measured(o, t, seconds))
        load_message("nothing was measured: %s", seconds <= 0 ? "it ended before the measured time"
                                                 : o->mode == LOAD_BULK ? "no byte passed"
                                                 : !t->answered         ? "nothing was answered"
                                                 : o->rate > 0 && !t->failed
                                                     ? "nothing was due within --duration"
                                                     : "nothing was begun within --duration");
}

int result_report(const struct run *run, const struct tally *t, double seconds)
{
    const struct load_options *o = run->o;

    if (!o->quiet && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    report_failures(run, t, seconds);
    if (o->json)
        print_json(run, t, seconds);
    else
        print_table(o, t, seconds);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        load_message("cannot write: %s", strerror(errno));
        return LOAD_FAILURE;
    }
    if (o->hdr && write_log(run, t, seconds) != 0)
        return LOAD_FAILURE;
    if (!measured(o, t, seconds))
        return LOAD_FAILURE;
    return t->failed || t->unanswered || run->gave_up ? LOAD_ERRORS : LOAD_OK;
}
