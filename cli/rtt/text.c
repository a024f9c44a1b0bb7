/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - a result as text: figures, percentiles, a histogram; redrawn on a terminal. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#define ROWS 16u
#define BAR  40u

static const double percents[] = {50, 90, 99, 99.9};

const char *text_time(double ns, char buf[32])
{
    if (ns < 10000)
        snprintf(buf, 32, "%.*f ns", ns == (double)(uint64_t)ns ? 0 : 2, ns);
    else if (ns < 1e7)
        snprintf(buf, 32, "%.2f us", ns / 1e3);
    else if (ns < 1e10)
        snprintf(buf, 32, "%.3f ms", ns / 1e6);
    else
        snprintf(buf, 32, "%.3f s", ns / 1e9);
    return buf;
}

static bool coloured(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    /* no-color.org: any value that is not empty turns colour off. */
    return !(no_color && *no_color) && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

struct pen {
    const char *head, *bar, *end;
    unsigned lines;
};

static struct pen pen(void)
{
    if (coloured())
        return (struct pen){"\033[1m", "\033[36m", "\033[0m", 0};
    return (struct pen){"", "", "", 0};
}

static void line(struct pen *p, const char *title, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void line(struct pen *p, const char *title, const char *format, ...)
{
    va_list args;

    printf("%s%-12s%s", p->head, title, p->end);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    p->lines++;
}

static void print_times(const struct result *r, struct pen *p)
{
    char a[32], b[32], c[32], d[32];

    line(p, "rtt", "min %s, mean %s, max %s, spread %s, deviation %s", text_time((double)r->min, a),
         text_time(result_mean(r), b), text_time((double)r->max, c),
         text_time((double)(r->max - r->min), d), text_time(result_deviation(r), (char[32]){0}));
    line(p, "percentiles", "50 %s, 90 %s, 99 %s, 99.9 %s",
         text_time((double)hist_percentile(r->hist, percents[0]), a),
         text_time((double)hist_percentile(r->hist, percents[1]), b),
         text_time((double)hist_percentile(r->hist, percents[2]), c),
         text_time((double)hist_percentile(r->hist, percents[3]), d));
}

static void print_histogram(const struct result *r, struct pen *p)
{
    static const char full[] = "########################################";
    struct bin bins[BINS_MAX];
    unsigned n = result_bins(r, bins, ROWS), i;
    uint64_t most = 1;
    char a[32];

    for (i = 0; i < n; i++)
        most = bins[i].count > most ? bins[i].count : most;
    for (i = 0; i < n; i++) {
        /* Rounds up: every count that is not 0 is visible. */
        unsigned len = (unsigned)((bins[i].count * BAR + most - 1) / most);

        printf("  %14s  %s%-*.*s%s %" PRIu64 "\n", text_time((double)bins[i].from, a), p->bar,
               (int)BAR, (int)len, full, p->end, bins[i].count);
        p->lines++;
    }
}

static void print_all(const struct rtt *rtt, struct pen *p, bool last)
{
    const struct result *r = &rtt->result;
    const struct interval *i = r->interval_count ? &r->intervals[r->interval_count - 1] : NULL;
    double seconds = (double)(last ? r->length_ns : rtt_at(rtt)) / 1e9;
    unsigned k;
    char a[32];

    if (r->source.resolution_ns > 0)
        line(p, "source", "%s: %s; resolution %s", r->source.name, r->source.what,
             text_time(r->source.resolution_ns, a));
    else
        line(p, "source", "%s: %s; resolution unknown", r->source.name, r->source.what);
    line(p, "clock", "%s", r->source.clock);
    line(p, "measured", "%s", r->measured);
    line(p, "samples", "%" PRIu64 " in %.1f s, %.1f a second", result_samples(r), seconds,
         seconds > 0 ? (double)result_samples(r) / seconds : 0);
    for (k = 0; k < r->count_count; k++)
        if (r->counts[k].value || !strcmp(r->counts[k].name, "lost"))
            line(p, "", "%-18s %12" PRIu64 "  %s", r->counts[k].name, r->counts[k].value,
                 r->counts[k].text);
    if (result_samples(r) == 0)
        return;
    if (!last && i && i->samples)
        line(p, "last", "%" PRIu64 " samples, mean %s", i->samples,
             text_time(i->sum / (double)i->samples, a));
    print_times(r, p);
    print_histogram(r, p);
}

/* Redraws the figures on a terminal; elsewhere prints one line. */
void text_live(struct rtt *rtt)
{
    const struct result *r = &rtt->result;
    struct pen p = pen();
    char a[32], b[32], c[32];

    if (!isatty(STDOUT_FILENO)) {
        printf("%.1f s: %" PRIu64 " samples", (double)rtt_at(rtt) / 1e9, result_samples(r));
        if (result_samples(r))
            printf(", min %s, mean %s, 99 %% %s", text_time((double)r->min, a),
                   text_time(result_mean(r), b),
                   text_time((double)hist_percentile(r->hist, 99), c));
        printf(", lost %" PRIu64 "\n", result_counted(r, "lost"));
        fflush(stdout);
        return;
    }
    if (rtt->printed_lines)
        printf("\033[%uA\033[J", rtt->printed_lines);
    print_all(rtt, &p, false);
    rtt->printed_lines = p.lines;
    fflush(stdout);
}

void text_result(const struct rtt *rtt)
{
    struct pen p = pen();

    if (rtt->printed_lines)
        printf("\033[%uA\033[J", rtt->printed_lines);
    print_all(rtt, &p, true);
}
