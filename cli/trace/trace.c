/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - `toehold trace`: the last events of a flow (toe/attach.h, TOEDEV_HELLO_TRACE). */
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
#include "common/query.h"
#include "dialogue.h"
#include "find.h"
#include "follow.h"
#include "trace.h"

#define SCHEMA_VERSION 1

static const char text[] =
    "Prints the last 64 events of a flow as a dialogue of program, TCP and peer, also after the\n"
    "flow has ended. Without FLOW it lists the flows that have events: all that are open, and the\n"
    "last 1024 of each engine that have ended.\n"
    "\n"
    "FLOW is an id or the ends of a connection, as toehold flows prints them:\n"
    "\n"
    "  toehold trace 0.17.231\n"
    "  toehold trace 192.0.2.10:80 192.0.2.1:43210";

struct options {
    const char *socket_path;
    struct follow follow;
    bool ended, json, help;
};

static int parse(int argc, char **argv, struct options *o)
{
    const struct cli_option known[] = {
        {"json", 'j', .flag = &o->json,
         .help = "{schema_version, flows} or {schema_version, flow,\nevents, ...}; times are "
                 "nanoseconds of\nCLOCK_MONOTONIC; with --follow also samples"},
        {"ended", .flag = &o->ended, .help = "list ended flows only"},
        {"follow", .number = &o->follow.seconds, .min = 1, .max = 3600, .unit = "seconds",
         .value = "SECONDS",
         .help = "watch the flow (1 to 3600), until it ends: events as\nthey happen"},
        {"every-ms", .number = &o->follow.every_ms, .min = 1, .max = 1000, .unit = "milliseconds",
         .help = "time between two samples of --follow, 1 to 1000\n(default 10)"},
        {"latency", .flag = &o->follow.latency,
         .help = "where the time of the flow's exchanges goes, of --follow:\npeer and wire, TOE, "
                 "ring, libtoe, program"},
        {"svg", .text = &o->follow.svg, .value = "FILE",
         .help = "draw sequence numbers, windows and retransmissions of\n--follow over time"},
        {"socket", .text = &o->socket_path, .value = "PATH",
         .help = CLI_SOCKET_HELP ";\nof a program with an engine in it: its inline socket"},
        {.name = NULL}};
    const struct cli_options options = {
        .verb = "trace",
        .known = known,
        .mixed = true,
        .usage = "[--ended] [--json] [--socket PATH]\n"
                 "FLOW [--json] [--socket PATH]\n"
                 "FLOW --follow SECONDS [--latency] [--every-ms N] [--svg FILE] [--json]",
        .text = text,
        .after =
            "exit: 0, 1 failure, no such flow or its events were overwritten, 2 usage, 4 no TOE\n"
            "answers"};

    return cli_options(&options, argc, argv, &o->help);
}

/* Checks what belongs together. */
static int check(const struct options *o, int words)
{
    const char *wrong = NULL;

    if (words && o->ended)
        wrong = "--ended lists flows, and takes no FLOW";
    else if (!words && o->follow.seconds)
        wrong = "--follow needs a FLOW";
    else if (!o->follow.seconds && (o->follow.svg || o->follow.every_ms || o->follow.latency))
        wrong = "--svg, --every-ms and --latency need --follow";
    if (!wrong)
        return CLI_OK;
    cli_message("trace: %s; toehold trace --help shows the options", wrong);
    return CLI_USAGE;
}

static int flush(void)
{
    if (fflush(stdout) == 0)
        return CLI_OK;
    cli_message("cannot write: %s", strerror(errno));
    return CLI_FAILURE;
}

/* ---- the list ---- */

struct list {
    json_t *flows;
    bool ended_only;
};

static void keep(void *arg, json_t *entry)
{
    struct list *l = arg;

    if (!l->ended_only || json_is_true(json_object_get(entry, "ended")))
        json_array_append(l->flows, entry);
}

static void print_listed(const json_t *entry)
{
    const json_t *last = json_object_get(entry, "last");
    const char *reason = json_string_value(json_object_get(entry, "reason"));
    long long age = json_integer_value(json_object_get(entry, "now_ns")) -
                    json_integer_value(json_object_get(last, "time_ns"));
    char local[80], remote[80];

    find_end_text(entry, "local", "local_port", local, sizeof local);
    find_end_text(entry, "remote", "remote_port", remote, sizeof remote);
    printf("%-16s %-12s %12.3f %28s %28s  %s,pid=%lld\n",
           json_string_value(json_object_get(entry, "flow")), reason ? reason : "open",
           (double)age * 1e-9, local, remote, json_string_value(json_object_get(entry, "process")),
           json_integer_value(json_object_get(entry, "pid")));
}

static int list(const char *path, const struct options *o)
{
    struct list l = {.flows = json_array(), .ended_only = o->ended};
    json_t *entry, *root;
    char why[512];
    size_t i;
    int code =
        cli_query_all(path, TOEDEV_HELLO_TRACE, "list 0 0", "flows", keep, &l, why, sizeof why);

    if (code) {
        cli_message("%s", why);
    } else if (o->json) {
        root = json_pack("{s:i, s:O}", "schema_version", SCHEMA_VERSION, "flows", l.flows);
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(root);
    } else {
        printf("%-16s %-12s %12s %28s %28s  %s\n", "Flow", "End", "Last event s",
               "Local Address:Port", "Peer Address:Port", "Process");
        json_array_foreach(l.flows, i, entry)
        {
            print_listed(entry);
        }
    }
    json_decref(l.flows);
    return code ? code : flush();
}

/* ---- one flow ---- */

static int show(json_t *flow, const struct options *o)
{
    if (o->json) {
        json_object_set_new(flow, "schema_version", json_integer(SCHEMA_VERSION));
        json_dumpf(flow, stdout, JSON_INDENT(2));
        putchar('\n');
    } else {
        dialogue_write(stdout, flow);
    }
    return flush();
}

static int trace(const char *path, struct find *f, struct options *o)
{
    json_t *flow;
    int code = find_flow(path, f);

    if (code)
        return code;
    flow = follow_ask(path, f->id, &code);
    if (!flow)
        return code;
    if (o->follow.seconds) {
        if (!o->follow.every_ms)
            o->follow.every_ms = 10;
        o->follow.json = o->json;
        code = follow(path, f->id, flow, &o->follow);
        if (o->json && show(flow, o) && !code)
            code = CLI_FAILURE;
    } else {
        code = show(flow, o);
    }
    json_decref(flow);
    return code;
}

int cli_trace(int argc, char **argv)
{
    struct options o = {0};
    struct find f;
    char why[256];
    int r = parse(argc, argv, &o), words;
    const char *path;

    if (r || o.help)
        return r;
    words = argc - optind;
    r = check(&o, words);
    if (r)
        return r;
    path = cli_socket_path(o.socket_path);
    if (!words)
        return list(path, &o);
    if (find_parse(&f, words, argv + optind, why, sizeof why))
        return trace(path, &f, &o);
    cli_message("trace: %s", why);
    return CLI_USAGE;
}
