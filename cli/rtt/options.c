/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the command line of `toehold rtt`. */
#define _GNU_SOURCE
#include <getopt.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/number.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "../registers/bar.h"
#include "options.h"
#include "wire.h"

static const char usage_text[] =
    "usage: toehold rtt --source software|hardware PROBE [options]\n"
    "       toehold rtt --source software --watch INTERFACE --match MATCH [options]\n"
    "       toehold rtt --source registers --bar BAR [--match MATCH] [PROBE] [options]\n"
    "       toehold rtt --source toed [--socket PATH] [options]\n"
    "       toehold rtt --source xdp --interface INTERFACE PROBE\n"
    "       toehold rtt --sources [--interface INTERFACE] [--json]\n"
    "       toehold rtt --respond [ADDRESS:]PORT [--seconds N] [--json]\n"
    "\n"
    "PROBE  --udp HOST:PORT (where `toehold rtt --respond` or an echo service answers),\n"
    "       --icmp HOST, --syn HOST:PORT; an IPv6 address with a port needs []\n"
    "MATCH  any, udp, icmp, tag, tcp: how arriving packets are matched to those that left\n"
    "BAR    " BAR_SPECS "\n"
    "\n"
    "probes   --count N (100; 0: no end), --interval-us N (10000), --timeout-ms N (1000),\n"
    "         --size BYTES of payload (64), --interface INTERFACE\n"
    "watched  --local-port N, --remote-port N, --tag-offset N (8), --count N samples, --looped,\n"
    "         --block NAME selects one of several modules\n"
    "output   --json, --csv FILE, --svg FILE, --every SECONDS (live; 1 on a terminal),\n"
    "         --seconds N: duration; SIGINT ends it early and prints the result\n"
    "\n"
    "exit: 1 failure, 2 usage, 4 no toed, 7 no such source, 8 nothing was answered\n";

void rtt_usage(bool wrong)
{
    fputs(usage_text, wrong ? stderr : stdout);
}

enum {
    O_SOURCE = 256,
    O_UDP,
    O_ICMP,
    O_SYN,
    O_WATCH,
    O_MATCH,
    O_BAR,
    O_BLOCK,
    O_SOCKET,
    O_SOURCES,
    O_RESPOND,
    O_COUNT,
    O_INTERVAL,
    O_TIMEOUT,
    O_SIZE,
    O_INTERFACE,
    O_LOCAL,
    O_REMOTE,
    O_TAG,
    O_LOOPED,
    O_JSON,
    O_CSV,
    O_SVG,
    O_EVERY,
    O_SECONDS
};

static const struct option rtt_long[] = {
    {"source", required_argument, NULL, O_SOURCE},
    {"udp", required_argument, NULL, O_UDP},
    {"icmp", required_argument, NULL, O_ICMP},
    {"syn", required_argument, NULL, O_SYN},
    {"watch", required_argument, NULL, O_WATCH},
    {"match", required_argument, NULL, O_MATCH},
    {"bar", required_argument, NULL, O_BAR},
    {"block", required_argument, NULL, O_BLOCK},
    {"socket", required_argument, NULL, O_SOCKET},
    {"sources", no_argument, NULL, O_SOURCES},
    {"respond", required_argument, NULL, O_RESPOND},
    {"count", required_argument, NULL, O_COUNT},
    {"interval-us", required_argument, NULL, O_INTERVAL},
    {"timeout-ms", required_argument, NULL, O_TIMEOUT},
    {"size", required_argument, NULL, O_SIZE},
    {"interface", required_argument, NULL, O_INTERFACE},
    {"local-port", required_argument, NULL, O_LOCAL},
    {"remote-port", required_argument, NULL, O_REMOTE},
    {"tag-offset", required_argument, NULL, O_TAG},
    {"looped", no_argument, NULL, O_LOOPED},
    {"json", no_argument, NULL, O_JSON},
    {"csv", required_argument, NULL, O_CSV},
    {"svg", required_argument, NULL, O_SVG},
    {"every", required_argument, NULL, O_EVERY},
    {"seconds", required_argument, NULL, O_SECONDS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

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
    cli_message("rtt: %s %s: want one of %s", option, word, list);
    return -1;
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
        cli_message("rtt: %s %s: the port is missing; want HOST:PORT", option, text);
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
        cli_message("rtt: %s %s: %s", option, text, gai_strerror(rc));
        return false;
    }
    memcpy(&o->to, found->ai_addr, found->ai_addrlen);
    o->to_len = found->ai_addrlen;
    freeaddrinfo(found);
    snprintf(o->to_name, sizeof o->to_name, "%.90s", text);
    return true;
}

static bool number(const char *name, unsigned long min, unsigned long max, unsigned long *value)
{
    char want[TOE_NUMBER_WANT];
    uint64_t v;

    if (!toe_number(optarg, min, max, &v, want, sizeof want)) {
        cli_message("rtt: %s %s is not %s", name, optarg, want);
        return false;
    }
    *value = (unsigned long)v;
    return true;
}

static bool probe(struct rtt_options *o, enum rtt_probe kind, const char *option)
{
    if (o->probe != PROBE_NONE) {
        cli_message("rtt: give only one of --udp, --icmp and --syn");
        return false;
    }
    o->probe = kind;
    return address(o, option, optarg, kind != PROBE_ICMP, false);
}

static bool take_word(int c, struct rtt_options *o)
{
    static const char *const sources[] = {"software", "hardware", "xdp", "registers", "toed"};
    static const char *const matches[] = {"any", "udp", "icmp", "tag", "tcp"};
    int i;

    switch (c) {
    case O_SOURCE:
        i = choose("--source", optarg, sources, 5);
        o->source = (enum rtt_source)(i + 1);
        return i >= 0;
    case O_MATCH:
        i = choose("--match", optarg, matches, 5);
        o->match = (enum rtt_match)i;
        return i >= 0;
    case O_UDP:
        return probe(o, PROBE_UDP, "--udp");
    case O_ICMP:
        return probe(o, PROBE_ICMP, "--icmp");
    case O_SYN:
        return probe(o, PROBE_SYN, "--syn");
    case O_RESPOND:
        o->respond = true;
        return address(o, "--respond", optarg, true, true);
    case O_WATCH:
        o->watch = true;
        o->interface = optarg;
        return true;
    default:
        return false;
    }
}

static bool take_number(int c, struct rtt_options *o)
{
    switch (c) {
    case O_COUNT:
        o->counted = true;
        return number("--count", 0, 1000000000, &o->count);
    case O_INTERVAL:
        return number("--interval-us", 0, 3600000000ul, &o->interval_us);
    case O_TIMEOUT:
        return number("--timeout-ms", 1, 60000, &o->timeout_ms);
    case O_SIZE:
        return number("--size", PROBE_MIN, PROBE_MAX, &o->size);
    case O_LOCAL:
        return number("--local-port", 1, 65535, &o->local_port);
    case O_REMOTE:
        return number("--remote-port", 1, 65535, &o->remote_port);
    case O_TAG:
        return number("--tag-offset", 0, 64, &o->tag_offset);
    case O_EVERY:
        return number("--every", 1, 3600, &o->every_s);
    case O_SECONDS:
        return number("--seconds", 1, 31536000, &o->seconds);
    default:
        return take_word(c, o);
    }
}

static bool take(int c, char **argv, struct rtt_options *o)
{
    switch (c) {
    case O_BAR:
        o->bar = optarg;
        return true;
    case O_BLOCK:
        o->block = optarg;
        return true;
    case O_SOCKET:
        o->socket_path = optarg;
        return true;
    case O_SOURCES:
        o->sources = true;
        return true;
    case O_INTERFACE:
        o->interface = optarg;
        return true;
    case O_LOOPED:
        o->looped = true;
        return true;
    case O_JSON:
        o->json = true;
        return true;
    case O_CSV:
        o->csv = optarg;
        return true;
    case O_SVG:
        o->svg = optarg;
        return true;
    case 'h':
        o->help = true;
        return true;
    case ':':
        cli_message("rtt: option %s needs a value", argv[optind - 1]);
        return false;
    case '?':
        cli_message("rtt: unknown option %s", argv[optind - 1]);
        rtt_usage(true);
        return false;
    default:
        return take_number(c, o);
    }
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

bool rtt_options(int argc, char **argv, struct rtt_options *o, int *code)
{
    const char *wrong;
    int c;

    *o = (struct rtt_options){
        .match = MATCH_NONE, .interval_us = 10000, .timeout_ms = 1000, .size = 64, .tag_offset = 8};
    *code = CLI_USAGE;
    optind = 1;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "+:h", rtt_long, NULL)) != -1)
        if (!take(c, argv, o))
            return false;
    if (optind < argc) {
        cli_message("rtt: unexpected argument %s", argv[optind]);
        return false;
    }
    *code = CLI_OK;
    if (o->help || o->sources || o->respond)
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
