/* SPDX-License-Identifier: Apache-2.0 */
/* report_json.c - see report.h: the same for programs. */
#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "report.h"
#include "verdicts.h"

static const char *const metrics[TUNE_METRICS] = {"throughput", "cpu_s_per_unit", "p50_ns",
                                                  "p99_ns"};

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *spread_json(const struct tune_judgement *j, int m)
{
    return json_pack("{s:o,s:o,s:o,s:s}", "median", number(j->spread[m].median), "low",
                     number(j->spread[m].low), "high", number(j->spread[m].high), "outcome",
                     tune_outcome_word(j->outcome[m]));
}

static json_t *samples_json(const struct tune_row *r)
{
    json_t *list = json_array();
    unsigned stage;
    size_t i;
    int m;

    for (stage = 0; stage < TUNE_STAGES; stage++)
        for (i = 0; i < r->count[stage]; i++) {
            const struct tune_sample *s = &r->samples[stage][i];
            json_t *o =
                json_pack("{s:i,s:o}", "stage", (int)stage + 1, "busiest_core", number(s->busiest));

            for (m = 0; m < TUNE_METRICS; m++)
                json_object_set_new(o, metrics[m], number(s->metric[m]));
            json_array_append_new(list, o);
        }
    return list;
}

static json_t *row_json(const struct tune_row *r, bool base)
{
    json_t *o = json_pack("{s:s,s:s,s:i}", "name", r->setting.name, "place",
                          tune_place_name(r->setting.place), "stages", (int)r->stages);
    int m;

    json_object_set_new(o, "verdict",
                        base ? json_null() : json_string(tune_verdict_word(r->judgement.verdict)));
    json_object_set_new(o, "why", r->failed ? json_string(r->why) : json_null());
    for (m = 0; m < TUNE_METRICS; m++)
        json_object_set_new(o, metrics[m], spread_json(&r->judgement, m));
    json_object_set_new(o, "samples", samples_json(r));
    return o;
}

static json_t *left_out_json(const struct tune_settings *s)
{
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < s->left_out_count; i++)
        json_array_append_new(
            list, json_pack("{s:s,s:s}", "what", s->left_out[i].what, "why", s->left_out[i].why));
    return list;
}

static json_t *conclusion_json(const struct tune_report *r)
{
    const struct tune_conclusion_of *c = r->conclusion;
    char text[TUNE_TEXT];

    tune_conclusion_text(r->trial, c, text, sizeof text);
    return json_pack("{s:s,s:s?,s:s}", "verdict", tune_conclusion_word(c), "setting",
                     c->what == TUNE_USE ? r->trial->rows[c->best].setting.name : NULL, "text",
                     text);
}

static bool print(json_t *root)
{
    bool ok = root && json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0;

    putchar('\n');
    json_decref(root);
    return ok;
}

bool tune_print_json(const struct tune_report *r)
{
    const struct tune_trial *t = r->trial;
    json_t *rows = json_array();
    size_t i;

    for (i = 0; i < t->count; i++)
        json_array_append_new(rows, row_json(&t->rows[i], i == 0));
    return print(json_pack("{s:i,s:s,s:s,s:s,s:[I,I],s:o,s:o,s:o,s:s?}", "schema_version", 1,
                           "interface", r->interface, "workload", r->workload, "unit", t->unit,
                           "rounds", (json_int_t)r->conclusion->rounds[0],
                           (json_int_t)r->conclusion->rounds[1], "settings", rows, "not_tried",
                           left_out_json(r->settings), "conclusion", conclusion_json(r), "applied",
                           r->applied));
}

bool tune_print_plan_json(const struct tune_settings *s, const char *interface)
{
    json_t *names = json_array();
    size_t i;

    for (i = 0; i < s->count; i++)
        json_array_append_new(names, json_string(s->all[i].name));
    return print(json_pack("{s:i,s:b,s:s,s:o,s:o}", "schema_version", 1, "dry_run", 1, "interface",
                           interface, "settings", names, "not_tried", left_out_json(s)));
}
