/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - `toehold run`: executes a command with the preload library and its settings. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <toe/attach.h>
#include <toe/inline.h>

#include "../common/daemon.h"
#include "../common/exit.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../common/part.h"
#include "../common/verbosity.h"
#include "../common/word.h"
#include "gateware.h"
#include "inline.h"
#include "layers.h"
#include "program.h"
#include "run.h"
#include "sanitizer.h"
#include "settings.h"

#define LIBRARY         "libtoe_preload.so"
#define BUSY_POLL_LIMIT 1000000

struct run_options {
    bool require, report, dry, no_config;
    const char *socket, *busy_poll;
    const char *config, *profile;
    const char *engine; /* "inline" or "thread"; NULL: toed, or a simulated TOE in its place */
    const char *hybrid; /* configuration of the hybrid TOE */
    enum cli_simulated simulated; /* start this TOE for the command */
};

/* Selects the configuration of the hybrid TOE. Returns 0 or an exit code. */
static int choose_hybrid(struct run_options *opt)
{
    static const struct {
        const char *name;
        enum cli_simulated simulated;
    } known[] = {{"software", CLI_HYBRID},
                 {"prototype", CLI_HYBRID_PROTOTYPE},
                 {"complete", CLI_HYBRID_COMPLETE}};
    size_t i;

    if (!opt->hybrid)
        return 0;
    if (opt->simulated != CLI_HYBRID) {
        cli_message("--hybrid %s needs --engine hybrid", opt->hybrid);
        return CLI_USAGE;
    }
    for (i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(opt->hybrid, known[i].name) == 0) {
            opt->simulated = known[i].simulated;
            return 0;
        }
    if (strcmp(opt->hybrid, "paper") == 0)
        cli_message("--hybrid paper is not built yet; software, prototype and complete are");
    else
        cli_message("--hybrid %s: want software, prototype or complete", opt->hybrid);
    return CLI_USAGE;
}

/* Selects the engine: the option, else the environment. Returns 0 or an exit code. */
static int choose_engine(struct run_options *opt)
{
    const char *name = opt->engine ? opt->engine : getenv(TOEDEV_ENGINE_ENV);

    opt->engine = NULL;
    if (name && strcmp(name, "gateware") == 0)
        opt->simulated = CLI_GATEWARE;
    else if (name && strcmp(name, "hybrid") == 0)
        opt->simulated = CLI_HYBRID;
    if (name && *name && strcmp(name, "toed") != 0 && !opt->simulated) {
        if (strcmp(name, "inline") != 0 && strcmp(name, "thread") != 0) {
            cli_message("--engine %s: want toed, inline, thread, gateware or hybrid", name);
            return CLI_USAGE;
        }
        opt->engine = name;
    }
    if (!opt->engine && !opt->simulated && cli_inline_any()) {
        cli_message("engine options such as --netif need --engine inline, thread, gateware or "
                    "hybrid; with toed, give them to toed");
        return CLI_USAGE;
    }
    if (opt->engine && opt->socket && !cli_inline_option("socket", opt->socket))
        return CLI_USAGE;
    return choose_hybrid(opt);
}

static bool for_engine(void *arg, const char *name, const char *value)
{
    (void)arg;
    return cli_inline_option(name, value);
}

/* Options of an engine within the command; the engine checks their values. */
#define FOR_ENGINE(name, word, text)                                                               \
    {                                                                                              \
        name, .take = for_engine, .value = (word), .help = (text)                                  \
    }
#define FLAG_FOR_ENGINE(name, text)                                                                \
    {                                                                                              \
        name, .take = for_engine, .bare = true, .help = (text)                                     \
    }

static const char text[] =
    "Executes COMMAND; the TOE carries its TCP sockets. The options from --netif on are those of "
    "an\n"
    "engine in COMMAND or simulated beside it (--engine), as of toed (toed --help); simulations\n"
    "take --netif, --ip, --gateway, --ip6, --gateway6, --mac, --mtu and --seed of them.\n"
    "\n"
    "The frames bypass the kernel: tcpdump on an AF_XDP or DPDK interface sees nothing of them.\n"
    "toehold capture shows them.";

static const char exit_text[] =
    "exit: that of COMMAND; 1 failure, 2 usage, 3 configuration, 4 no toed, 5 refused by\n"
    "--require, 126 COMMAND cannot be executed, 127 COMMAND not found";

/* Returns 0 or an exit code. *done: --help was given, there is nothing to run. */
static int parse_words(int argc, char **argv, struct run_options *opt, bool *done)
{
    uint64_t us;
    const struct cli_option known[] = {
        {"require", .flag = &opt->require, .help = "fail instead of running on the kernel's TCP"},
        {"report", .flag = &opt->report,
         .help = "report on stderr which sockets the TOE does not\ncarry, and why"},
        {"dry-run", 'n', .flag = &opt->dry,
         .help =
             "print what would be executed, as a shell command, and\nwhy the TOE would not carry "
             "it"},
        {"busy-poll-us", .number = &us, .max = BUSY_POLL_LIMIT, .text = &opt->busy_poll,
         .help = "poll N microseconds before sleeping (0 to 1000000)"},
        {"socket", .text = &opt->socket, .value = "PATH", .help = CLI_SOCKET_HELP},
        {"profile", .text = &opt->profile, .value = "NAME",
         .help = "a named set of settings: toehold config profiles lists\nthem"},
        {"config", .text = &opt->config, .value = "FILE",
         .help = "read settings from this file alone"},
        {"no-config", .flag = &opt->no_config, .help = "read settings from no file"},
        {"engine", .text = &opt->engine, .value = "WHERE",
         .help = "toed (default); inline: in the socket calls of COMMAND;\nthread: in a thread of "
                 "COMMAND; gateware, hybrid: in\nsimulated hardware, which ends when COMMAND and "
                 "its\nchildren have ended"},
        {"hybrid", .text = &opt->hybrid, .value = "NAME",
         .help = "configuration of the hybrid TOE: software (default),\nprototype or complete"},
        FOR_ENGINE("netif", "SPEC", "packets: af_xdp:IFNAME, tap:IFNAME, wire:PATH, dpdk:PORT"),
        FOR_ENGINE("netio", "SPEC", NULL),
        FOR_ENGINE("ip", "A.B.C.D/LEN", "the TOE's address"),
        FOR_ENGINE("gateway", "A.B.C.D", "for destinations off the link"),
        FOR_ENGINE("ip6", "ADDRESS/LEN", "an IPv6 address"),
        FLAG_FOR_ENGINE("ip6-auto", "IPv6 addresses as routers advertise them"),
        FOR_ENGINE("gateway6", "ADDRESS", "router for IPv6 destinations off the link"),
        FOR_ENGINE("vlan", "ID", "the VLAN of its addresses"),
        FOR_ENGINE("mac", "M", "Ethernet address"),
        FOR_ENGINE("mtu", "N", "576..9216 (default: the interface's)"),
        FOR_ENGINE("spin-us", "N", "polls this long without work before it sleeps"),
        FOR_ENGINE("max-flows", "N", "connections"),
        FOR_ENGINE("max-neighbours", "N", "hosts of the link known at once"),
        FOR_ENGINE("congestion", "NAME", "cubic, reno, bbr, bbr3, dctcp"),
        FOR_ENGINE("ecn", "N", "as net.ipv4.tcp_ecn"),
        FOR_ENGINE("mtu-probing", "N", "as net.ipv4.tcp_mtu_probing"),
        FOR_ENGINE("ttl", "N", "time to live of IPv4, hop limit of IPv6"),
        FLAG_FOR_ENGINE("rfc1337", "a reset does not end TIME-WAIT"),
        FOR_ENGINE("offload", "LIST", "tso=off,gro=on,..."),
        FOR_ENGINE("seed", "HEX", "for tests only: fixes its secret"),
        FOR_ENGINE("cpu", "N", "CPU of the thread"),
        FOR_ENGINE("linger-ms", "N", "time for connections to finish at exit"),
        {.name = NULL},
    };
    const struct cli_options options = {
        .verb = "run",
        .known = known,
        .usage = "[--require] [--report] [--dry-run] [OPTION...] [--] COMMAND...\n"
                 "--engine WHERE --netif SPEC --ip A.B.C.D/LEN [OPTION...] [--] COMMAND...",
        .text = text,
        .after = exit_text};

    return cli_options(&options, argc, argv, done);
}

static int parse(int argc, char **argv, struct run_options *opt, bool *done)
{
    int code = parse_words(argc, argv, opt, done);

    if (code || *done)
        return code;
    if (opt->socket && !*opt->socket) {
        cli_message("--socket needs a path");
        return CLI_USAGE;
    }
    if (optind >= argc) {
        cli_message("run: the command is missing: toehold run [OPTION...] [--] COMMAND...; "
                    "toehold run --help lists the options");
        return CLI_USAGE;
    }
    return 0;
}

/* Combines the options with the environment and the files of settings. Returns 0 or an exit code.
 */
static int combine(struct run_options *opt)
{
    int code;

    if (!cli_check_environment() ||
        !cli_run_layers(opt->no_config ? "" : opt->config, opt->profile))
        return CLI_CONFIG;
    code = choose_engine(opt);
    if (!code && opt->engine && !cli_run_inline_layers())
        code = CLI_CONFIG;
    return code;
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
    /* --engine toed wins over a variable or file that names another */
    return (opt->engine || setenv(TOEDEV_SOCKET_ENV, socket_path, 1) == 0) &&
           (opt->engine || !getenv(TOEDEV_ENGINE_ENV) ||
            setenv(TOEDEV_ENGINE_ENV, "toed", 1) == 0) &&
           (!opt->simulated || setenv(TOEDEV_ENGINE_ENV, "toed", 1) == 0) &&
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

/* Variables that are set for the command. */
static const char *const variables[] = {"LD_PRELOAD",
                                        TOEDEV_SOCKET_ENV,
                                        TOEDEV_ENGINE_ENV,
                                        TOEDEV_INLINE_OPTIONS_ENV,
                                        TOEDEV_INLINE_LIBRARY_ENV,
                                        "TOEHOLD_REQUIRE",
                                        "TOEHOLD_REPORT",
                                        "TOEHOLD_BUSY_POLL_US",
                                        "ASAN_OPTIONS"};
#define VARIABLES (sizeof variables / sizeof variables[0])

static void detail_command(const char *path, bool preloaded)
{
    size_t i;

    for (i = 0; preloaded && i < VARIABLES; i++)
        if (getenv(variables[i]))
            cli_detail("%s=%s", variables[i], getenv(variables[i]));
    cli_detail("executes %s", path);
}

/* Prints the variables and the command as words of a shell. */
static int show(const char *path, char **argv, bool preloaded)
{
    size_t i;

    for (i = 0; preloaded && i < VARIABLES; i++) {
        const char *value = getenv(variables[i]);

        if (!value)
            continue;
        printf("%s=", variables[i]);
        cli_print_word(value);
        putchar(' ');
    }
    cli_print_word(path);
    for (argv++; *argv; argv++) {
        putchar(' ');
        cli_print_word(*argv);
    }
    putchar('\n');
    if (fflush(stdout) == 0)
        return CLI_OK;
    cli_message("cannot write: %s", strerror(errno));
    return CLI_FAILURE;
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
    char reason[512];
    int fd, r;

    if (why && opt->require) {
        cli_message("%s %s: it bypasses the TOE; refused (--require)", name, why);
        return CLI_REFUSED;
    }
    if (why)
        cli_notice("%s %s: it bypasses the TOE; it runs on the kernel's TCP", name, why);
    if (opt->engine) {
        r = cli_inline_check(opt->engine, reason, sizeof reason, reachable);
        if (r || *reachable)
            return r;
    } else {
        if (opt->simulated && opt->dry) { /* it would be started */
            *reachable = !why;
            return 0;
        }
        r = opt->simulated && !why ? cli_gateware_start(opt->simulated, socket_path) : 0;
        if (r)
            return r;
        fd = cli_connect(socket_path, reason, sizeof reason);
        *reachable = fd >= 0;
        if (fd >= 0) {
            close(fd);
            return 0;
        }
    }
    if (opt->require)
        cli_message("%s; refused (--require)", reason);
    else if (!why)
        cli_notice("%s; %s runs on the kernel's TCP", reason, name);
    return opt->require ? CLI_NO_DAEMON : 0;
}

int cli_run(int argc, char **argv)
{
    struct run_options opt = {0};
    const char *socket_path, *require;
    char path[PATH_MAX];
    bool done = false, reachable;
    int r = parse(argc, argv, &opt, &done);

    if (!r && !done)
        r = combine(&opt);
    if (r || done)
        return r;
    argv += optind;
    r = cli_find_command(argv[0], path);
    if (r) {
        cli_message("%s: %s", argv[0],
                    r == CLI_NOT_FOUND ? "command not found" : "cannot be executed");
        return r;
    }
    require = getenv("TOEHOLD_REQUIRE");
    opt.require = opt.require || (require && *require == '1');
    socket_path = opt.socket ? opt.socket : cli_run_socket();
    r = check_carried(&opt, argv[0], path, socket_path, &reachable);
    if (r)
        return r;
    if (reachable && (!set_environment(&opt, socket_path) || !cli_allow_preload_with_asan(path)))
        return CLI_CONFIG;
    if (opt.dry)
        return show(path, argv, reachable);
    detail_command(path, reachable);
    return execute(path, argv);
}
