/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.c - `toehold flows`: lists listeners and flows of a TOE (toe/attach.h, TOEDEV_HELLO_FLOWS),
 * as ss(8) does for the kernel.
 */
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
#include "filter.h"
#include "flows.h"
#include "print.h"

#define SCHEMA_VERSION 1

static const char text[] =
    "Lists listeners and flows of a TOE: queues, addresses, process, and TCP's values per flow, "
    "in\n"
    "the columns of `ss -tinop`. Of a listener, Recv-Q is what was not accepted yet, Send-Q its\n"
    "backlog. TIME-WAIT has no entry: `toehold stats` counts it.\n"
    "\n"
    "FILTER, in the words of ss: state STATE, sport|dport [OP] PORT, src|dst [=|!=] ADDRESS[/LEN]\n"
    "[:PORT], pid N, uid N, joined by and (may be left out), or, not and parentheses. STATE:\n"
    "established, listen, syn-sent, syn-recv, fin-wait-1, fin-wait-2, close-wait, closing,\n"
    "last-ack, all, connected, synchronized. OP: = != < > <= >=, eq ne lt gt le ge.\n"
    "\n"
    "  toehold flows state established dport = :443\n"
    "  toehold flows '( sport = :80 or sport = :443 )' not src 10.0.0.0/8";

struct options {
    const char *socket_path;
    bool json, help;
};

static int parse(int argc, char **argv, struct options *o)
{
    const struct cli_option known[] = {
        {"json", 'j', .flag = &o->json,
         .help = "{schema_version, listeners, flows}; windows in bytes,\ntimes in microseconds"},
        {"socket", .text = &o->socket_path, .value = "PATH",
         .help = CLI_SOCKET_HELP ";\nof a program with an engine in it: its inline socket"},
        {.name = NULL}};
    const struct cli_options options = {
        .verb = "flows",
        .known = known,
        .usage = "[--json] [--socket PATH] [FILTER...]",
        .text = text,
        .after = "exit: 0, 1 failure, 2 usage, 4 no TOE answers",
        .arguments = "state sport dport src dst pid uid and or not established listen"};

    return cli_options(&options, argc, argv, &o->help);
}

/* Asks for one batch. NULL, with an exit code, after a message. */
static json_t *ask(const char *path, const char *from, int *code)
{
    char why[512], *text;
    json_error_t error;
    json_t *root;
    size_t size;
    int fd = cli_connect(path, why, sizeof why);

    *code = fd < 0 ? CLI_NO_DAEMON : CLI_FAILURE;
    if (fd < 0) {
        cli_message("%s", why);
        return NULL;
    }
    text = cli_ask(fd, TOEDEV_HELLO_FLOWS, from, &size);
    close(fd);
    if (!text)
        return NULL;
    root = json_loadb(text, size, 0, &error);
    free(text);
    if (json_is_array(json_object_get(root, "flows")) &&
        json_is_array(json_object_get(root, "listeners")))
        return root;
    cli_message("cannot parse the answer of the TOE: %s; use toehold and toed of one release",
                root ? "it has no flows" : error.text);
    json_decref(root);
    return NULL;
}

static void keep(json_t *to, const json_t *from, const struct filter *f)
{
    json_t *entry;
    size_t i;

    json_array_foreach(from, i, entry)
    {
        if (filter_match(f, entry))
            json_array_append(to, entry);
    }
}

/* Collects all batches. Returns an exit code. */
static int collect(const char *path, const struct filter *f, json_t *listeners, json_t *flows)
{
    char from[64] = "0 0 0";
    bool more = true;
    int code = CLI_OK;

    while (more) {
        json_t *batch = ask(path, from, &code);
        const char *next;

        if (!batch)
            return code;
        keep(listeners, json_object_get(batch, "listeners"), f);
        keep(flows, json_object_get(batch, "flows"), f);
        next = json_string_value(json_object_get(batch, "next"));
        more = next != NULL;
        snprintf(from, sizeof from, "%s", more ? next : "");
        json_decref(batch);
    }
    return CLI_OK;
}

static int show(json_t *listeners, json_t *flows, bool as_json)
{
    json_t *entry, *root;
    size_t i;

    if (as_json) {
        root = json_pack("{s:i, s:O, s:O}", "schema_version", SCHEMA_VERSION, "listeners",
                         listeners, "flows", flows);
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(root);
    } else {
        print_flows_head();
        json_array_foreach(listeners, i, entry)
        {
            print_flow(entry);
        }
        json_array_foreach(flows, i, entry)
        {
            print_flow(entry);
        }
    }
    if (fflush(stdout) != 0) {
        cli_message("cannot write: %s", strerror(errno));
        return CLI_FAILURE;
    }
    return CLI_OK;
}

/* Splits words such as '( sport = :80 )', quoted for the shell, at their spaces. */
static char **split(int argc, char **argv, size_t *n, char **text)
{
    size_t size = 1, most, at = 0;
    char **words, *save = NULL, *w;
    int i;

    for (i = 0; i < argc; i++)
        size += strlen(argv[i]) + 1;
    most = size / 2 + 1;
    *text = calloc(1, size);
    words = calloc(most, sizeof *words);
    *n = 0;
    for (i = 0; *text && words && i < argc; i++)
        at += (size_t)snprintf(*text + at, size - at, "%s ", argv[i]);
    for (w = *text && words ? strtok_r(*text, " ", &save) : NULL; w; w = strtok_r(NULL, " ", &save))
        words[(*n)++] = w;
    return words;
}

int cli_flows(int argc, char **argv)
{
    struct options o = {0};
    struct filter *f;
    json_t *listeners, *flows;
    char why[512], **words, *text;
    size_t n;
    int r = parse(argc, argv, &o);

    if (r)
        return r;
    if (o.help)
        return CLI_OK;
    words = split(argc - optind, argv + optind, &n, &text);
    f = filter_parse(words, n, why, sizeof why);
    free(words);
    free(text);
    if (!f) {
        cli_message("flows: %s; toehold flows --help shows filters", why);
        return CLI_USAGE;
    }
    listeners = json_array();
    flows = json_array();
    r = collect(cli_socket_path(o.socket_path), f, listeners, flows);
    if (r == CLI_OK)
        r = show(listeners, flows, o.json);
    json_decref(listeners);
    json_decref(flows);
    filter_free(f);
    return r;
}
