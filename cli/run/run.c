/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - `toehold run`: executes a command with the preload library and its settings. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <toe/attach.h>
#include <toe/inline.h>
#include <toe/number.h>

#include "../common/daemon.h"
#include "../common/exit.h"
#include "../common/message.h"
#include "../common/part.h"
#include "../common/usage.h"
#include "gateware.h"
#include "inline.h"
#include "program.h"
#include "run.h"
#include "settings.h"

#define LIBRARY         "libtoe_preload.so"
#define BUSY_POLL_LIMIT 1000000

struct run_options {
    bool require, report;
    const char *socket, *busy_poll;
    const char *engine; /* "inline" or "thread"; NULL: toed, or the gateware in its place */
    bool gateware;      /* start the simulated gateware TOE for the command */
};

/* Options of an engine within the command; the engine checks their values. */
#define FOR_ENGINE(name)                                                                           \
    {                                                                                              \
        name, required_argument, NULL, 'e'                                                         \
    }

static const struct option run_options[] = {
    {"require", no_argument, NULL, 'r'},
    {"socket", required_argument, NULL, 's'},
    {"report", no_argument, NULL, 'p'},
    {"busy-poll-us", required_argument, NULL, 'b'},
    {"help", no_argument, NULL, 'h'},
    {"engine", required_argument, NULL, 'E'},
    FOR_ENGINE("netif"),
    FOR_ENGINE("netio"),
    FOR_ENGINE("ip"),
    FOR_ENGINE("gateway"),
    FOR_ENGINE("ip6"),
    {"ip6-auto", no_argument, NULL, 'e'},
    {"rfc1337", no_argument, NULL, 'e'},
    FOR_ENGINE("gateway6"),
    FOR_ENGINE("vlan"),
    FOR_ENGINE("mac"),
    FOR_ENGINE("mtu"),
    FOR_ENGINE("spin-us"),
    FOR_ENGINE("max-flows"),
    FOR_ENGINE("max-neighbours"),
    FOR_ENGINE("congestion"),
    FOR_ENGINE("ecn"),
    FOR_ENGINE("mtu-probing"),
    FOR_ENGINE("ttl"),
    FOR_ENGINE("seed"),
    FOR_ENGINE("offload"),
    FOR_ENGINE("cpu"),
    FOR_ENGINE("linger-ms"),
    {NULL, 0, NULL, 0},
};

/* Selects the engine: the option, else the environment. Returns 0 or an exit code. */
static int choose_engine(struct run_options *opt)
{
    const char *name = opt->engine ? opt->engine : getenv(TOEDEV_ENGINE_ENV);

    opt->engine = NULL;
    opt->gateware = name && strcmp(name, "gateware") == 0;
    if (name && *name && strcmp(name, "toed") != 0 && !opt->gateware) {
        if (strcmp(name, "inline") != 0 && strcmp(name, "thread") != 0) {
            cli_message("--engine %s: want toed, inline, thread or gateware", name);
            return CLI_USAGE;
        }
        opt->engine = name;
    }
    if (!opt->engine && !opt->gateware && cli_inline_any()) {
        cli_message("engine options such as --netif need --engine inline, thread or gateware; "
                    "with toed, give them to toed");
        return CLI_USAGE;
    }
    if (opt->engine && opt->socket && !cli_inline_option("socket", opt->socket))
        return CLI_USAGE;
    return 0;
}

/* Returns 0 or an exit code. *done: --help was given, there is nothing to run. */
static int parse(int argc, char **argv, struct run_options *opt, bool *done)
{
    char want[TOE_NUMBER_WANT];
    uint64_t n;
    int c, which;

    optind = 1;
    opterr = 0;
    /* "+": stop at the first word of the command. */
    while ((c = getopt_long(argc, argv, "+:h", run_options, &which)) != -1) {
        switch (c) {
        case 'r':
            opt->require = true;
            break;
        case 's':
            opt->socket = optarg;
            break;
        case 'p':
            opt->report = true;
            break;
        case 'b':
            if (!toe_number(optarg, 0, BUSY_POLL_LIMIT, &n, want, sizeof want)) {
                cli_message("--busy-poll-us %s is not %s", optarg, want);
                return CLI_USAGE;
            }
            opt->busy_poll = optarg;
            break;
        case 'E':
            opt->engine = optarg;
            break;
        case 'e':
            if (!cli_inline_option(run_options[which].name, optarg))
                return CLI_USAGE;
            break;
        case 'h':
            cli_usage(false);
            *done = true;
            return CLI_OK;
        case ':':
            cli_message("run: option %s needs a value", argv[optind - 1]);
            return CLI_USAGE;
        default:
            cli_message("run: unknown option %s", argv[optind - 1]);
            cli_usage(true);
            return CLI_USAGE;
        }
    }
    if (opt->socket && !*opt->socket) {
        cli_message("--socket needs a path");
        return CLI_USAGE;
    }
    if (optind >= argc) {
        cli_message("run: the command is missing");
        cli_usage(true);
        return CLI_USAGE;
    }
    return choose_engine(opt);
}

/* Prepends the library to LD_PRELOAD. */
static bool set_preload(const char *library)
{
    const char *old = getenv("LD_PRELOAD");
    char *value;
    bool ok;

    if (strpbrk(library, " :")) {
        cli_message(
            "the library's path \"%s\" contains a blank or a colon, which separate paths in "
            "LD_PRELOAD; move it, or set TOEHOLD_PRELOAD to another path",
            library);
        return false;
    }
    if (!old || !*old)
        return setenv("LD_PRELOAD", library, 1) == 0;
    if (asprintf(&value, "%s:%s", library, old) < 0)
        return false;
    ok = setenv("LD_PRELOAD", value, 1) == 0;
    free(value);
    return ok;
}

static bool set_environment(const struct run_options *opt, const char *socket_path)
{
    char library[PATH_MAX];

    if (!cli_find_part(LIBRARY, "../manager/", TOEHOLD_LIBDIR, "TOEHOLD_PRELOAD", library) ||
        !set_preload(library))
        return false;
    return (opt->engine || setenv(TOEDEV_SOCKET_ENV, socket_path, 1) == 0) &&
           (!opt->gateware || setenv(TOEDEV_ENGINE_ENV, "toed", 1) == 0) &&
           (!opt->require || setenv("TOEHOLD_REQUIRE", "1", 1) == 0) &&
           (!opt->report || setenv("TOEHOLD_REPORT", "1", 1) == 0) &&
           (!opt->busy_poll || setenv("TOEHOLD_BUSY_POLL_US", opt->busy_poll, 1) == 0);
}

/* Executes a script without "#!" by a shell, as execvp(3) does. Returns only on failure. */
static void execute_by_shell(const char *path, char **argv)
{
    size_t n = 0;
    char **shell;

    while (argv[n])
        n++;
    shell = calloc(n + 2, sizeof *shell);
    if (!shell)
        return;
    shell[0] = (char *)"/bin/sh";
    shell[1] = (char *)path;
    memcpy(shell + 2, argv + 1, n * sizeof *shell);
    execv(shell[0], shell);
    free(shell);
}

static int execute(const char *path, char **argv)
{
    int error;

    execv(path, argv);
    if (errno == ENOEXEC)
        execute_by_shell(path, argv);
    error = errno;
    cli_message("%s: %s", path, strerror(error));
    return error == ENOENT ? CLI_NOT_FOUND : CLI_CANNOT_RUN;
}

/* Checks whether the TOE will carry the command's sockets and reports the reason when it will not.
 * Returns 0, or an exit code under --require. *reachable: a TOE answers, so the library is
 * preloaded (a program that bypasses it may start others that do not). */
static int check_carried(const struct run_options *opt, const char *name, const char *path,
                         const char *socket_path, bool *reachable)
{
    const char *why = cli_why_bypasses(path);
    const char *then = opt->require ? "; refused (--require)" : "; it runs on the kernel's TCP";
    char reason[512];
    int fd, r;

    if (why) {
        cli_message("%s %s: it bypasses the TOE%s", name, why, then);
        if (opt->require)
            return CLI_REFUSED;
    }
    if (opt->engine) {
        r = cli_inline_check(opt->engine, reason, sizeof reason, reachable);
        if (r || *reachable)
            return r;
    } else {
        r = opt->gateware && !why ? cli_gateware_start(socket_path) : 0;
        if (r)
            return r;
        fd = cli_connect(socket_path, reason, sizeof reason);
        *reachable = fd >= 0;
        if (fd >= 0) {
            close(fd);
            return 0;
        }
    }
    if (!why)
        cli_message("%s: %s%s", name, reason, then);
    return opt->require ? CLI_NO_DAEMON : 0;
}

int cli_run(int argc, char **argv)
{
    struct run_options opt = {0};
    const char *socket_path, *require;
    char path[PATH_MAX];
    bool done = false, reachable;
    int r = parse(argc, argv, &opt, &done);

    if (r || done)
        return r;
    if (!cli_check_environment())
        return CLI_CONFIG;
    argv += optind;
    r = cli_find_command(argv[0], path);
    if (r) {
        cli_message("%s: %s", argv[0],
                    r == CLI_NOT_FOUND ? "command not found" : "cannot be executed");
        return r;
    }
    require = getenv("TOEHOLD_REQUIRE");
    opt.require = opt.require || (require && *require == '1');
    socket_path = cli_socket_path(opt.socket);
    r = check_carried(&opt, argv[0], path, socket_path, &reachable);
    if (r)
        return r;
    if (reachable && !set_environment(&opt, socket_path))
        return CLI_CONFIG;
    return execute(path, argv);
}
