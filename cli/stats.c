/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - `toehold stats`: prints the counters of toed (toe/attach.h, TOEDEV_HELLO_QUERY). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>
#include <toe/attach.h>

#include "common/daemon.h"
#include "common/exit.h"
#include "common/message.h"
#include "common/options.h"
#include "stats.h"

#define SCHEMA_VERSION 1 /* of an answer without one, and of --every */

struct style {
    const char *head, *end;
};

static struct style choose_style(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    /* no-color.org: any value that is not empty turns colour off. */
    if ((no_color && *no_color) || !isatty(STDOUT_FILENO) || !term || !strcmp(term, "dumb"))
        return (struct style){"", ""};
    return (struct style){"\033[1m", "\033[0m"};
}

struct request {
    const char *socket_path;
    bool json, all, done;
    uint64_t every_s, count; /* 0: once; 0: without an end */
};

/* How the table is printed. */
struct print {
    struct style style;
    const json_t *help; /* {group: {name: {unit, help}}} of the TOE; NULL: it sends none */
    bool all;           /* zeros too */
    unsigned zeros;     /* left out */
};

static int parse(int argc, char **argv, struct request *r)
{
    const struct cli_option known[] = {
        {"all", 'a', .flag = &r->all, .help = "zeros and offloads too"},
        {"every", .number = &r->every_s, .min = 1, .max = 86400, .unit = "seconds",
         .value = "SECONDS",
         .help = "again and again, what has changed: value, delta\nand rate (1/s)"},
        {"count", 'c', .number = &r->count, .min = 1, .max = UINT32_MAX, .help = "... N times"},
        {"json", 'j', .flag = &r->json, .help = "as JSON; with --every an object a line"},
        {"socket", .text = &r->socket_path, .value = "PATH", .help = CLI_SOCKET_HELP},
        {.name = NULL}};
    const struct cli_options options = {
        .verb = "stats",
        .known = known,
        .usage = "[--all] [--json] [--every SECONDS [--count N]] [--socket PATH]",
        .text = "Prints the figures of toed that are not zero, each with its unit and meaning.",
        .after = "exit: 0, 1 failure, 2 usage, 4 no TOE answers"};
    int code = cli_options(&options, argc, argv, &r->done);

    if (code || r->done)
        return code;
    if (optind < argc) {
        cli_message("stats: unexpected argument %s; toehold stats --help shows the options",
                    argv[optind]);
        return CLI_USAGE;
    }
    if (r->count && !r->every_s) {
        cli_message("stats: --count needs --every");
        return CLI_USAGE;
    }
    return CLI_OK;
}

/* Returns the description of a figure, with its unit where the description lacks it. */
static const char *help_of(const struct print *p, const char *group, const char *name,
                           const char **unit)
{
    const json_t *entry = json_object_get(json_object_get(p->help, group), name);
    const char *text = json_string_value(json_object_get(entry, "help"));

    *unit = json_string_value(json_object_get(entry, "unit"));
    if (!*unit)
        *unit = "";
    return text ? text : "";
}

static void print_value(struct print *p, const char *group, const char *name, const json_t *value)
{
    const char *indent = group ? "  " : "", *unit = "";
    const char *help = group ? help_of(p, group, name, &unit) : "";
    char text[64];

    if (json_is_integer(value)) {
        if (group && !p->all && json_integer_value(value) == 0) {
            p->zeros++;
            return;
        }
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        snprintf(text, sizeof text, "%.1f", json_real_value(value));
    } else if (json_is_string(value)) {
        snprintf(text, sizeof text, "%s", json_string_value(value));
    } else if (json_is_boolean(value)) {
        snprintf(text, sizeof text, "%s", json_is_true(value) ? "yes" : "no");
    } else {
        return;
    }
    if (*help)
        printf("%s%-28s %15s  %-6s %s\n", indent, name, text, unit, help);
    else
        printf("%s%-28s %15s\n", indent, name, text);
}

static void print_group(struct print *p, const char *title, const char *group, json_t *of)
{
    json_t *object = json_object_get(of, group), *value;
    const char *name;

    if (!json_is_object(object) || json_object_size(object) == 0)
        return;
    printf("%s%s%s\n", p->style.head, title, p->style.end);
    json_object_foreach(object, name, value)
    {
        print_value(p, group, name, value);
    }
}

static long long integer(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static void print_queue_pairs(const json_t *pairs, const struct style *style)
{
    const json_t *qp;
    size_t i;

    if (json_array_size(pairs) == 0)
        return;
    printf("%squeue pairs%s\n", style->head, style->end);
    printf("  %4s %8s %-16s %13s %9s %12s %12s %7s %6s\n", "id", "pid", "name", "slots_used/slots",
           "listeners", "sw_commands", "hw_commands", "errors", "halted");
    json_array_foreach(pairs, i, qp)
    {
        const char *name = json_string_value(json_object_get(qp, "name"));

        printf("  %4lld %8lld %-16s %8lld/%-7lld %9lld %12lld %12lld %7lld %6lld\n",
               integer(qp, "id"), integer(qp, "pid"), name ? name : "", integer(qp, "slots_used"),
               integer(qp, "slots"), integer(qp, "listeners"), integer(qp, "sw_commands"),
               integer(qp, "hw_commands"), integer(qp, "errors"), integer(qp, "halted"));
    }
}

static bool is_set(const json_t *object, const char *name)
{
    return json_is_true(json_object_get(object, name));
}

/* One line for each offload: its names, and its state as `ethtool -k` prints it. */
static void print_offload(const json_t *list, const struct style *style)
{
    const json_t *o;
    size_t i;

    if (json_array_size(list) == 0)
        return;
    printf("%soffload%s\n", style->head, style->end);
    json_array_foreach(list, i, o)
    {
        const char *name = json_string_value(json_object_get(o, "name"));
        const char *word = json_string_value(json_object_get(o, "word"));

        printf("  %-28s %15s  %s%s%s\n", name ? name : "", is_set(o, "active") ? "on" : "off",
               word ? word : "", is_set(o, "fixed") ? " [fixed]" : "",
               is_set(o, "requested") != is_set(o, "active") && !is_set(o, "fixed")
                   ? is_set(o, "requested") ? " [requested on]" : " [requested off]"
                   : "");
    }
}

/* Prints one string a line under a title: the TOE's IPv6 addresses, including those of SLAAC. */
static void print_list(const char *title, const json_t *list, const struct style *style)
{
    const json_t *value;
    size_t i;

    if (json_array_size(list) == 0)
        return;
    printf("%s%s%s\n", style->head, title, style->end);
    json_array_foreach(list, i, value)
    {
        if (json_is_string(value))
            printf("  %s\n", json_string_value(value));
    }
}

/* Adds the integers of a group to those of the total. Engines share nothing, so the reader adds up
 * their counters (docs/ARCHITECTURE.md rule 4). */
static void add_up(json_t *total, const char *group, json_t *of)
{
    json_t *sums = json_object_get(total, group), *value;
    const char *name;

    if (!json_is_object(of))
        return;
    if (!sums) {
        sums = json_object();
        json_object_set_new(total, group, sums);
    }
    json_object_foreach(of, name, value)
    {
        if (json_is_integer(value) && strcmp(name, "rx_delay_us") != 0) /* of one engine */
            json_object_set_new(sums, name,
                                json_integer(json_integer_value(value) + integer(sums, name)));
    }
}

/* Returns {netio, usage, counters} summed over all engines. */
static json_t *total_of(const json_t *engines)
{
    static const char *const groups[] = {"netio", "usage", "counters"};
    json_t *total = json_object(), *engine;
    size_t i, k;

    json_array_foreach(engines, i, engine)
    {
        for (k = 0; k < sizeof groups / sizeof groups[0]; k++)
            add_up(total, groups[k], json_object_get(engine, groups[k]));
    }
    return total;
}

static void print_figures(json_t *of, struct print *p)
{
    print_group(p, "interface", "netio", of);
    print_list("IPv6 addresses", json_object_get(of, "ip6"), &p->style);
    print_group(p, "in use", "usage", of);
    print_group(p, "counters", "counters", of);
}

static void print_table(json_t *root, bool all)
{
    struct print p = {.style = choose_style(), .help = json_object_get(root, "help"), .all = all};
    const json_t *engines = json_object_get(root, "engines"), *value;
    json_t *engine;
    const char *name;
    size_t i;

    json_object_foreach(root, name, value)
    {
        print_value(&p, NULL, name, value);
    }
    print_group(&p, "control", "control", root);
    if (json_array_size(engines) > 1) {
        printf("\n%sall %zu engines%s\n", p.style.head, json_array_size(engines), p.style.end);
        print_figures(json_object_get(root, "total"), &p);
    }
    json_array_foreach(engines, i, engine)
    {
        printf("\n%sengine %lld%s\n", p.style.head, integer(engine, "id"), p.style.end);
        print_figures(engine, &p);
        if (all)
            print_offload(json_object_get(engine, "offload"), &p.style);
        print_queue_pairs(json_object_get(engine, "queue_pairs"), &p.style);
    }
    if (p.zeros)
        printf("\n%u figures that are zero are left out, and the offloads: --all shows them\n",
               p.zeros);
}

/* Parses an answer, and adds the total. NULL after a message. */
static json_t *load(const char *text, size_t size)
{
    json_error_t error;
    json_t *root = json_loadb(text, size, 0, &error);

    if (!json_is_object(root)) {
        cli_message("cannot parse the answer of toed: %s; use toehold and toed of one release",
                    root ? "not an object" : error.text);
        json_decref(root);
        return NULL;
    }
    if (!json_object_get(root, "schema_version"))
        json_object_set_new(root, "schema_version", json_integer(SCHEMA_VERSION));
    json_object_set_new(root, "total", total_of(json_object_get(root, "engines")));
    return root;
}

/* Asks for the statistics once. NULL, with an exit code, after a message. */
static json_t *ask(const struct request *r, int *code)
{
    char reason[512], *text;
    json_t *root;
    size_t size;
    int fd = cli_connect(cli_socket_path(r->socket_path), reason, sizeof reason);

    *code = fd < 0 ? CLI_NO_DAEMON : CLI_FAILURE;
    if (fd < 0) {
        cli_message("%s", reason);
        return NULL;
    }
    text = cli_ask(fd, TOEDEV_HELLO_QUERY, TOEDEV_QUERY_HELP, &size);
    close(fd);
    root = text ? load(text, size) : NULL;
    free(text);
    return root;
}

static int flush(void)
{
    if (fflush(stdout) == 0)
        return CLI_OK;
    cli_message("cannot write: %s", strerror(errno));
    return CLI_FAILURE;
}

static int show(json_t *root, const struct request *r)
{
    if (r->json) {
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
    } else {
        print_table(root, r->all);
    }
    return flush();
}

/* ---- --every ---- */

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns whether a figure of the total only grows. The others are amounts at present. */
static bool is_counter(const char *group, const char *name)
{
    return strcmp(group, "counters") == 0 ||
           (strcmp(group, "netio") == 0 && strncmp(name, "rx_held", 7) != 0 &&
            strcmp(name, "rx_delay_us") != 0);
}

/* Returns {group: {name: {value, delta, rate}}}; without --all only of figures that have changed,
 * and amounts that are not zero. A counter below its earlier value is of another TOE: delta is its
 * value. */
static json_t *changes(json_t *old, json_t *new, double interval, bool all)
{
    json_t *out = json_object(), *figures, *value, *group;
    const char *name, *figure;
    void *next;

    json_object_foreach_safe(new, next, name, figures)
    {
        group = json_object();
        json_object_foreach(figures, figure, value)
        {
            json_int_t is = json_integer_value(value);
            json_int_t was = integer(json_object_get(old, name), figure);
            json_int_t delta = is >= was || !is_counter(name, figure) ? is - was : is;

            if (!all && delta == 0 && (is_counter(name, figure) || is == 0))
                continue;
            if (is_counter(name, figure))
                json_object_set_new(group, figure,
                                    json_pack("{s:I, s:I, s:f}", "value", is, "delta", delta,
                                              "rate", (double)delta / interval));
            else
                json_object_set_new(group, figure,
                                    json_pack("{s:I, s:I}", "value", is, "delta", delta));
        }
        if (all || json_object_size(group))
            json_object_set(out, name, group);
        json_decref(group);
    }
    return out;
}

static void print_changes(json_t *all, double interval, const struct print *p)
{
    const char *name, *figure, *unit;
    json_t *group, *value;

    printf("%s%-30s %15s %15s %15s  after %.3f s%s\n", p->style.head, "", "value", "delta",
           "rate (1/s)", interval, p->style.end);
    json_object_foreach(all, name, group)
    {
        json_object_foreach(group, figure, value)
        {
            const json_t *rate = json_object_get(value, "rate");
            const char *help = help_of(p, name, figure, &unit);
            char text[32] = "";

            if (rate)
                snprintf(text, sizeof text, "%.1f", json_real_value(rate));
            printf("  %-28s %15lld %+15lld %15s  %-6s %s\n", figure, integer(value, "value"),
                   integer(value, "delta"), text, unit, help);
        }
    }
}

/* Prints what has changed since the last look. JSON: one object a line. */
static int show_changes(json_t *old, json_t *new, double interval, const struct request *r)
{
    json_t *all =
        changes(json_object_get(old, "total"), json_object_get(new, "total"), interval, r->all);
    struct print p = {.style = choose_style(), .help = json_object_get(new, "help")};
    json_t *line;

    if (r->json) {
        line = json_pack("{s:i, s:f, s:O}", "schema_version", SCHEMA_VERSION, "interval_s",
                         interval, "changes", all);
        json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
        putchar('\n');
        json_decref(line);
    } else {
        print_changes(all, interval, &p);
    }
    json_decref(all);
    return flush();
}

static int watch(json_t *root, const struct request *r)
{
    double then = seconds_now(), now;
    uint64_t shown = 0;
    int code = CLI_OK;
    json_t *new;

    while (code == CLI_OK && (!r->count || shown++ < r->count)) {
        sleep((unsigned)r->every_s);
        new = ask(r, &code);
        if (!new)
            break;
        now = seconds_now();
        code = show_changes(root, new, now - then, r);
        json_decref(root);
        root = new;
        then = now;
    }
    json_decref(root);
    return code;
}

int cli_stats(int argc, char **argv)
{
    struct request r = {0};
    int code = parse(argc, argv, &r);
    json_t *root;

    if (code || r.done)
        return code;
    root = ask(&r, &code);
    if (!root)
        return code;
    if (r.every_s)
        return watch(root, &r);
    code = show(root, &r);
    json_decref(root);
    return code;
}
