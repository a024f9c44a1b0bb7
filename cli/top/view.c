/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - rows of text (view.h). */
#include <string.h>

#include "trace/dialogue.h"
#include "view.h"

void view_title(const struct top_look *l, const char *path, char row[VIEW_ROW])
{
    snprintf(row, VIEW_ROW, "toehold top - %s, %s, up %lld s, flows: %zu", path,
             top_word(l->stats, "address"), top_number(l->stats, "uptime_s"), l->flow_count);
}

void view_engine_head(char row[VIEW_ROW])
{
    snprintf(row, VIEW_ROW, "%-7s %6s %6s %8s %8s %8s %8s %8s %8s", "Engine", "CPU%", "Poll%",
             "Flows", "Opens/s", "RXpk/s", "TXpk/s", "RXB/s", "TXB/s");
}

static const char *percent(double v, char text[16])
{
    if (v < 0)
        snprintf(text, 16, "-");
    else
        snprintf(text, 16, "%.1f", v);
    return text;
}

void view_engine(const struct top_engine *e, char row[VIEW_ROW])
{
    char a[16], b[16], c[16], d[16], f[16], g[16], h[16];

    snprintf(row, VIEW_ROW, "%-7lld %6s %6s %8lld %8s %8s %8s %8s %8s", e->id, percent(e->cpu, a),
             percent(e->polling, b), e->flows, top_rate(e->opened, c), top_rate(e->rx, d),
             top_rate(e->tx, f), top_rate(e->rx_bytes, g), top_rate(e->tx_bytes, h));
}

void view_drop(const struct top_drop *d, char row[VIEW_ROW])
{
    char a[16];

    snprintf(row, VIEW_ROW, "%-7lld %8s/s %12lld  %s: %s", d->engine, top_rate(d->rate, a),
             d->total, d->name, d->help);
}

/* Marks the heading of the column in use. */
static const char *mark(enum top_sort by, enum top_sort column, const char *name, char text[16])
{
    snprintf(text, 16, "%s%s", by == column ? "*" : "", name);
    return text;
}

void view_flow_head(enum top_sort by, char row[VIEW_ROW])
{
    char a[16], b[16], c[16], d[16], e[16], f[16];

    snprintf(row, VIEW_ROW, "%8s %8s %8s %9s %8s %9s %-11s %-23s %-23s %s",
             mark(by, TOP_TX, "TXB/s", a), mark(by, TOP_RX, "RXB/s", b),
             mark(by, TOP_RETRANS, "Retr/s", c), mark(by, TOP_RTT, "RTT ms", d),
             mark(by, TOP_CWND, "cwnd", e), mark(by, TOP_QUEUE, "Queued", f), "State", "Local",
             "Peer", "Process");
}

void view_flow(const struct top_flow *f, char row[VIEW_ROW])
{
    const json_t *e = f->entry;
    char a[16], b[16], c[16], d[16];

    snprintf(row, VIEW_ROW, "%8s %8s %8s %9.3f %8s %9lld %-11s %-23s %-23s %s/%lld",
             top_rate(f->tx, a), top_rate(f->rx, b), top_rate(f->retrans, c),
             (double)top_number(e, "srtt_us") / 1e3,
             top_rate((double)top_number(e, "cwnd_bytes"), d),
             top_number(e, "send_queue") + top_number(e, "recv_queue"), top_word(e, "state"),
             f->local, f->remote, top_word(e, "process"), top_number(e, "pid"));
}

static void put_values(FILE *f, const json_t *entry, const char *const *names)
{
    for (; *names; names++)
        if (json_object_get(entry, *names))
            fprintf(f, " %s %lld", *names, top_number(entry, *names));
    fputc('\n', f);
}

static void put_events(FILE *f, const json_t *trace)
{
    const json_t *events = json_object_get(trace, "events"), *event;
    long long now = top_number(trace, "now_ns");
    size_t i, n = json_array_size(events);

    fprintf(f, "\nlast events, newest first, seconds ago\n");
    for (i = n; i-- > 0;) {
        event = json_array_get(events, i);
        fprintf(f, "%12.6f  ", (double)(now - top_number(event, "time_ns")) * 1e-9);
        dialogue_sentence(f, event);
        fputc('\n', f);
    }
}

void view_ended(FILE *f, const json_t *trace)
{
    dialogue_head(f, trace);
    fprintf(f, "ended: %s\n", top_word(trace, "reason"));
    put_events(f, trace);
}

void view_details(FILE *f, const struct top_flow *flow, const json_t *trace)
{
    static const char *const windows[] = {"cwnd_bytes", "ssthresh_bytes", "in_flight",  "snd_wnd",
                                          "rcv_wnd",    "send_queue",     "recv_queue", NULL};
    static const char *const times[] = {"srtt_us", "rttvar_us", "min_rtt_us",
                                        "rto_us",  "backoff",   NULL};
    static const char *const losses[] = {"retransmits", "timeouts", "lost_total", "sacked",
                                         "dsacks",      "undone",   NULL};
    static const char *const amounts[] = {
        "bytes_sent", "bytes_acked", "bytes_retrans", "bytes_received", "mss", "pmtu", NULL};
    static const char *const owner[] = {"engine", "qp", "uid", NULL};
    const json_t *e = flow->entry;

    fprintf(f, "flow %s: %s to %s\n", flow->id, flow->local, flow->remote);
    fprintf(f, "%s, pid %lld, %s, %s, %s:", top_word(e, "process"), top_number(e, "pid"),
            top_word(e, "toe"), top_word(e, "state"), top_word(e, "congestion"));
    put_values(f, e, owner);
    fputs("windows:", f);
    put_values(f, e, windows);
    fputs("times:", f);
    put_values(f, e, times);
    fputs("losses:", f);
    put_values(f, e, losses);
    fputs("amounts:", f);
    put_values(f, e, amounts);
    if (trace)
        put_events(f, trace);
}
