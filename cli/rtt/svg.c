/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c - a plot: samples over time, and below their histogram. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../common/svg.h"
#include "svg.h"
#include "text.h"

#define WIDTH  800
#define HEIGHT 560
#define LEFT   80
#define RIGHT  20
#define ABOVE  70  /* top of the samples */
#define MIDDLE 300 /* bottom of the samples */
#define BELOW  340 /* top of the histogram */
#define END    520
#define DOTS   5000u

static void frame(FILE *f, int from, int to)
{
    fprintf(f,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n",
            LEFT, from, WIDTH - LEFT - RIGHT, to - from);
}

static double scaled(double v, double low, double high, double from, double to)
{
    return high > low ? from + (v - low) / (high - low) * (to - from) : (from + to) / 2;
}

static void plot_samples(FILE *f, const struct result *r)
{
    size_t i, step = r->kept_count / DOTS + 1;
    double end = (double)(r->length_ns ? r->length_ns : 1);
    char a[32];

    frame(f, ABOVE, MIDDLE);
    cli_svg_text(f, LEFT - 6, MIDDLE, "end", text_time((double)r->min, a));
    cli_svg_text(f, LEFT - 6, ABOVE + 8, "end", text_time((double)r->max, a));
    cli_svg_text(f, LEFT, MIDDLE + 16, "start", "0 s");
    cli_svg_text(f, WIDTH - RIGHT, MIDDLE + 16, "end", text_time(end, a));
    for (i = 0; i < r->kept_count; i += step) {
        const struct sample *s = &r->kept[i];
        double x = scaled((double)s->at_ns, 0, end, LEFT, WIDTH - RIGHT);

        if (s->rtt_ns == UINT64_MAX)
            fprintf(f, "<path d=\"M%.1f %d v8\" stroke=\"#c00\"/>\n", x, ABOVE);
        else
            fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.5\" fill=\"#06c\"/>\n", x,
                    scaled((double)s->rtt_ns, (double)r->min, (double)r->max, MIDDLE, ABOVE));
    }
}

static void plot_histogram(FILE *f, const struct result *r)
{
    struct bin bins[BINS_MAX];
    unsigned n = result_bins(r, bins, BINS_MAX), middle = n / 2, i;
    double wide = n ? (double)(WIDTH - LEFT - RIGHT) / n : 0;
    uint64_t most = 1;
    char a[32];

    frame(f, BELOW, END);
    for (i = 0; i < n; i++)
        most = bins[i].count > most ? bins[i].count : most;
    for (i = 0; i < n; i++) {
        double high = (double)bins[i].count / (double)most * (END - BELOW);

        fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#06c\"/>\n",
                LEFT + i * wide, END - high, wide > 1 ? wide - 0.5 : wide, high);
    }
    snprintf(a, sizeof a, "%" PRIu64, most);
    cli_svg_text(f, LEFT - 6, BELOW + 8, "end", a);
    if (n) {
        cli_svg_text(f, LEFT, END + 16, "start", text_time((double)bins[0].from, a));
        cli_svg_text(f, LEFT + (int)(wide * (double)middle), END + 16, "middle",
                     text_time((double)bins[middle].from, a));
        cli_svg_text(f, WIDTH - RIGHT, END + 16, "end", text_time((double)bins[n - 1].to, a));
    }
}

bool svg_write(const struct result *r, const char *path, char *why, size_t size)
{
    FILE *f = fopen(path, "we");
    char line[512], a[32], b[32];
    bool ok;

    if (!f) {
        snprintf(why, size, "cannot write %s: %s", path, strerror(errno));
        return false;
    }
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    cli_svg_text(f, LEFT, 20, "start", r->measured);
    snprintf(line, sizeof line, "source %s: %s; resolution %s", r->source.name, r->source.what,
             r->source.resolution_ns > 0 ? text_time(r->source.resolution_ns, a) : "unknown");
    cli_svg_text(f, LEFT, 38, "start", line);
    snprintf(line, sizeof line, "%" PRIu64 " samples, mean %s, deviation %s", result_samples(r),
             text_time(result_mean(r), a), text_time(result_deviation(r), b));
    cli_svg_text(f, LEFT, 56, "start", line);
    if (result_samples(r)) {
        plot_samples(f, r);
        plot_histogram(f, r);
    }
    fputs("</svg>\n", f);
    ok = !ferror(f);
    if (fclose(f) != 0 || !ok) {
        snprintf(why, size, "cannot write %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}
