/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.c - the time-sequence picture of a flow: three panels with one time axis (svg.h). Lines are
 * drawn between samples; retransmissions and timeouts are at the times of their events.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <toe/device.h>

#include "common/svg.h"
#include "find.h"
#include "svg.h"
#include "svg_latency.h"

#define WIDTH     1000
#define LEFT      90
#define RIGHT     20
#define TOP       70
#define PANEL     260
#define SMALL     120
#define GAP       50
#define LINES_MAX 5
#define NO_VALUE  (-1.0)

/* What is drawn of a sample. */
struct line {
    const char *label, *colour;
    const char *value; /* name of the sample's value */
    const char *minus; /* ... less this one; NULL: none */
};

struct panel {
    const char *title;
    int top, height;
    double low, high; /* values at the bottom and the top */
    struct line lines[LINES_MAX];
};

struct span {
    long long from, to; /* ns */
};

static long long number(const json_t *entry, const char *name)
{
    return json_integer_value(json_object_get(entry, name));
}

static double at_x(const struct span *s, long long t)
{
    double part = s->to > s->from ? (double)(t - s->from) / (double)(s->to - s->from) : 0;

    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct panel *p, double v)
{
    double part = p->high > p->low ? (v - p->low) / (p->high - p->low) : 0.5;

    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return p->top + p->height - part * p->height;
}

static double value_of(const json_t *sample, const struct line *l)
{
    long long v = number(sample, l->value);

    if (strcmp(l->value, "ssthresh") == 0 && (v == 0 || v >= TOEDEV_SSTHRESH_NONE))
        return NO_VALUE;
    return (double)(l->minus ? v - number(sample, l->minus) : v);
}

/* Sets the range of a panel to that of its lines. */
static void fit(struct panel *p, const json_t *samples)
{
    const json_t *sample;
    size_t i, k;
    bool any = false;

    json_array_foreach(samples, i, sample)
    {
        for (k = 0; k < LINES_MAX && p->lines[k].label; k++) {
            double v = value_of(sample, &p->lines[k]);

            if (v < 0)
                continue;
            p->low = any && p->low < v ? p->low : v;
            p->high = any && p->high > v ? p->high : v;
            any = true;
        }
    }
}

static void draw_line(FILE *f, const struct panel *p, const struct line *l, const struct span *s,
                      const json_t *samples)
{
    const json_t *sample;
    double before = NO_VALUE;
    size_t i;

    fprintf(f, "<path class=\"%s\" fill=\"none\" stroke=\"%s\" d=\"", l->value, l->colour);
    json_array_foreach(samples, i, sample)
    {
        double v = value_of(sample, l), x = at_x(s, number(sample, "time_ns"));

        if (v >= 0 && before < 0)
            fprintf(f, "M%.1f %.1f", x, at_y(p, v));
        else if (v >= 0) /* steps: a value holds until the next sample */
            fprintf(f, "H%.1fV%.1f", x, at_y(p, v));
        before = v;
    }
    fputs("\"/>\n", f);
}

static void draw_panel(FILE *f, struct panel *p, const struct span *s, const json_t *samples)
{
    char label[40];
    double x = LEFT + 6;
    size_t k;

    fit(p, samples);
    fprintf(f,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n",
            LEFT, p->top, WIDTH - LEFT - RIGHT, p->height);
    cli_svg_text(f, LEFT, p->top - 20, "start", p->title);
    snprintf(label, sizeof label, "%.0f", p->high);
    cli_svg_text(f, LEFT - 6, p->top + 8, "end", label);
    snprintf(label, sizeof label, "%.0f", p->low);
    cli_svg_text(f, LEFT - 6, p->top + p->height, "end", label);
    for (k = 0; k < LINES_MAX && p->lines[k].label; k++) {
        draw_line(f, p, &p->lines[k], s, samples);
        fprintf(f, "<path d=\"M%.1f %d h14\" stroke=\"%s\" stroke-width=\"3\"/>\n", x, p->top - 8,
                p->lines[k].colour);
        cli_svg_text(f, x + 18, p->top - 4, "start", p->lines[k].label);
        x += 40 + 7 * (double)strlen(p->lines[k].label);
    }
}

/* What was sent between two samples, as bars from the old SND.NXT to the new one. */
static void draw_sent(FILE *f, const struct panel *p, const struct span *s, const json_t *samples)
{
    const json_t *sample;
    long long before = -1;
    size_t i;

    json_array_foreach(samples, i, sample)
    {
        long long nxt = number(sample, "snd_nxt");
        double x = at_x(s, number(sample, "time_ns"));

        if (before >= 0 && nxt > before)
            fprintf(f,
                    "<path class=\"segment\" d=\"M%.1f %.1fV%.1f\" stroke=\"#000\" "
                    "stroke-width=\"2\"/>\n",
                    x, at_y(p, (double)before), at_y(p, (double)nxt));
        before = nxt;
    }
}

/* The sequence number of an event, modulo 2^32, near the streams' position. */
static double near(long long seq, long long around)
{
    return (double)(around + (int)(unsigned)((unsigned long long)seq - (unsigned long long)around));
}

static void draw_events(FILE *f, const struct panel *p, const struct span *s, const json_t *flow)
{
    const json_t *samples = json_object_get(flow, "samples"), *event;
    const json_t *last = json_array_get(samples, json_array_size(samples) - 1);
    size_t i;

    json_array_foreach(json_object_get(flow, "events"), i, event)
    {
        const char *name = json_string_value(json_object_get(event, "event"));
        long long at = number(event, "time_ns");
        double seq = near(number(event, "seq"), number(last, "snd_una")), x = at_x(s, at);

        if (!name || at < s->from || at > s->to)
            continue;
        if (strcmp(name, "retransmit") == 0)
            fprintf(f,
                    "<path class=\"retransmit\" d=\"M%.1f %.1fV%.1f\" stroke=\"#c00\" "
                    "stroke-width=\"3\"/>\n",
                    x, at_y(p, seq), at_y(p, seq + (double)number(event, "bytes")));
        else if (strcmp(name, "timeout") == 0 || strcmp(name, "tail_probe") == 0 ||
                 strcmp(name, "recovery") == 0)
            fprintf(f,
                    "<g class=\"%s\"><path d=\"M%.1f %.1fl-4 8h8z\" fill=\"#c00\"/><title>%s at "
                    "seq %.0f</title></g>\n",
                    name, x, at_y(p, seq), name, seq);
    }
}

static void draw(FILE *f, const json_t *flow, const struct span *s)
{
    const json_t *samples = json_object_get(flow, "samples");
    char end[32];
    struct panel panels[] = {
        {.title = "sent stream, relative sequence numbers",
         .top = TOP + 30,
         .height = PANEL,
         .lines = {{"acknowledged (SND.UNA)", "#080", "snd_una", NULL},
                   {"sent (SND.NXT)", "#000", "snd_nxt", NULL},
                   {"peer's window", "#06c", "snd_edge", NULL},
                   {"amount SACKed, below SND.NXT", "#a0a", "snd_nxt", "sacked"}}},
        {.title = "congestion window, bytes",
         .top = TOP + 30 + PANEL + GAP,
         .height = SMALL,
         .lines = {{"cwnd", "#06c", "cwnd", NULL},
                   {"ssthresh", "#c60", "ssthresh", NULL},
                   {"in flight", "#000", "snd_nxt", "snd_una"}}},
        {.title = "received stream, relative sequence numbers",
         .top = TOP + 30 + PANEL + SMALL + 2 * GAP,
         .height = SMALL,
         .lines = {{"received (RCV.NXT)", "#080", "rcv_nxt", NULL},
                   {"own window", "#06c", "rcv_edge", NULL}}},
    };
    size_t i;

    for (i = 0; i < sizeof panels / sizeof *panels; i++)
        draw_panel(f, &panels[i], s, samples);
    draw_sent(f, &panels[0], s, samples);
    draw_events(f, &panels[0], s, flow);
    i = sizeof panels / sizeof *panels - 1;
    if (json_array_size(json_object_get(flow, "exchanges"))) {
        struct svg_frame at = {.left = LEFT,
                               .right = WIDTH - RIGHT,
                               .top = panels[i].top + panels[i].height + GAP,
                               .height = SMALL,
                               .from = s->from,
                               .to = s->to};

        svg_latency(f, json_object_get(flow, "exchanges"), &at);
    }
    cli_svg_text(f, LEFT, panels[i].top + panels[i].height + 16, "start", "0 s");
    snprintf(end, sizeof end, "%.3f s", (double)(s->to - s->from) * 1e-9);
    cli_svg_text(f, WIDTH - RIGHT, panels[i].top + panels[i].height + 16, "end", end);
}

static void head(FILE *f, const json_t *flow)
{
    int more = json_array_size(json_object_get(flow, "exchanges")) ? SMALL + GAP : 0;
    int height = TOP + 30 + PANEL + 2 * SMALL + 2 * GAP + 40 + more;
    char local[80], remote[80], line[512];

    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
            WIDTH, height, WIDTH, height, WIDTH, height);
    find_end_text(flow, "local", "local_port", local, sizeof local);
    find_end_text(flow, "remote", "remote_port", remote, sizeof remote);
    snprintf(line, sizeof line, "flow %s: %s to %s, %s, pid %lld",
             json_string_value(json_object_get(flow, "flow")), local, remote,
             json_string_value(json_object_get(flow, "process")), number(flow, "pid"));
    cli_svg_text(f, LEFT, 24, "start", line);
    cli_svg_text(f, LEFT, 42, "start",
                 "red bars: retransmissions; red marks: timeouts, tail loss probes, fast recovery");
}

bool svg_writable(const char *path, char *why, size_t size)
{
    FILE *f = fopen(path, "we");

    if (f && fclose(f) == 0)
        return true;
    snprintf(why, size, "cannot write %s: %s", path, strerror(errno));
    return false;
}

bool svg_trace(const json_t *flow, const char *path, char *why, size_t size)
{
    const json_t *samples = json_object_get(flow, "samples");
    size_t n = json_array_size(samples);
    struct span s;
    FILE *f;
    bool ok;

    if (n == 0) {
        snprintf(why, size, "no picture: the flow had ended before the first sample");
        return false;
    }
    f = fopen(path, "we");
    if (!f) {
        snprintf(why, size, "cannot write %s: %s", path, strerror(errno));
        return false;
    }
    s.from = number(json_array_get(samples, 0), "time_ns");
    s.to = number(json_array_get(samples, n - 1), "time_ns");
    if (s.to < number(flow, "now_ns")) /* what happened between the last sample and the end */
        s.to = number(flow, "now_ns");
    head(f, flow);
    draw(f, flow, &s);
    fputs("</svg>\n", f);
    ok = !ferror(f);
    if (fclose(f) != 0 || !ok) {
        snprintf(why, size, "cannot write %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}
