/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.c - `toehold doctor`: examines machine, interfaces and toed, and prints each finding with
 * the command that cures it. It changes nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../common/daemon.h"
#include "../common/exit.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/verbosity.h"
#include "addresses.h"
#include "cards.h"
#include "doctor.h"
#include "files.h"
#include "interfaces.h"
#include "kernel.h"
#include "memory.h"
#include "ports.h"
#include "progress.h"
#include "rights.h"
#include "security.h"
#include "service.h"
#include "versions.h"

/* In this order: each may use what the earlier ones have found. */
static const struct check {
    const char *what; /* for progress */
    void (*run)(struct facts *f);
} checks[] = {
    {"the kernel", check_kernel},
    {"rights and limits", check_rights},
    {"files", check_files},
    {"waiting for toed", check_service},
    {"versions in use", check_versions},
    {"memory", check_memory},
    {"interfaces", check_interfaces},
    {"addresses and routes", check_addresses},
    {"ports", check_ports},
    {"security modules", check_security},
    {"network cards", check_cards},
};

struct options {
    const char *interface, *socket_path;
    bool json, quiet, help;
};

static int parse(int argc, char **argv, struct options *o)
{
    const struct cli_option known[] = {
        {"interface", 'i', .text = &o->interface, .value = "IF",
         .help = "that toed shall use: examined fully; an error if it is\nmissing or down"},
        {"quiet", 'q', .flag = &o->quiet, .help = "warnings and errors only"},
        {"json", 'j', .flag = &o->json,
         .help = "all findings: id, severity (ok, note, warning, error),\nfound, cure, advice"},
        {"socket", .text = &o->socket_path, .value = "PATH", .help = CLI_SOCKET_HELP},
        {.name = NULL}};
    const struct cli_options options = {
        .verb = "doctor",
        .known = known,
        .usage = "[--json | --quiet] [--interface IF] [--socket PATH]",
        .text = "Examines this machine and toed, and prints each finding with the command that "
                "cures it.\nIt changes nothing. Run it as root, in the network namespace and with "
                "the limits of toed.",
        .after = "exit: 0 nothing worse than a note, 1 an error, 2 usage, 9 a warning"};
    int code = cli_options(&options, argc, argv, &o->help);

    if (code || o->help)
        return code;
    if (optind < argc) {
        cli_message("doctor: unexpected argument %s; toehold doctor --help shows the options",
                    argv[optind]);
        return CLI_USAGE;
    }
    if (o->json && o->quiet) {
        cli_message("doctor: give only one of --json and --quiet");
        return CLI_USAGE;
    }
    if (o->socket_path && !*o->socket_path) {
        cli_message("doctor: --socket needs a path");
        return CLI_USAGE;
    }
    if (o->interface && (!*o->interface || strlen(o->interface) >= IF_NAMESIZE)) {
        cli_message("doctor: --interface %s: want a name of 1 to %d characters", o->interface,
                    IF_NAMESIZE - 1);
        return CLI_USAGE;
    }
    return CLI_OK;
}

static void examine(struct facts *f)
{
    const unsigned all = sizeof checks / sizeof checks[0];
    unsigned i;

    progress_start();
    for (i = 0; i < all; i++) {
        progress_step(checks[i].what, i + 1, all);
        cli_detail("doctor: check %u of %u: %s", i + 1, all, checks[i].what);
        checks[i].run(f);
    }
    progress_end();
    toe_free(&f->toe);
}

static int exit_code(enum severity worst)
{
    return worst == FOUND_ERROR ? CLI_FAILURE : worst == FOUND_WARNING ? CLI_WARNING : CLI_OK;
}

int cli_doctor(int argc, char **argv)
{
    struct options o = {0};
    struct facts f = {0};
    int code = parse(argc, argv, &o);

    if (code || o.help)
        return code;
    f.report = report_new();
    if (!f.report) {
        cli_message("no memory");
        return CLI_FAILURE;
    }
    f.interface = o.interface;
    f.socket_path = cli_socket_path(o.socket_path);
    examine(&f);
    if (o.json)
        report_print_json(f.report, TOEHOLD_VERSION);
    else
        report_print(f.report, o.quiet);
    code = exit_code(report_worst(f.report));
    report_free(f.report);
    if (fflush(stdout) != 0) {
        cli_message("cannot write: %s", strerror(errno));
        return CLI_FAILURE;
    }
    return code;
}
