/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.c - `toehold capture`: the frames of a running TOE as a pcapng file or as text, with the
 * reasons for drops. tcpdump cannot see them: AF_XDP frames bypass the kernel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <toe/attach.h>
#include <toe/capture.h>

#include "capture.h"
#include "common/daemon.h"
#include "common/exit.h"
#include "common/message.h"
#include "common/options.h"
#include "common/verbosity.h"
#include "extcap.h"
#include "filter.h"
#include "session.h"

#define YEAR       31536000u
#define MIB        8u
#define FILTER_MAX 4096u

static const char text[] =
    "Shows the frames that a running TOE receives and sends, which tcpdump cannot see on an\n"
    "AF_XDP interface: one line each, or a pcapng file with the flow's id and the reason for a\n"
    "drop as comments. toehold trace takes the id. FILTER is that of tcpdump: pcap-filter(7). One\n"
    "capture at a time; root, and the user and group of the socket may capture.\n"
    "\n"
    "  toehold capture tcp port 80\n"
    "  toehold capture --drops\n"
    "  toehold capture -w x.pcapng --duration 10\n"
    "  toehold capture -w - | tshark -r -";

struct options {
    const char *socket, *file, *direction;
    uint64_t snaplen, count, seconds, mib;
    bool drops, json, quiet, help;
    struct extcap extcap;
};

static int parse(int argc, char **argv, struct options *o)
{
    struct extcap *x = &o->extcap;
    const struct cli_option known[] = {
        {"write", 'w', .text = &o->file, .value = "FILE",
         .help = "write a pcapng file; -: to standard output"},
        {"snaplen", 's', .number = &o->snaplen, .max = TOECAP_SNAPLEN_MAX, .unit = "bytes",
         .value = "BYTES", .help = "of each frame, at most (default and 0: 262144)"},
        {"count", 'c', .number = &o->count, .min = 1, .max = UINT64_MAX,
         .help = "end after N frames"},
        {"duration", .number = &o->seconds, .min = 1, .max = YEAR, .unit = "seconds",
         .value = "SECONDS", .help = "end after so many seconds"},
        {"direction", 'Q', .text = &o->direction, .value = "WHICH",
         .help = "in, out or inout (default)"},
        {"drops", .flag = &o->drops, .help = "only frames that the TOE drops"},
        {"quiet", 'q', .flag = &o->quiet, .help = "errors only, no start and no sum"},
        {"json", 'j', .flag = &o->json, .help = "without -w: one JSON object for each frame"},
        {"buffer-mib", 'B', .number = &o->mib, .min = 1, .max = TOECAP_MIB_MAX, .unit = "MiB",
         .help = "memory of each engine for frames not yet written, 1\nto 256 MiB, a power of two "
                 "(default 8)"},
        {"socket", .text = &o->socket, .value = "PATH",
         .help = CLI_SOCKET_HELP ";\nof a program with an engine in it: its inline socket"},
        {"extcap-interfaces", .flag = &x->interfaces, .help = "Wireshark: list interfaces"},
        {"extcap-interface", .text = &x->interface, .value = "NAME",
         .help = "Wireshark: the interface"},
        {"extcap-dlts", .flag = &x->dlts, .help = "Wireshark: list link types"},
        {"extcap-config", .flag = &x->config, .help = "Wireshark: list options"},
        {"extcap-capture-filter", .text = &x->filter, .value = "TEXT",
         .help = "Wireshark: the filter"},
        {"extcap-version", .text = &x->version, .value = "N", .help = "Wireshark: its version"},
        {"capture", .flag = &x->capture, .help = "Wireshark: write to --fifo"},
        {"fifo", .text = &x->fifo, .value = "PATH", .help = "Wireshark: where to"},
        {.name = NULL}};
    const struct cli_options options = {
        .verb = "capture",
        .known = known,
        .usage = "[-w FILE] [-s BYTES] [-c N] [--duration SECONDS] [-Q in|out|inout]\n"
                 "[--drops] [--json] [--buffer-mib N] [--socket PATH] [FILTER...]",
        .text = text,
        .after = "Wireshark's options: docs/CAPTURE.md\n"
                 "exit: 0, 1 failure or the TOE has ended, 2 usage, 4 no TOE answers"};

    return cli_options(&options, argc, argv, &o->help);
}

/* Joins the words of the filter. Returns false after a message. */
static bool join(char **words, int n, char *text, size_t size)
{
    size_t at = 0;
    int i;

    *text = 0;
    for (i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? " " : "", words[i]);
        if (at >= size) {
            cli_message("capture: the filter is longer than %zu bytes", size - 1);
            return false;
        }
    }
    return true;
}

static bool read_direction(const char *text, enum direction *d)
{
    static const char *const names[] = {[BOTH] = "inout", [ONLY_IN] = "in", [ONLY_OUT] = "out"};
    unsigned i;

    *d = BOTH;
    for (i = 0; text && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i]) == 0) {
            *d = (enum direction)i;
            return true;
        }
    if (text)
        cli_message("capture: --direction %s is not in, out or inout", text);
    return !text;
}

/* Checks what the options mean together. Returns false after a message. */
static bool settle(const struct options *o, struct session_options *s)
{
    if (!read_direction(o->direction, &s->direction))
        return false;
    if (o->mib & (o->mib - 1)) {
        cli_message("capture: --buffer-mib %u is not a power of two", (unsigned)o->mib);
        return false;
    }
    if (o->json && s->file) {
        cli_message("capture: --json is for the terminal: leave out --write, or --json");
        return false;
    }
    if (s->file && strcmp(s->file, "-") == 0 && isatty(STDOUT_FILENO)) {
        cli_message("capture: --write - to a terminal: redirect standard output, or leave it out "
                    "to see lines of text");
        return false;
    }
    s->snaplen = o->snaplen ? (uint32_t)o->snaplen : TOECAP_SNAPLEN_MAX;
    s->mib = (uint32_t)o->mib;
    s->count = o->count;
    s->seconds = o->seconds;
    s->only_drops = o->drops;
    s->json = o->json;
    s->quiet |= o->quiet;
    return true;
}

/* Finds the file and the socket of a capture by Wireshark. */
static bool settle_extcap(const struct options *o, struct session_options *s, char *path,
                          size_t size)
{
    if (!o->extcap.fifo || !o->extcap.interface) {
        cli_message("capture: --capture needs --extcap-interface and --fifo");
        return false;
    }
    if (!extcap_socket(o->extcap.interface, path, size))
        return false;
    if (!o->socket || !*o->socket)
        s->socket = path;
    s->file = o->extcap.fifo;
    s->quiet = true;
    return true;
}

static int capture(const struct options *o, const char *filter)
{
    struct session_options s = {
        .file = o->file, .socket = cli_socket_path(o->socket), .filter_text = filter};
    struct packet_filter *f;
    char path[256], why[256];
    int r;

    if (o->extcap.capture && !settle_extcap(o, &s, path, sizeof path))
        return CLI_USAGE;
    if (!settle(o, &s))
        return CLI_USAGE;
    f = packet_filter_new(filter, why, sizeof why);
    if (!f) {
        cli_message("capture: the filter '%s' is wrong: %s; pcap-filter(7) describes filters",
                    filter, why);
        return CLI_USAGE;
    }
    s.filter = f;
    cli_detail("filter: %s; %u MiB of memory for each engine", *filter ? filter : "none",
               (unsigned)s.mib);
    r = session_run(&s);
    packet_filter_free(f);
    return r;
}

int cli_capture(int argc, char **argv)
{
    struct options o = {.mib = MIB};
    char filter[FILTER_MAX];
    int r = parse(argc, argv, &o);

    if (r || o.help)
        return r;
    if (extcap_asked(&o.extcap) && !o.extcap.capture)
        return extcap_answer(&o.extcap);
    if (!join(argv + optind, argc - optind, filter, sizeof filter))
        return CLI_USAGE;
    if (!*filter && o.extcap.filter)
        snprintf(filter, sizeof filter, "%s", o.extcap.filter);
    return capture(&o, filter);
}
