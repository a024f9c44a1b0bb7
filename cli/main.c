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
#include "offload.h"
#include "reg/reg.h"
#include "rtt/rtt.h"
#include "run/run.h"
#include "stats.h"

static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns an exit code */
} verbs[] = {{"run", cli_run},     {"flows", cli_flows},     {"stats", cli_stats},
             {"bench", cli_bench}, {"offload", cli_offload}, {"reg", cli_reg},
             {"rtt", cli_rtt}};

int main(int argc, char **argv)
{
    size_t i;

    if (argc < 2) {
        cli_message("a subcommand is missing; give run, flows, stats, bench, offload, reg or rtt");
        cli_usage(true);
        return CLI_USAGE;
    }
    for (i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (!strcmp(argv[1], verbs[i].name))
            return verbs[i].run(argc - 1, argv + 1);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        cli_usage(false);
        return CLI_OK;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("toehold %s (device contract %u)\n", TOEHOLD_VERSION, TOEDEV_CONTRACT_VERSION);
        return CLI_OK;
    }
    cli_message("unknown subcommand %s; give run, flows, stats, bench, offload, reg or rtt",
                argv[1]);
    cli_usage(true);
    return CLI_USAGE;
}
