/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - `toehold stats`: prints the counters of toed (toe/attach.h, TOEDEV_HELLO_QUERY). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <toe/attach.h>

#include "common/daemon.h"
#include "common/exit.h"
#include "common/message.h"
#include "common/options.h"
#include "common/usage.h"
#include "stats.h"

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

static int parse(int argc, char **argv, const char **socket_path, bool *json, bool *done)
{
    const struct cli_option known[] = {
        {"json", .flag = json}, {"socket", .text = socket_path}, {.name = NULL}};
    int code =
        cli_options(&(struct cli_options){.verb = "stats", .known = known}, argc, argv, done);

    if (*done)
        cli_usage_of("stats");
    if (code || *done)
        return code;
    if (optind < argc) {
        cli_message("stats: unexpected argument %s", argv[optind]);
        return CLI_USAGE;
    }
    return CLI_OK;
}

static void print_value(const char *indent, const char *name, const json_t *value)
{
    if (json_is_integer(value))
        printf("%s%-28s %15" JSON_INTEGER_FORMAT "\n", indent, name, json_integer_value(value));
    else if (json_is_real(value))
        printf("%s%-28s %15.1f\n", indent, name, json_real_value(value));
    else if (json_is_string(value))
        printf("%s%-28s %15s\n", indent, name, json_string_value(value));
    else if (json_is_boolean(value))
        printf("%s%-28s %15s\n", indent, name, json_is_true(value) ? "yes" : "no");
}

static void print_group(const char *title, json_t *object, const struct style *style)
{
    const char *name;
    json_t *value;

    if (!json_is_object(object) || json_object_size(object) == 0)
        return;
    printf("%s%s%s\n", style->head, title, style->end);
    json_object_foreach(object, name, value)
    {
        print_value("  ", name, value);
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
    printf("  %4s %8s %-16s %13s %9s %14s %14s %7s\n", "id", "pid", "name", "slots", "listeners",
           "sw_commands", "hw_commands", "errors");
    json_array_foreach(pairs, i, qp)
    {
        const char *name = json_string_value(json_object_get(qp, "name"));

        printf("  %4lld %8lld %-16s %6lld/%-6lld %9lld %14lld %14lld %7lld\n", integer(qp, "id"),
               integer(qp, "pid"), name ? name : "", integer(qp, "slots_used"),
               integer(qp, "slots"), integer(qp, "listeners"), integer(qp, "sw_commands"),
               integer(qp, "hw_commands"), integer(qp, "errors"));
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
        if (json_is_integer(value))
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

static void print_figures(json_t *of, const struct style *style)
{
    print_group("interface", json_object_get(of, "netio"), style);
    print_list("IPv6 addresses", json_object_get(of, "ip6"), style);
    print_group("in use", json_object_get(of, "usage"), style);
    print_group("counters", json_object_get(of, "counters"), style);
}

static void print_table(const json_t *root)
{
    struct style style = choose_style();
    const json_t *engines = json_object_get(root, "engines"), *value;
    json_t *engine;
    const char *name;
    size_t i;

    json_object_foreach((json_t *)root, name, value)
    {
        print_value("", name, value);
    }
    if (json_array_size(engines) > 1) {
        printf("\n%sall %zu engines%s\n", style.head, json_array_size(engines), style.end);
        print_figures(json_object_get(root, "total"), &style);
    }
    json_array_foreach(engines, i, engine)
    {
        printf("\n%sengine %lld%s\n", style.head, integer(engine, "id"), style.end);
        print_figures(engine, &style);
        print_queue_pairs(json_object_get(engine, "queue_pairs"), &style);
    }
}

static int show(const char *text, size_t size, bool as_json)
{
    json_error_t error;
    json_t *root = json_loadb(text, size, 0, &error);

    if (!json_is_object(root)) {
        cli_message("cannot parse the answer of toed: %s; use toehold and toed of one release",
                    root ? "not an object" : error.text);
        json_decref(root);
        return CLI_FAILURE;
    }
    json_object_set_new(root, "total", total_of(json_object_get(root, "engines")));
    if (as_json) {
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
    } else {
        print_table(root);
    }
    json_decref(root);
    if (fflush(stdout) != 0) {
        cli_message("cannot write: %s", strerror(errno));
        return CLI_FAILURE;
    }
    return CLI_OK;
}

int cli_stats(int argc, char **argv)
{
    const char *socket_path = NULL;
    bool json = false, done = false;
    char reason[512], *text;
    size_t size;
    int fd, r = parse(argc, argv, &socket_path, &json, &done);

    if (r || done)
        return r;
    fd = cli_connect(cli_socket_path(socket_path), reason, sizeof reason);
    if (fd < 0) {
        cli_message("%s", reason);
        return CLI_NO_DAEMON;
    }
    text = cli_ask(fd, TOEDEV_HELLO_QUERY, "toehold", &size);
    close(fd);
    if (!text)
        return CLI_FAILURE;
    r = show(text, size, json);
    free(text);
    return r;
}
