/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload.c - `toehold offload`: shows and switches the offloads of toed's interface, as ethtool -k
 * and -K do. toed does in software what the interface does not.
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
#include "common/verbosity.h"
#include "offload.h"

struct request {
    const char *socket_path;
    bool json, dry_run, done;
    int changes; /* pairs of words */
    char **words;
};

static int check_changes(const struct request *r)
{
    int i;

    for (i = 0; i < r->changes; i++) {
        const char *value = r->words[2 * i + 1];

        if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0) {
            cli_message("offload: %s %s: want on or off", r->words[2 * i], value);
            return CLI_USAGE;
        }
    }
    return CLI_OK;
}

static int parse(int argc, char **argv, struct request *r)
{
    const struct cli_option known[] = {
        {"dry-run", 'n', .flag = &r->dry_run, .help = "print the changes, do not make them"},
        {"json", 'j', .flag = &r->json, .help = "as JSON"},
        {"socket", .text = &r->socket_path, .value = "PATH", .help = CLI_SOCKET_HELP},
        {.name = NULL}};
    const struct cli_options options = {
        .verb = "offload",
        .known = known,
        .mixed = true, /* as in `offload gro off --dry-run` */
        .usage = "[--json] [--socket PATH] [[--dry-run] NAME on|off...]",
        .text = "Shows the offloads of toed's interface, or switches them, as ethtool -k and -K.",
        .after = "exit: 0, 1 failure, 2 usage, 3 not possible here, 4 no TOE answers",
        .arguments = "rx tx sg tso gso gro lro rxhash on off"};
    int code = cli_options(&options, argc, argv, &r->done);

    if (code || r->done)
        return code;
    if ((argc - optind) % 2) {
        cli_message("offload: %s: a value is missing; want on or off", argv[argc - 1]);
        return CLI_USAGE;
    }
    r->changes = (argc - optind) / 2;
    r->words = argv + optind;
    if (r->dry_run && !r->changes) {
        cli_message("offload: --dry-run needs a change: NAME on|off");
        return CLI_USAGE;
    }
    return check_changes(r);
}

/* Sends one request. Returns the answer, or NULL after a message with the exit code in *code. */
static json_t *query(const struct request *r, const char *change, int *code)
{
    char reason[512], *text;
    int fd = cli_connect(cli_socket_path(r->socket_path), reason, sizeof reason);
    json_t *root;
    size_t size;

    if (fd < 0) {
        cli_message("%s", reason);
        *code = CLI_NO_DAEMON;
        return NULL;
    }
    *code = CLI_FAILURE;
    text = cli_ask(fd, TOEDEV_HELLO_OFFLOAD, change, &size);
    close(fd);
    if (!text)
        return NULL;
    root = json_loadb(text, size, 0, NULL);
    free(text);
    if (!json_is_array(json_object_get(root, "features")) ||
        !json_is_string(json_object_get(root, "error"))) {
        cli_message("cannot parse the answer of toed; use toehold and toed of one release");
        json_decref(root);
        return NULL;
    }
    return root;
}

/* Finds the offload of a change. NULL after a message: unknown, or not possible here. */
static const json_t *find_feature(const json_t *root, const char *name, const char *value)
{
    const json_t *f;
    size_t i;

    json_array_foreach(json_object_get(root, "features"), i, f)
    {
        const char *long_name = json_string_value(json_object_get(f, "name"));
        const char *word = json_string_value(json_object_get(f, "word"));

        if (!long_name || !word || (strcmp(name, long_name) != 0 && strcmp(name, word) != 0))
            continue;
        if (json_is_true(json_object_get(f, "fixed")) && !strcmp(value, "on")) {
            cli_message("cannot change %s: off [fixed], the interface does not support it",
                        long_name);
            return NULL;
        }
        return f;
    }
    cli_message("offload: unknown offload %s; `toehold offload` lists them", name);
    return NULL;
}

static bool check_all(const struct request *r, const json_t *root)
{
    int i;

    for (i = 0; i < r->changes; i++)
        if (!find_feature(root, r->words[2 * i], r->words[2 * i + 1]))
            return false;
    return true;
}

/* Prints the changes that --dry-run does not make. */
static void print_changes(const struct request *r, const json_t *root)
{
    json_t *list = json_array();
    int i;

    for (i = 0; i < r->changes; i++) {
        const char *to = r->words[2 * i + 1];
        const json_t *f = find_feature(root, r->words[2 * i], to);
        const char *name = json_string_value(json_object_get(f, "name"));
        const char *from = json_is_true(json_object_get(f, "active")) ? "on" : "off";

        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s}", "name", name, "before", from, "value", to));
        if (!r->json)
            printf("%s: %s -> %s\n", name, from, to);
    }
    if (r->json) {
        json_dumpf(list, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(list);
}

/* Makes all changes, which check_all() has checked. */
static int change_all(const struct request *r, json_t **root)
{
    char change[32];
    int i, code = CLI_OK;

    for (i = 0; i < r->changes; i++) {
        json_t *next;
        const json_t *f;
        const char *wrong;

        /* the short name fits into a hello */
        f = find_feature(*root, r->words[2 * i], r->words[2 * i + 1]);
        if (!f)
            return CLI_CONFIG;
        snprintf(change, sizeof change, "%s=%s", json_string_value(json_object_get(f, "word")),
                 r->words[2 * i + 1]);
        cli_detail("requests %s", change);
        next = query(r, change, &code);
        if (!next)
            return code;
        json_decref(*root);
        *root = next;
        wrong = json_string_value(json_object_get(next, "error"));
        if (wrong && *wrong) {
            cli_message("%s", wrong);
            return CLI_CONFIG;
        }
    }
    return CLI_OK;
}

static void print_features(const json_t *root)
{
    const json_t *f;
    size_t i;

    json_array_foreach(json_object_get(root, "features"), i, f)
    {
        const char *name = json_string_value(json_object_get(f, "name"));
        bool active = json_is_true(json_object_get(f, "active"));
        bool requested = json_is_true(json_object_get(f, "requested"));

        printf("%s: %s%s\n", name ? name : "?", active ? "on" : "off",
               json_is_true(json_object_get(f, "fixed")) ? " [fixed]"
               : active == requested                     ? ""
                                                         : " [requested on]");
    }
}

/* Prints all offloads, as text only if none was to change. */
static void print_result(const struct request *r, const json_t *root)
{
    if (r->json) {
        json_dumpf(json_object_get(root, "features"), stdout, JSON_INDENT(2));
        putchar('\n');
    } else if (r->changes == 0) {
        print_features(root);
    }
}

int cli_offload(int argc, char **argv)
{
    struct request r = {0};
    int code = parse(argc, argv, &r);
    json_t *root;

    if (code || r.done)
        return code;
    root = query(&r, "", &code);
    if (!root)
        return code;
    code = check_all(&r, root) ? CLI_OK : CLI_CONFIG;
    if (code == CLI_OK && r.dry_run) {
        print_changes(&r, root);
    } else if (code == CLI_OK) {
        code = change_all(&r, &root);
        if (code == CLI_OK)
            print_result(&r, root);
    }
    json_decref(root);
    if (fflush(stdout) != 0) {
        cli_message("cannot write: %s", strerror(errno));
        return CLI_FAILURE;
    }
    return code;
}
