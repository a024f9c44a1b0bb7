/* SPDX-License-Identifier: Apache-2.0 */
/* top.c - `toehold top`: live rates of engines and flows. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <toe/attach.h>

#include "batch.h"
#include "common/daemon.h"
#include "common/exit.h"
#include "common/message.h"
#include "common/options.h"
#include "screen.h"
#include "top.h"

static const char text[] =
    "Shows, per second: frames, bytes and opened connections of each engine with its CPU time and\n"
    "the share of polls that find no work; drops by reason; bytes and retransmissions of each\n"
    "flow with its RTT, cwnd and queues. On the terminal, h lists the keys; Enter shows a flow's\n"
    "details and last events.";

static bool take_sort(void *arg, const char *name, const char *value)
{
    enum top_sort by;

    for (by = 0; by < TOP_SORTS; by++)
        if (strcmp(value, top_sort_name(by)) == 0) {
            *(enum top_sort *)arg = by;
            return true;
        }
    cli_message("top: --%s %s is not tx, rx, retrans, rtt, cwnd or queue", name, value);
    return false;
}

/* Checks what belongs together. */
static int check(const struct top_options *o)
{
    if (o->json && !o->batch) {
        cli_message("top: --json needs --batch N");
        return CLI_USAGE;
    }
    if (!o->batch && (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))) {
        cli_message("top: standard input and output are not a terminal; use --batch N");
        return CLI_USAGE;
    }
    return CLI_OK;
}

static int parse(int argc, char **argv, struct top_options *o, const char **path, bool *help)
{
    const struct cli_option known[] = {
        {"every", .number = &o->every_s, .min = 1, .max = 3600, .unit = "seconds",
         .value = "SECONDS", .help = "time between two looks, 1 to 3600 (default 2)"},
        {"batch", .number = &o->batch, .min = 1, .max = UINT32_MAX,
         .help = "print N looks as text, one after each interval, and\nend"},
        {"json", 'j', .flag = &o->json, .help = "one JSON object a line, of --batch"},
        {"sort", .take = take_sort, .arg = &o->sort, .value = "KEY",
         .help = "tx (default), rx, retrans, rtt, cwnd or queue"},
        {"reverse", .flag = &o->reverse, .help = "the smallest first"},
        {"socket", .text = path, .value = "PATH",
         .help = CLI_SOCKET_HELP ";\nof a program with an engine in it: its inline socket"},
        {.name = NULL}};
    const struct cli_options options = {
        .verb = "top",
        .known = known,
        .usage = "[--every SECONDS] [--sort KEY] [--reverse] [--socket PATH]\n"
                 "--batch N [--json] [--every SECONDS] [--sort KEY] [--reverse] ...",
        .text = text,
        .after = "exit: 0, 1 failure, 2 usage, 4 no TOE answers"};

    return cli_options(&options, argc, argv, help);
}

int cli_top(int argc, char **argv)
{
    struct top_options o = {.every_s = 2, .sort = TOP_TX};
    const char *socket_path = NULL;
    bool help;
    int r = parse(argc, argv, &o, &socket_path, &help);

    if (r || help)
        return r;
    if (optind < argc) {
        cli_message("top: unexpected argument %s; toehold top --help shows the options",
                    argv[optind]);
        return CLI_USAGE;
    }
    r = check(&o);
    if (r)
        return r;
    o.path = cli_socket_path(socket_path);
    return o.batch ? top_batch(&o) : top_screen(&o);
}
