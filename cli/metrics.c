/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - `toehold metrics`: the statistics of a TOE as OpenMetrics, once or over HTTP. */
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
#include "metrics.h"
#include "openmetrics.h"
#include "serve.h"

struct request {
    const char *socket_path, *listen;
    bool help;
};

/* Asks for the statistics. NULL, with an exit code, after a message. */
static json_t *ask(const struct request *r, int *code)
{
    char why[512], *text;
    json_error_t error;
    json_t *root;
    size_t size;
    int fd = cli_connect(cli_socket_path(r->socket_path), why, sizeof why);

    *code = fd < 0 ? CLI_NO_DAEMON : CLI_FAILURE;
    if (fd < 0) {
        cli_message("%s", why);
        return NULL;
    }
    text = cli_ask(fd, TOEDEV_HELLO_QUERY, TOEDEV_QUERY_HELP, &size);
    close(fd);
    if (!text)
        return NULL;
    root = json_loadb(text, size, 0, &error);
    free(text);
    if (json_is_object(root)) {
        *code = CLI_OK;
        return root;
    }
    cli_message("cannot parse the answer of the TOE: %s; use toehold and toed of one release",
                root ? "not an object" : error.text);
    json_decref(root);
    return NULL;
}

static char *render(void *arg, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    json_t *stats;
    int code;

    if (!f)
        return NULL;
    stats = ask(arg, &code); /* NULL: the answer contains toehold_up 0 */
    openmetrics_write(f, stats);
    json_decref(stats);
    fclose(f);
    return text;
}

static int print_once(const struct request *r)
{
    int code;
    json_t *stats = ask(r, &code);

    if (!stats)
        return code;
    openmetrics_write(stdout, stats);
    json_decref(stats);
    if (fflush(stdout) == 0)
        return CLI_OK;
    cli_message("cannot write: %s", strerror(errno));
    return CLI_FAILURE;
}

int cli_metrics(int argc, char **argv)
{
    struct request r = {0};
    const struct cli_option known[] = {
        {"listen", .text = &r.listen, .value = "AT",
         .help = "ADDRESS:PORT, [IPV6]:PORT, or unix:PATH (mode 0660)"},
        {"socket", .text = &r.socket_path, .value = "PATH", .help = CLI_SOCKET_HELP},
        {.name = NULL}};
    const struct cli_options options = {
        .verb = "metrics",
        .known = known,
        .usage = "[--listen ADDRESS:PORT | --listen unix:PATH] [--socket PATH]",
        .text = "Prints the statistics of a TOE as OpenMetrics text, for Prometheus and others. "
                "With\n--listen it serves them over HTTP, at / and /metrics, and asks the TOE at "
                "each request.\n\n"
                "  toehold metrics --listen 127.0.0.1:9464\n"
                "  toehold metrics > /var/lib/prometheus/node-exporter/toehold.prom",
        .after = "exit: 0, 1 failure, 2 usage, 4 no TOE answers (with --listen: toehold_up is 0)"};
    int code = cli_options(&options, argc, argv, &r.help);

    if (code || r.help)
        return code;
    if (optind < argc) {
        cli_message("metrics: unexpected argument %s; toehold metrics --help shows the options",
                    argv[optind]);
        return CLI_USAGE;
    }
    return r.listen ? serve_text(r.listen, OPENMETRICS_TYPE, render, &r) : print_once(&r);
}
