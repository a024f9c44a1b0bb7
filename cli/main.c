/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the program `toehold`: dispatches to the verb that the first argument names. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <toe/attach.h>

#include "bench.h"
#include "capture/capture.h"
#include "common/exit.h"
#include "common/help.h"
#include "common/message.h"
#include "config/config.h"
#include "doctor/doctor.h"
#include "flows/flows.h"
#include "metrics.h"
#include "offload.h"
#include "reg/reg.h"
#include "rtt/rtt.h"
#include "run/run.h"
#include "stats.h"
#include "top/top.h"
#include "trace/trace.h"
#include "tune/tune.h"

static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns an exit code */
    bool program;                      /* executes another program, which has a help of its own */
    const char *what;
} verbs[] = {
    {"run", cli_run, false, "executes a command; the TOE carries its TCP sockets"},
    {"doctor", cli_doctor, false, "examines this machine and toed, with cures"},
    {"flows", cli_flows, false, "lists listeners and flows, as ss -tinop"},
    {"trace", cli_trace, false, "shows the last events of a flow, or draws it"},
    {"top", cli_top, false, "shows flows and engines with their rates, as top"},
    {"capture", cli_capture, false, "shows or writes the frames of the TOE, as tcpdump"},
    {"stats", cli_stats, false, "prints the figures of toed with their meaning"},
    {"metrics", cli_metrics, false, "prints or serves them as OpenMetrics (Prometheus)"},
    {"config", cli_config, false, "shows, explains and checks settings and their files"},
    {"bench", cli_bench, true, "loads a TCP server and measures, or is the server"},
    {"offload", cli_offload, false, "shows or switches offloads, as ethtool -k and -K"},
    {"tune", cli_tune, false, "finds the best settings of an interface for a workload"},
    {"reg", cli_reg, false, "reads and writes registers by name"},
    {"rtt", cli_rtt, false, "measures round-trip times"},
};

#define COUNT    (sizeof verbs / sizeof verbs[0])
#define DESCRIBE "--describe"

static const struct verb *find(const char *name)
{
    size_t i;

    for (i = 0; i < COUNT; i++)
        if (!strcmp(name, verbs[i].name))
            return &verbs[i];
    return NULL;
}

static int wrong_verb(void)
{
    char names[256] = "";
    size_t i;

    for (i = 0; i < COUNT; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                 i == 0           ? ""
                 : i + 1 == COUNT ? " or "
                                  : ", ",
                 verbs[i].name);
    cli_message("give %s; toehold --help shows them", names);
    return CLI_USAGE;
}

static int usage(void)
{
    size_t i;

    puts("usage: toehold VERB [OPTION...] [ARGUMENT...]\n"
         "       toehold help [VERB] | -h, --help | -V, --version | --describe\n");
    for (i = 0; i < COUNT; i++)
        printf("  %-9s %s\n", verbs[i].name, verbs[i].what);
    puts(
        "\n`toehold help VERB` and `toehold VERB --help` list the options of a verb, --describe "
        "all\n"
        "of them as JSON.\n"
        "\n"
        "exit: of run that of its command; 0, 1 failure, 2 usage, 3 configuration, 4 no TOE "
        "answers,\n"
        "5 refused by run --require, 6 bench: measured, but something failed, 7 reg, rtt: no such\n"
        "registers or source, 8 rtt, tune: nothing was answered, 9 doctor: warnings, 126 the "
        "command\n"
        "cannot be executed, 127 it was not found");
    return CLI_OK;
}

/* Calls a verb with one option. */
static int ask(const struct verb *v, const char *option)
{
    char name[16], word[16], *words[] = {name, word, NULL};

    snprintf(name, sizeof name, "%s", v->name);
    snprintf(word, sizeof word, "%s", option);
    return v->run(2, words);
}

/* Prints verbs, options and arguments as JSON. The texts of verbs need no escapes. */
static int describe(void)
{
    size_t i;

    printf("{\"schema_version\": 1, \"version\": \"%s\", \"verbs\": [", TOEHOLD_VERSION);
    for (i = 0; i < COUNT; i++) {
        printf("%s{\"name\": \"%s\", \"what\": \"%s\"", i ? ",\n" : "\n", verbs[i].name,
               verbs[i].what);
        if (!verbs[i].program) {
            fputs(", \"command\": ", stdout);
            ask(&verbs[i], DESCRIBE);
        }
        putchar('}');
    }
    puts("]}");
    if (fflush(stdout) == 0)
        return CLI_OK;
    cli_message("cannot write: %s", strerror(errno));
    return CLI_FAILURE;
}

/* `toehold help [VERB]` */
static int help(int argc, char **argv)
{
    const struct verb *v = argc > 0 ? find(argv[0]) : NULL;

    if (argc > 1) {
        cli_message("help: unexpected argument %s", argv[1]);
        return wrong_verb();
    }
    if (v)
        return ask(v, "--help");
    if (argc == 0)
        return usage();
    cli_message("help: unknown subcommand %s", argv[0]);
    return wrong_verb();
}

/* Returns whether Wireshark runs the program, by a link in its extcap folder. */
static bool is_extcap(const char *program)
{
    const char *slash = program ? strrchr(program, '/') : NULL;

    return program && strcmp(slash ? slash + 1 : program, "toehold-capture") == 0;
}

int main(int argc, char **argv)
{
    const struct verb *v = argc > 1 ? find(argv[1]) : NULL;

    if (is_extcap(argv[0]))
        return cli_capture(argc, argv);
    if (v)
        return v->run(argc - 1, argv + 1);
    if (argc < 2) {
        cli_message("a subcommand is missing");
        return wrong_verb();
    }
    if (!strcmp(argv[1], "help"))
        return help(argc - 2, argv + 2);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return usage();
    if (!strcmp(argv[1], DESCRIBE))
        return describe();
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        cli_help_version();
        return CLI_OK;
    }
    cli_message("unknown subcommand %s", argv[1]);
    return wrong_verb();
}
