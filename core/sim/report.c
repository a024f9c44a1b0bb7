/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - writes the results of flows and links, and time series, as JSON or CSV (report.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static double seconds(toec_time t)
{
    return t > START ? (double)(t - START) / 1e9 : 0;
}

/* ---- series ---- */

static double *grow(double *a, size_t room)
{
    return must(realloc(a, room * sizeof(*a)));
}

static void sample_flow(struct flow *f, double t)
{
    struct series *s = &f->series;

    if (s->n == s->room) {
        s->room = s->room ? s->room * 2 : 256;
        s->t = grow(s->t, s->room);
        s->cwnd = grow(s->cwnd, s->room);
        s->ssthresh = grow(s->ssthresh, s->room);
        s->srtt = grow(s->srtt, s->room);
        s->in_flight = grow(s->in_flight, s->room);
        s->acked = grow(s->acked, s->room);
        s->retransmits = grow(s->retransmits, s->room);
    }
    if (f->a.tcb)
        toec_flow_info(f->a.stack, f->a.tcb, &f->last);
    s->t[s->n] = t;
    s->cwnd[s->n] = f->last.cwnd;
    s->ssthresh[s->n] = f->last.ssthresh;
    s->srtt[s->n] = f->last.srtt_us / 1e6;
    s->in_flight[s->n] = f->a.tcb ? f->last.in_flight : 0;
    s->acked[s->n] = (double)f->acked;
    s->retransmits[s->n++] = f->last.retransmits;
}

void report_sample(struct net *n)
{
    double t = seconds(n->now);
    unsigned i;

    for (i = 0; i < n->flows; i++) {
        if (n->flow[i]->open)
            sample_flow(n->flow[i], t);
    }
    if (n->queue_n == n->queue_room) {
        n->queue_room = n->queue_room ? n->queue_room * 2 : 256;
        n->queue_t = grow(n->queue_t, n->queue_room);
        n->queue_bytes = grow(n->queue_bytes, n->queue_room);
        n->queue_drops = grow(n->queue_drops, n->queue_room);
        n->queue_marks = grow(n->queue_marks, n->queue_room);
    }
    n->queue_t[n->queue_n] = t;
    n->queue_bytes[n->queue_n] = n->fwd.bytes;
    n->queue_drops[n->queue_n] = (double)(n->fwd.dropped + n->fwd.aqm_dropped + n->fwd.lost);
    n->queue_marks[n->queue_n++] = (double)n->fwd.marked;
}

/* ---- JSON ---- */

static void put_array(FILE *o, const char *name, const double *a, size_t n, const char *end)
{
    size_t i;

    fprintf(o, "\"%s\":[", name);
    for (i = 0; i < n; i++)
        fprintf(o, "%s%.9g", i ? "," : "", a[i]);
    fprintf(o, "]%s", end);
}

static void put_string(FILE *o, const char *s)
{
    putc('"', o);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putc('\\', o);
        if ((unsigned char)*s >= ' ')
            putc(*s, o);
    }
    putc('"', o);
}

static void put_link(FILE *o, const char *name, const struct link *l)
{
    double span = (double)(l->net->now - START);

    fprintf(o,
            "\"%s\":{\"rate\":%.9g,\"delay\":%.9g,\"limit\":%u,\"in\":%llu,\"out\":%llu,"
            "\"out_bytes\":%llu,\"lost\":%llu,\"dropped\":%llu,\"aqm_dropped\":%llu,"
            "\"marked\":%llu,\"duplicated\":%llu,\"reordered\":%llu,\"max_bytes\":%u,"
            "\"mean_bytes\":%.1f},\n",
            name, l->rate, (double)l->delay / 1e9, l->limit, (unsigned long long)l->in,
            (unsigned long long)l->out, (unsigned long long)l->out_bytes,
            (unsigned long long)l->lost, (unsigned long long)l->dropped,
            (unsigned long long)l->aqm_dropped, (unsigned long long)l->marked,
            (unsigned long long)l->duplicated, (unsigned long long)l->reordered, l->max_bytes,
            l->byte_ns / span);
}

/* Prints the counters of one host that are not 0. */
static void put_counters(FILE *o, const char *name, const struct host *h)
{
#define NAME(name, description) #name,
    static const char *const names[] = {TOEC_COUNTERS(NAME)};
#undef NAME
    const toec_u64 *c = h->stack ? toec_counters(h->stack) : 0;
    int first = 1, i;

    fprintf(o, "\"%s\":{", name);
    for (i = 0; c && i < TOEC_C_MAX; i++) {
        if (c[i]) {
            fprintf(o, "%s\"%s\":%llu", first ? "" : ",", names[i], c[i]);
            first = 0;
        }
    }
    fputs("},", o);
}

static void put_flow(FILE *o, const struct flow *f)
{
    const struct net *n = f->net;
    toec_time from = START + n->warmup, to = n->now;
    const struct series *s = &f->series;
    double span;

    if (f->start > from)
        from = f->start;
    if (f->stop && f->stop < to)
        to = f->stop;
    if (f->finished)
        to = f->finished;
    span = to > from ? (double)(to - from) / 1e9 : 0;
    fprintf(o, "{\"cc\":\"%s\",\"start\":%.9g,\"established\":%.9g,\"finished\":", f->cc,
            seconds(f->start), seconds(f->established));
    if (f->finished)
        fprintf(o, "%.9g", seconds(f->finished));
    else
        fputs("null", o);
    fprintf(o,
            ",\"gone\":%d,\"gone_reason\":%u,\"mss\":%u,\"acked\":%llu,\"received\":%llu,"
            "\"throughput\":%.9g,\"max_gap\":%.9g,\"max_gap_at\":%.9g,\"retransmits\":%u,"
            "\"srtt\":%.9g,\"min_rtt\":%.9g,",
            f->gone, f->gone_reason, f->seg, (unsigned long long)f->acked,
            (unsigned long long)f->received,
            span > 0 ? (double)(f->acked - f->acked_at_warmup) * 8 / span : 0, (double)f->gap / 1e9,
            seconds(f->gap_at), f->last.retransmits, f->last.srtt_us / 1e6,
            f->last.min_rtt_us / 1e6);
    put_counters(o, "sender", &f->a);
    put_counters(o, "receiver", &f->b);
    fputs("\n  \"series\":{", o);
    put_array(o, "t", s->t, s->n, ",");
    put_array(o, "cwnd", s->cwnd, s->n, ",");
    put_array(o, "ssthresh", s->ssthresh, s->n, ",");
    put_array(o, "srtt", s->srtt, s->n, ",");
    put_array(o, "in_flight", s->in_flight, s->n, ",");
    put_array(o, "acked", s->acked, s->n, ",");
    put_array(o, "retransmits", s->retransmits, s->n, "}}");
}

static FILE *open_out(const char *path)
{
    FILE *o = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");

    if (!o)
        perror(path);
    return o;
}

static int close_out(FILE *o, const char *path)
{
    int bad = ferror(o);

    if ((o == stdout ? fflush(o) : fclose(o)) || bad) {
        fprintf(stderr, "netsim: %s could not be written\n", path);
        return -1;
    }
    return 0;
}

int report_json(const struct net *n, const char *path, int argc, char **argv)
{
    FILE *o = open_out(path);
    unsigned i;
    int a;

    if (!o)
        return -1;
    fputs("{\"scenario\":[", o);
    for (a = 1; a < argc; a++) {
        if (a > 1)
            putc(',', o);
        put_string(o, argv[a]);
    }
    fprintf(o, "],\n\"seed\":%llu,\"time\":%.9g,\"warmup\":%.9g,\"events\":%llu,\n",
            (unsigned long long)n->seed, (double)n->duration / 1e9, (double)n->warmup / 1e9,
            (unsigned long long)n->events);
    put_link(o, "fwd", &n->fwd);
    put_link(o, "rev", &n->rev);
    fputs("\"flows\":[\n", o);
    for (i = 0; i < n->flows; i++) {
        put_flow(o, n->flow[i]);
        fputs(i + 1 < n->flows ? ",\n" : "\n", o);
    }
    fputs("],\n\"queue\":{", o);
    put_array(o, "t", n->queue_t, n->queue_n, ",");
    put_array(o, "bytes", n->queue_bytes, n->queue_n, ",");
    put_array(o, "drops", n->queue_drops, n->queue_n, ",");
    put_array(o, "marks", n->queue_marks, n->queue_n, "}}\n");
    return close_out(o, path);
}

/* ---- CSV: one line per flow and sample ---- */

int report_csv(const struct net *n, const char *path)
{
    FILE *o = open_out(path);
    unsigned i;
    size_t k;

    if (!o)
        return -1;
    fputs("flow,cc,t,cwnd,ssthresh,srtt,in_flight,acked,retransmits,queue\n", o);
    for (i = 0; i < n->flows; i++) {
        const struct flow *f = n->flow[i];
        const struct series *s = &f->series;
        size_t skip = n->queue_n - s->n; /* samples taken before the flow began */

        for (k = 0; k < s->n; k++)
            fprintf(o, "%u,%s,%.6f,%.0f,%.0f,%.6f,%.0f,%.0f,%.0f,%.0f\n", i, f->cc, s->t[k],
                    s->cwnd[k], s->ssthresh[k], s->srtt[k], s->in_flight[k], s->acked[k],
                    s->retransmits[k], n->queue_bytes[skip + k]);
    }
    return close_out(o, path);
}
