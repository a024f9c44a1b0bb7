/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmetrics.c - writes statistics as OpenMetrics text (openmetrics.h). All samples of a metric
 * follow its head, so the engines are the inner loop. What only grows is a counter and has the
 * suffix _total; amounts at present are gauges.
 */
#include <stdbool.h>
#include <string.h>

#include "openmetrics.h"

static const struct group {
    const char *key, *prefix;
    bool gauges;
} groups[] = {{"counters", "toehold_", false},
              {"netio", "toehold_netio_", false},
              {"usage", "toehold_usage_", true}};

static const struct figure {
    const char *name, *metric, *help;
    bool gauge;
} qp_figures[] = {
    {"slots", "toehold_queue_pair_slots", "connections that the queue pair has room for", true},
    {"slots_used", "toehold_queue_pair_slots_used", "slots of the queue pair in use", true},
    {"listeners", "toehold_queue_pair_listeners", "listening sockets of the queue pair", true},
    {"halted", "toehold_queue_pair_halted", "not 0: the queue pair was halted", true},
    {"sw_commands", "toehold_queue_pair_sw_commands", "commands from the host", false},
    {"hw_commands", "toehold_queue_pair_hw_commands", "notifications to the host", false},
    {"errors", "toehold_queue_pair_errors", "commands that were invalid", false},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Writes a text for a label, or a HELP line: backslash, newline and quote are escaped. */
static void write_text(FILE *f, const char *text)
{
    for (; text && *text; text++) {
        if (*text == '\n')
            fputs("\\n", f);
        else if (*text == '\\' || *text == '"')
            fprintf(f, "\\%c", *text);
        else
            fputc(*text, f);
    }
}

static void write_head(FILE *f, const char *prefix, const char *name, bool gauge, const char *unit,
                       const char *help)
{
    fprintf(f, "# TYPE %s%s %s\n", prefix, name, gauge ? "gauge" : "counter");
    if (unit && *unit) /* a unit must be the end of the name */
        fprintf(f, "# UNIT %s%s %s\n", prefix, name, unit);
    if (help && *help) {
        fprintf(f, "# HELP %s%s ", prefix, name);
        write_text(f, help);
        fputc('\n', f);
    }
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n > m && strcmp(text + n - m, end) == 0 && text[n - m - 1] == '_';
}

/* rx_held, rx_hold_max and rx_delay_us of netio are amounts at present. */
static bool is_gauge(const struct group *g, const char *name)
{
    return g->gauges || strncmp(name, "rx_h", 4) == 0 || strcmp(name, "rx_delay_us") == 0;
}

/* Writes one figure of all engines. Engines of one TOE have the same names. */
static void write_figure(FILE *f, const struct group *g, const char *name, const json_t *engines,
                         const json_t *help)
{
    const json_t *entry = json_object_get(json_object_get(help, g->key), name), *e;
    const char *unit = text_of(entry, "unit");
    bool gauge = is_gauge(g, name);
    size_t i;

    write_head(f, g->prefix, name, gauge, ends_with(name, unit) ? unit : "",
               text_of(entry, "help"));
    json_array_foreach(engines, i, e)
    {
        const json_t *value = json_object_get(json_object_get(e, g->key), name);

        if (json_is_integer(value))
            fprintf(f, "%s%s%s{engine=\"%" JSON_INTEGER_FORMAT "\"} %" JSON_INTEGER_FORMAT "\n",
                    g->prefix, name, gauge ? "" : "_total",
                    json_integer_value(json_object_get(e, "id")), json_integer_value(value));
    }
}

static void write_engines(FILE *f, const json_t *engines, const json_t *help)
{
    json_t *figures, *value;
    const char *name;
    size_t i;

    for (i = 0; i < COUNT(groups); i++) {
        figures = json_object_get(json_array_get(engines, 0), groups[i].key);
        json_object_foreach(figures, name, value)
        {
            if (json_is_integer(value))
                write_figure(f, &groups[i], name, engines, help);
        }
    }
}

static void write_queue_pairs(FILE *f, const json_t *engines)
{
    const json_t *e, *qp;
    size_t i, j, k;

    for (k = 0; k < COUNT(qp_figures); k++) {
        write_head(f, "", qp_figures[k].metric, qp_figures[k].gauge, "", qp_figures[k].help);
        json_array_foreach(engines, i, e)
        {
            json_array_foreach(json_object_get(e, "queue_pairs"), j, qp)
            {
                fprintf(f,
                        "%s%s{engine=\"%" JSON_INTEGER_FORMAT
                        "\",queue_pair=\"%" JSON_INTEGER_FORMAT "\",pid=\"%" JSON_INTEGER_FORMAT
                        "\",program=\"",
                        qp_figures[k].metric, qp_figures[k].gauge ? "" : "_total",
                        json_integer_value(json_object_get(e, "id")),
                        json_integer_value(json_object_get(qp, "id")),
                        json_integer_value(json_object_get(qp, "pid")));
                write_text(f, text_of(qp, "name"));
                fprintf(f, "\"} %" JSON_INTEGER_FORMAT "\n",
                        json_integer_value(json_object_get(qp, qp_figures[k].name)));
            }
        }
    }
}

static void write_process(FILE *f, const json_t *stats)
{
    json_t *control = json_object_get(stats, "control"), *value;
    const char *name;

    fputs("# TYPE toehold_build info\n# HELP toehold_build version and addresses of the TOE\n"
          "toehold_build_info{version=\"",
          f);
    write_text(f, text_of(stats, "version"));
    fputs("\",address=\"", f);
    write_text(f, text_of(stats, "address"));
    fputs("\"} 1\n", f);
    write_head(f, "toehold_", "uptime_seconds", true, "seconds", "time since the TOE has started");
    fprintf(f, "toehold_uptime_seconds %" JSON_INTEGER_FORMAT "\n",
            json_integer_value(json_object_get(stats, "uptime_s")));
    json_object_foreach(control, name, value)
    {
        const json_t *help =
            json_object_get(json_object_get(json_object_get(stats, "help"), "control"), name);

        write_head(f, "toehold_control_", name, false, "", text_of(help, "help"));
        fprintf(f, "toehold_control_%s_total %" JSON_INTEGER_FORMAT "\n", name,
                json_integer_value(value));
    }
}

void openmetrics_write(FILE *f, const json_t *stats)
{
    const json_t *engines = json_object_get(stats, "engines");

    write_head(f, "toehold_", "up", true, "", "1: the TOE answers");
    fprintf(f, "toehold_up %d\n", stats != NULL);
    if (stats) {
        write_process(f, stats);
        write_engines(f, engines, json_object_get(stats, "help"));
        write_queue_pairs(f, engines);
    }
    fputs("# EOF\n", f);
}
