/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the command line of `toehold rtt`. */
#define _GNU_SOURCE
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "../common/options.h"
#include "../registers/bar.h"
#include "options.h"
#include "wire.h"

static const char usage[] = "--source software|hardware PROBE [OPTION...]\n"
                            "--source software --watch INTERFACE --match MATCH [OPTION...]\n"
                            "--source registers --bar BAR [--match MATCH] [PROBE] [OPTION...]\n"
                            "--source toed [--socket PATH] [OPTION...]\n"
                            "--source xdp --interface INTERFACE PROBE\n"
                            "--sources [--interface INTERFACE] [--json]\n"
                            "--respond [ADDRESS:]PORT [--duration SECONDS] [--json]";

static const char text[] =
    "PROBE is --udp, --icmp or --syn; an IPv6 address with a port needs [].\n"
    "BAR is " BAR_SPECS ".\n"
    "SIGINT ends the measurement early and prints the result.";

/* Returns the index of a word in a list, or -1 after a message. */
static int choose(const char *option, const char *word, const char *const words[], int n)
{
    char list[128] = "";
    int i;

    for (i = 0; i < n; i++) {
        if (!strcmp(word, words[i]))
            return i;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", words[i]);
    }
    cli_message("rtt: --%s %s: want one of %s", option, word, list);
    return -1;
}

static bool take_source(void *arg, const char *name, const char *value)
{
    static const char *const sources[] = {"software", "hardware", "xdp", "registers", "toed"};
    struct rtt_options *o = arg;
    int i = choose(name, value, sources, 5);

    o->source = (enum rtt_source)(i + 1);
    return i >= 0;
}

static bool take_match(void *arg, const char *name, const char *value)
{
    static const char *const matches[] = {"any", "udp", "icmp", "tag", "tcp"};
    struct rtt_options *o = arg;
    int i = choose(name, value, matches, 5);

    o->match = (enum rtt_match)i;
    return i >= 0;
}

/* Parses and resolves "HOST:PORT", "[V6]:PORT", or "HOST" without a port. */
static bool address(struct rtt_options *o, const char *option, const char *text, bool port,
                    bool passive)
{
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM,
                             .ai_flags = (passive ? AI_PASSIVE : 0) | AI_NUMERICSERV},
                    *found;
    const char *service = NULL;
    char host[256], *colon;
    int rc;

    snprintf(host, sizeof host, "%s", text);
    colon = port ? strrchr(host, ':') : NULL;
    if (colon)
        *colon = '\0';
    if (port)
        service = colon ? colon + 1 : passive ? host : NULL;
    if (port && (!service || !*service)) {
        cli_message("rtt: --%s %s: the port is missing; want HOST:PORT", option, text);
        return false;
    }
    if (host[0] == '[' && host[strlen(host) - 1] == ']') {
        host[strlen(host) - 1] = '\0';
        memmove(host, host + 1, strlen(host));
    }
    /* The IPv6 wildcard address accepts both families. */
    hints.ai_family = port && !colon ? AF_INET6 : AF_UNSPEC;
    rc = getaddrinfo(port && !colon ? NULL : host, service, &hints, &found);
    if (rc) {
        cli_message("rtt: --%s %s: %s", option, text, gai_strerror(rc));
        return false;
    }
    memcpy(&o->to, found->ai_addr, found->ai_addrlen);
    o->to_len = found->ai_addrlen;
    freeaddrinfo(found);
    snprintf(o->to_name, sizeof o->to_name, "%.90s", text);
    return true;
}

static bool take_respond(void *arg, const char *name, const char *value)
{
    return address(arg, name, value, true, true);
}

static bool take_probe(void *arg, const char *name, const char *value)
{
    struct rtt_options *o = arg;

    if (o->probe != PROBE_NONE) {
        cli_message("rtt: give only one of --udp, --icmp and --syn");
        return false;
    }
    o->probe = !strcmp(name, "udp") ? PROBE_UDP : !strcmp(name, "syn") ? PROBE_SYN : PROBE_ICMP;
    return address(o, name, value, o->probe != PROBE_ICMP, false);
}

/* Returns the error of a combination of options, or NULL. */
static const char *conflict(const struct rtt_options *o)
{
    bool kernel = o->source == SOURCE_SOFTWARE || o->source == SOURCE_HARDWARE;

    if (o->source == SOURCE_NONE)
        return "--source is missing; `toehold rtt --sources` lists the sources";
    if (kernel && !o->watch && o->probe == PROBE_NONE)
        return "give a probe (--udp, --icmp, --syn) or --watch INTERFACE";
    if (o->watch && (!kernel || o->probe != PROBE_NONE))
        return "--watch needs --source software and no probe; registers and toed see all traffic";
    if (o->watch && o->match == MATCH_NONE)
        return "--watch needs --match";
    if (!o->watch && kernel && o->match != MATCH_NONE)
        return "--match needs --watch; probes are matched by their numbers";
    if (o->source == SOURCE_REGISTERS && !o->bar)
        return "--source registers needs --bar";
    if (o->source != SOURCE_REGISTERS && (o->bar || o->looped || o->block))
        return "--bar, --block and --looped need --source registers";
    if (o->looped && o->match == MATCH_NONE)
        return "--looped needs --match";
    if (o->source == SOURCE_TOED && (o->probe != PROBE_NONE || o->match != MATCH_NONE))
        return "--source toed times the connections of toed; it takes no probe and no --match";
    if (o->source != SOURCE_TOED && o->socket_path)
        return "--socket needs --source toed";
    return NULL;
}

static int parse_words(int argc, char **argv, struct rtt_options *o)
{
    const struct cli_option known[] = {
        {"source", .take = take_source, .arg = o, .value = "SOURCE",
         .help = "software, hardware, xdp, registers or toed"},
        {"udp", .take = take_probe, .arg = o, .value = "HOST:PORT",
         .help = "where `toehold rtt --respond` or an echo service\nanswers"},
        {"icmp", .take = take_probe, .arg = o, .value = "HOST", .help = "echo requests"},
        {"syn", .take = take_probe, .arg = o, .value = "HOST:PORT", .help = "TCP's SYN"},
        {"watch", .flag = &o->watch, .text = &o->interface, .value = "IF",
         .help = "time the traffic of others on an interface"},
        {"match", .take = take_match, .arg = o, .value = "MATCH",
         .help = "how arriving packets are matched to those that left:\nany, udp, icmp, tag, tcp"},
        {"bar", 'b', .text = &o->bar, .value = "BAR",
         .help = "registers of the module that measures"},
        {"block", .text = &o->block, .value = "NAME", .help = "selects one of several modules"},
        {"socket", .text = &o->socket_path, .value = "PATH", .help = CLI_SOCKET_HELP},
        {"sources", .flag = &o->sources, .help = "list the sources that exist here"},
        {"respond", .flag = &o->respond, .take = take_respond, .arg = o, .value = "AT",
         .help = "answer UDP probes at [ADDRESS:]PORT"},
        {"count", 'c', .flag = &o->counted, .number = &o->count, .max = 1000000000,
         .help = "probes (100; 0: no end), or samples"},
        {"interval-us", .number = &o->interval_us, .max = 3600000000,
         .help = "between probes (10000)"},
        {"timeout-ms", .number = &o->timeout_ms, .min = 1, .max = 60000,
         .help = "wait for an answer (1000)"},
        {"size", .number = &o->size, .min = PROBE_MIN, .max = PROBE_MAX,
         .help = "bytes of payload of a probe (64)"},
        {"interface", 'i', .text = &o->interface, .value = "IF", .help = "that probes leave by"},
        {"local-port", .number = &o->local_port, .min = 1, .max = 65535,
         .help = "watched: only this port here"},
        {"remote-port", .number = &o->remote_port, .min = 1, .max = 65535,
         .help = "watched: only this port there"},
        {"tag-offset", .number = &o->tag_offset, .max = 64,
         .help = "watched: where the tag is in the payload (8)"},
        {"looped", .flag = &o->looped, .help = "the module's output returns to its input"},
        {"duration", .number = &o->seconds, .min = 1, .max = 31536000, .unit = "seconds",
         .value = "SECONDS", .help = "end after so many seconds"},
        {"every", .number = &o->every_s, .min = 1, .max = 3600, .value = "SECONDS",
         .help = "live (1 on a terminal)"},
        {"json", 'j', .flag = &o->json, .help = "as JSON"},
        {"csv", .text = &o->csv, .value = "FILE", .help = "samples as CSV"},
        {"svg", .text = &o->svg, .value = "FILE", .help = "a picture of the distribution"},
        {.name = NULL},
    };
    const struct cli_options options = {
        .verb = "rtt",
        .known = known,
        .usage = usage,
        .text = text,
        .after = "exit: 1 failure, 2 usage, 4 no toed, 7 no such source, 8 nothing was answered"};

    return cli_options(&options, argc, argv, &o->help);
}

bool rtt_options(int argc, char **argv, struct rtt_options *o, int *code)
{
    const char *wrong;

    *o = (struct rtt_options){
        .match = MATCH_NONE, .interval_us = 10000, .timeout_ms = 1000, .size = 64, .tag_offset = 8};
    *code = parse_words(argc, argv, o);
    if (*code || o->help)
        return *code == CLI_OK;
    *code = CLI_USAGE;
    if (optind < argc) {
        cli_message("rtt: unexpected argument %s", argv[optind]);
        return false;
    }
    *code = CLI_OK;
    if (o->sources || o->respond)
        return true;
    wrong = conflict(o);
    if (wrong) {
        cli_message("rtt: %s", wrong);
        *code = CLI_USAGE;
        return false;
    }
    if (!o->counted && o->probe != PROBE_NONE && !o->seconds)
        o->count = 100;
    return true;
}
