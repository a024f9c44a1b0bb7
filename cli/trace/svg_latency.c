/* SPDX-License-Identifier: Apache-2.0 */
/* svg_latency.c - bars of the parts of exchanges (svg_latency.h). */
#include <stdio.h>

#include "common/svg.h"
#include "exchange.h"
#include "svg_latency.h"

#define BAR 3.0 /* width */

static struct exchange read_exchange(const json_t *j)
{
    struct exchange x = {.bytes_in = 0};
    char name[32];
    size_t k;

    for (k = 0; k < MOMENTS; k++) {
        snprintf(name, sizeof name, "%s_ns", exchange_moments[k]);
        x.at[k] = (uint64_t)json_integer_value(json_object_get(j, name));
    }
    return x;
}

static uint64_t longest(const json_t *exchanges)
{
    uint64_t most = 1;
    const json_t *j;
    size_t i;

    json_array_foreach(exchanges, i, j)
    {
        struct exchange x = read_exchange(j);

        if (x.at[IN] && x.at[OUT] > x.at[IN] && x.at[OUT] - x.at[IN] > most)
            most = x.at[OUT] - x.at[IN];
    }
    return most;
}

static void draw_bar(FILE *f, const struct exchange *x, const struct svg_frame *at, uint64_t most)
{
    double span = at->to > at->from ? (double)(at->to - at->from) : 1;
    double where =
        at->left + ((double)x->at[IN] - (double)at->from) / span * (at->right - at->left);
    double bottom = at->top + at->height;
    uint64_t ns;
    size_t i;

    if (!x->at[IN] || where < at->left || where > at->right)
        return;
    for (i = 0; i < PARTS; i++) {
        const struct part *p = &exchange_parts[i];
        double height;

        if (!p->colour || !exchange_length(x, p, &ns))
            continue;
        height = (double)ns / (double)most * at->height;
        bottom -= height;
        fprintf(f,
                "<rect class=\"%s\" x=\"%.1f\" y=\"%.2f\" width=\"%.0f\" height=\"%.2f\" "
                "fill=\"%s\"><title>%s: %.1f us</title></rect>\n",
                p->name, where - BAR / 2, bottom, BAR, height, p->colour, p->name,
                (double)ns * 1e-3);
    }
}

static void draw_names(FILE *f, const struct svg_frame *at)
{
    double x = at->left + 6;
    size_t i;

    for (i = 0; i < PARTS; i++) {
        if (!exchange_parts[i].colour)
            continue;
        fprintf(f, "<path d=\"M%.1f %.1f h14\" stroke=\"%s\" stroke-width=\"3\"/>\n", x,
                at->top - 8, exchange_parts[i].colour);
        cli_svg_text(f, x + 18, at->top - 4, "start", exchange_parts[i].name);
        x += 110;
    }
}

void svg_latency(FILE *f, const json_t *exchanges, const struct svg_frame *at)
{
    uint64_t most = longest(exchanges);
    char label[32];
    const json_t *j;
    size_t i;

    fprintf(f,
            "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" fill=\"none\" "
            "stroke=\"#888\"/>\n",
            at->left, at->top, at->right - at->left, at->height);
    cli_svg_text(f, at->left, at->top - 20, "start",
                 "exchanges: from the request in to the answer out, microseconds");
    snprintf(label, sizeof label, "%.0f", (double)most * 1e-3);
    cli_svg_text(f, at->left - 6, at->top + 8, "end", label);
    cli_svg_text(f, at->left - 6, at->top + at->height, "end", "0");
    draw_names(f, at);
    json_array_foreach(exchanges, i, j)
    {
        struct exchange x = read_exchange(j);

        draw_bar(f, &x, at, most);
    }
}
