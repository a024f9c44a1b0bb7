/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - see report.h: the table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "verdicts.h"

/* Writes a number with three digits and a prefix: 1.23M. */
static void scaled(char *out, size_t size, double v)
{
    static const char prefixes[] = " kMGT";
    size_t i = 0;

    while (fabs(v) >= 999.5 && prefixes[i + 1]) {
        v /= 1000;
        i++;
    }
    snprintf(out, size, "%.*f%.*s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, i ? 1 : 0, &prefixes[i]);
}

/* Prints "median ~spread% mark" of a metric, times a factor. */
static void print_cell(const struct tune_judgement *j, int metric, double factor)
{
    static const char marks[] = {
        [TUNE_UNKNOWN] = ' ', [TUNE_SAME] = ' ', [TUNE_GAIN] = '+', [TUNE_LOSS] = '-'};
    struct tune_spread s = j->spread[metric];
    char number[24], cell[48];

    if (!isfinite(s.median)) {
        printf(" %14s", "n/a ");
        return;
    }
    scaled(number, sizeof number, s.median * factor);
    snprintf(cell, sizeof cell, "%s ~%.0f%%%c", number,
             s.median > 0 ? 100 * fmax(s.high - s.median, s.median - s.low) / s.median : 0,
             marks[j->outcome[metric]]);
    printf(" %14s", cell);
}

static void print_row(const struct tune_row *r, double cpu_factor, bool base)
{
    printf("%-22s", r->setting.name);
    print_cell(&r->judgement, TUNE_THROUGHPUT, 1);
    print_cell(&r->judgement, TUNE_CPU, cpu_factor);
    print_cell(&r->judgement, TUNE_P50, 1e-3);
    print_cell(&r->judgement, TUNE_P99, 1e-3);
    printf("  %s\n", base ? "" : tune_verdict_text(r));
}

static void print_left_out(const struct tune_settings *s)
{
    size_t i;

    if (s->left_out_count)
        puts("\nnot tried:");
    for (i = 0; i < s->left_out_count; i++)
        printf("  %s: %s\n", s->left_out[i].what, s->left_out[i].why);
}

static void print_failures(const struct tune_trial *t)
{
    bool any = false;
    size_t i;

    for (i = 0; i < t->count; i++)
        if (t->rows[i].failed) {
            if (!any)
                puts("\nfailed:");
            any = true;
            printf("  %s: %s\n", t->rows[i].setting.name, t->rows[i].why);
        }
}

void tune_print_text(const struct tune_report *r)
{
    const struct tune_trial *t = r->trial;
    bool bytes = strcmp(t->unit, "bytes/s") == 0;
    char text[TUNE_TEXT];
    size_t i;

    printf("%s: %s\n%zu rounds of %zu settings", r->interface, r->workload,
           r->conclusion->rounds[0], t->count);
    if (r->conclusion->rounds[1])
        printf(", %zu more of the best", r->conclusion->rounds[1]);
    printf("; median ~spread, + gain, - loss beyond the spread\n\n%-22s %14s %14s %14s %14s  %s\n",
           "setting", t->unit, bytes ? "CPU us/MB" : "CPU us each", "p50 us", "p99 us", "verdict");
    for (i = 0; i < t->count; i++)
        print_row(&t->rows[i], bytes ? 1e12 : 1e6, i == 0);
    print_failures(t);
    print_left_out(r->settings);
    tune_conclusion_text(t, r->conclusion, text, sizeof text);
    printf("\n%s\n", text);
    if (r->applied)
        printf("%s\n", r->applied);
}

void tune_print_plan(const struct tune_settings *s, const struct tune_state *before)
{
    size_t i;

    printf("%s: would try, in rounds of another order each:\n", before->nic.name);
    for (i = 0; i < s->count; i++)
        printf("  %s\n", s->all[i].name);
    print_left_out(s);
}
