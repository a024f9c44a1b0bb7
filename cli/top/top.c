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

static const char help_text[] =
    "usage: toehold top [--every SECONDS] [--sort KEY] [--reverse] [--socket PATH]\n"
    "       toehold top --batch N [--json] [--every SECONDS] [--sort KEY] [--reverse] ...\n"
    "\n"
    "Shows, per second: frames, bytes and opened connections of each engine with its CPU time and\n"
    "the share of polls that find no work; drops by reason; bytes and retransmissions of each "
    "flow\n"
    "with its RTT, cwnd and queues. On the terminal, h lists the keys; Enter shows a flow's "
    "details\n"
    "and last events.\n"
    "\n"
    "  --every SECONDS  time between two looks, 1 to 3600 (default 2)\n"
    "  --batch N        print N looks as text, one after each interval, and end\n"
    "  --json           with --batch: one JSON object a line\n"
    "  --sort KEY       tx (default), rx, retrans, rtt, cwnd or queue\n"
    "  --reverse        the smallest first\n"
    "  --socket PATH    socket of the TOE (default $TOEHOLD_SOCKET, else " TOEDEV_DEFAULT_SOCKET
    ");\n"
    "                   of a program with an engine in it: its inline socket\n"
    "\n"
    "exit: 0, 1 failure, 2 usage, 4 no TOE answers\n";

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

int cli_top(int argc, char **argv)
{
    struct top_options o = {.every_s = 2, .sort = TOP_TX};
    const char *socket_path = NULL;
    bool help;
    const struct cli_option known[] = {
        {"every", .number = &o.every_s, .min = 1, .max = 3600, .unit = "seconds"},
        {"batch", .number = &o.batch, .min = 1, .max = UINT32_MAX},
        {"json", 'j', .flag = &o.json},
        {"sort", .take = take_sort, .arg = &o.sort},
        {"reverse", .flag = &o.reverse},
        {"socket", .text = &socket_path},
        {.name = NULL}};
    int r = cli_options(&(struct cli_options){.verb = "top", .known = known}, argc, argv, &help);

    if (r)
        return r;
    if (help) {
        fputs(help_text, stdout);
        return CLI_OK;
    }
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
