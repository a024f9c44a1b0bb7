/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the program `toehold`: dispatches to the verb that the first argument names. */
#include <stdio.h>
#include <string.h>

#include <toe/attach.h>

#include "bench.h"
#include "common/exit.h"
#include "common/message.h"
#include "common/usage.h"
#include "flows/flows.h"
#include "metrics.h"
#include "offload.h"
#include "reg/reg.h"
#include "rtt/rtt.h"
#include "run/run.h"
#include "stats.h"
#include "top/top.h"
#include "trace/trace.h"

static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns an exit code */
} verbs[] = {{"run", cli_run},     {"flows", cli_flows},     {"stats", cli_stats},
             {"bench", cli_bench}, {"offload", cli_offload}, {"reg", cli_reg},
             {"rtt", cli_rtt},     {"metrics", cli_metrics}, {"trace", cli_trace},
             {"top", cli_top}};

#define VERBS "run, flows, trace, top, stats, metrics, bench, offload, reg or rtt"

static const struct verb *find(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (!strcmp(name, verbs[i].name))
            return &verbs[i];
    return NULL;
}

static int wrong_verb(void)
{
    cli_message("give " VERBS "; toehold --help shows them");
    return CLI_USAGE;
}

/* `toehold help [VERB]` */
static int help(int argc, char **argv)
{
    char option[] = "--help", *words[] = {argc > 0 ? argv[0] : NULL, option, NULL};
    const struct verb *v = argc > 0 ? find(argv[0]) : NULL;

    if (argc > 1) {
        cli_message("help: unexpected argument %s", argv[1]);
        return wrong_verb();
    }
    if (v)
        return v->run(2, words);
    if (argc > 0) {
        cli_message("help: unknown subcommand %s", argv[0]);
        return wrong_verb();
    }
    cli_usage();
    return CLI_OK;
}

int main(int argc, char **argv)
{
    const struct verb *v = argc > 1 ? find(argv[1]) : NULL;

    if (v)
        return v->run(argc - 1, argv + 1);
    if (argc < 2) {
        cli_message("a subcommand is missing");
        return wrong_verb();
    }
    if (!strcmp(argv[1], "help"))
        return help(argc - 2, argv + 2);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        cli_usage();
        return CLI_OK;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("toehold %s (device contract %u)\n", TOEHOLD_VERSION, TOEDEV_CONTRACT_VERSION);
        return CLI_OK;
    }
    cli_message("unknown subcommand %s", argv[1]);
    return wrong_verb();
}
