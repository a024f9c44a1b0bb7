/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#define _GNU_SOURCE
#include <getopt.h>
#include <net/if.h>
#include <string.h>

#include <toe/number.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "../common/options.h"
#include "options.h"
#include "rounds.h"
#include "saved.h"
#include "settings.h"

#define SETTINGS_FILE "/etc/toehold/toehold.toml"
#define BUDGET        60
#define BUDGET_MOST   86400

static const char text[] =
    "Tries what can be switched - offloads and interrupt moderation of the interface, socket\n"
    "buffers, and the TOE in place of the kernel - under a workload, in rounds, and prints what "
    "is\nbetter beyond the spread. Everything is then set as it was before; with --apply the best "
    "stays\nset. The workload is COMMAND, which runs once for each sample; or requests for URL; or "
    "what runs\nnow. docs/TUNE.md explains figures and verdicts.";

static const char exit_text[] =
    "exit: 0 measured, whatever the verdict; 1 failure, 2 usage, 3 not possible here, 4 no toed,\n"
    "8 the workload moved nothing";

static bool take_words(void *arg, const char *name, const char *value)
{
    struct tune_options *o = arg;
    char unknown[40];

    if (tune_parse_words(value, &o->words, &o->named, unknown, sizeof unknown))
        return true;
    cli_message("tune: --%s: unknown word \"%s\"; want %s", name, unknown, tune_words());
    return false;
}

static bool take_goal(void *arg, const char *name, const char *value)
{
    static const char *const goals[] = {[TUNE_BALANCED] = "balanced",
                                        [TUNE_GOAL_THROUGHPUT] = "throughput",
                                        [TUNE_GOAL_LATENCY] = "latency",
                                        [TUNE_GOAL_CPU] = "cpu"};
    struct tune_options *o = arg;
    int i;

    for (i = 0; i < 4; i++)
        if (strcmp(value, goals[i]) == 0) {
            o->goal = i;
            return true;
        }
    cli_message("tune: --%s %s: want balanced, throughput, latency or cpu", name, value);
    return false;
}

static bool take_watch(void *arg, const char *name, const char *value)
{
    struct tune_options *o = arg;
    char want[TOE_NUMBER_WANT];

    o->watch = toe_number(value, 1, BUDGET_MOST, &o->budget, want, sizeof want);
    if (!o->watch)
        cli_message("tune: --%s %s: want %s seconds", name, value, want);
    return o->watch;
}

/* Checks what cannot be given together. */
static int check(const struct tune_options *o, bool budget)
{
    int workloads = (o->command != NULL) + (o->url != NULL) + o->watch;

    if (o->revert) {
        if (!workloads && !o->interface && !o->apply && !o->dry && !o->named)
            return CLI_OK;
        cli_message("tune: --revert takes only --state; it restores what was set before");
        return CLI_USAGE;
    }
    if (!o->interface || !*o->interface || strlen(o->interface) >= IF_NAMESIZE)
        cli_message("tune: give --interface IF, of at most %d bytes", IF_NAMESIZE - 1);
    else if (workloads != 1)
        cli_message("tune: want one workload: -- COMMAND..., --url URL or --watch SECONDS");
    else if (o->watch && budget)
        cli_message("tune: --watch SECONDS is the budget; leave out --budget");
    else if (o->apply && o->dry)
        cli_message("tune: --apply and --dry-run exclude each other");
    else
        return CLI_OK;
    return CLI_USAGE;
}

static int parse_words(int argc, char **argv, struct tune_options *o, uint64_t *budget, bool *done)
{
    uint64_t connections;
    const struct cli_option known[] = {
        {"interface", 'i', .text = &o->interface, .value = "IF",
         .help = "the network interface that the workload uses"},
        {"url", .text = &o->url, .value = "URL",
         .help = "load http://ADDRESS[:PORT]/PATH by `toehold bench`"},
        {"connections", .number = &connections, .min = 1, .max = 65536, .text = &o->connections,
         .help = "of --url (16)"},
        {"watch", .take = take_watch, .arg = o, .value = "SECONDS",
         .help = "measure what runs now, for SECONDS in all"},
        {"budget", .number = budget, .min = 1, .max = BUDGET_MOST, .unit = "seconds",
         .value = "SECONDS", .help = "time in all (60)"},
        {"rounds", .number = &o->rounds, .min = TUNE_ROUNDS, .max = TUNE_ROUNDS_MAX,
         .help =
             "at most N rounds of a stage, 5 to 15 (15); a workload of\nequal runs needs no more "
             "than 5"},
        {"try", .take = take_words, .arg = o, .value = "LIST",
         .help = "only these, such as tso,gro,toed; offloads: all of the\ninterface (everything "
                 "that is possible)"},
        {"goal", .take = take_goal, .arg = o, .value = "GOAL",
         .help = "throughput, latency or cpu, at the cost of the others;\nbalanced: nothing may "
                 "lose (balanced)"},
        {"apply", .flag = &o->apply, .help = "leave the best set, if anything is better"},
        {"revert", .flag = &o->revert,
         .help = "set everything back: what --apply did, or a killed tune\nleft"},
        {"dry-run", 'n', .flag = &o->dry, .help = "print what would be tried, and change nothing"},
        {"force", .flag = &o->force, .help = "also for the interface of the default route"},
        {"json", 'j', .flag = &o->json, .help = "the result as JSON, with all samples"},
        {"quiet", 'q', .flag = &o->quiet, .help = "no progress on standard error"},
        {"socket", .text = &o->socket, .value = "PATH", .help = CLI_SOCKET_HELP},
        {"settings", .text = &o->settings, .value = "FILE",
         .help = "written by --apply if a TOE is best\n(" SETTINGS_FILE ")"},
        {"state", .text = &o->state, .value = "FILE",
         .help = "how everything was before\n(" TUNE_STATE_FILE ")"},
        {.name = NULL}};
    const struct cli_options options = {.verb = "tune",
                                        .known = known,
                                        .usage = "--interface IF [OPTION...] -- COMMAND...\n"
                                                 "--interface IF --url URL [OPTION...]\n"
                                                 "--interface IF --watch SECONDS [OPTION...]\n"
                                                 "--revert [--state FILE]",
                                        .text = text,
                                        .after = exit_text};

    return cli_options(&options, argc, argv, done);
}

int tune_parse(int argc, char **argv, struct tune_options *o, bool *done)
{
    uint64_t budget = 0;
    int code;

    *o = (struct tune_options){.connections = "16",
                               .state = TUNE_STATE_FILE,
                               .settings = SETTINGS_FILE,
                               .words = (1u << TUNE_WORDS) - 1,
                               .rounds = TUNE_ROUNDS_MAX,
                               .goal = TUNE_BALANCED};
    code = parse_words(argc, argv, o, &budget, done);
    if (code || *done)
        return code;
    if (optind < argc)
        o->command = argv + optind;
    code = check(o, budget != 0);
    if (!o->watch)
        o->budget = budget ? budget : BUDGET;
    return code;
}
