/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the command line of toe-ideal. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/attach.h>
#include <toe/long_option.h>
#include <toe/number.h>

#include "options.h"

static const char help[] =
    "usage: toe-ideal [--get PATH | --request FILE] [options]\n"
    "\n"
    "A TOE without TCP: HTTP requests are placed into the receive buffers of the program that\n"
    "attaches and listens; its answers are acknowledged at once. Measures the program, prints "
    "JSON\n"
    "and ends.\n"
    "\n"
    "  --socket PATH      where the program attaches (default " TOEDEV_DEFAULT_SOCKET ")\n"
    "  --connections N    1..60000 (64)\n"
    "  --requests-per-connection N\n"
    "                     then the connection ends and another opens; 0: no end (0)\n"
    "  --get PATH         the request is GET PATH, HTTP/1.1 (/)\n"
    "  --request FILE     the request is the content of FILE, up to 16384 bytes\n"
    "  --rate R           open loop: R requests a second, latency from when each was due\n"
    "  --duration S       measured for S seconds (10)\n"
    "  --warmup S         before that (1)\n"
    "  --timeout S        for the first answers, and for the last (10)\n"
    "  --help, --version\n"
    "\n"
    "Exit codes: 0 all answered, 1 nothing could be measured, 2 usage, 3 no socket, 6 measured, "
    "but\n"
    "requests failed.\n";

enum {
    OPT_SOCKET = 256,
    OPT_CONNECTIONS,
    OPT_PER_CONNECTION,
    OPT_GET,
    OPT_REQUEST,
    OPT_RATE,
    OPT_TIME,
    OPT_WARMUP,
    OPT_TIMEOUT,
    OPT_HELP,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"socket", required_argument, NULL, OPT_SOCKET},
    {"connections", required_argument, NULL, OPT_CONNECTIONS},
    {"requests-per-connection", required_argument, NULL, OPT_PER_CONNECTION},
    {"get", required_argument, NULL, OPT_GET},
    {"request", required_argument, NULL, OPT_REQUEST},
    {"rate", required_argument, NULL, OPT_RATE},
    {"duration", required_argument, NULL, OPT_TIME},
    {"warmup", required_argument, NULL, OPT_WARMUP},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

static int bad(const char *option, const char *value, const char *want)
{
    fprintf(stderr, "toe-ideal: --%s %s: want %s\n", option, value, want);
    return IDEAL_USAGE;
}

static int decimal(const char *option, const char *text, double low, double high, double *out)
{
    char want[TOE_NUMBER_WANT];

    return toe_quantity(text, NULL, low, high, out, want, sizeof(want)) ? -1
                                                                        : bad(option, text, want);
}

static int number(const char *option, const char *text, uint32_t low, uint32_t high, uint32_t *out)
{
    char want[TOE_NUMBER_WANT];
    uint64_t v;

    if (!toe_number(text, low, high, &v, want, sizeof(want)))
        return bad(option, text, want);
    *out = (uint32_t)v;
    return -1;
}

static int seconds(const char *option, const char *text, double low, uint64_t *ns)
{
    double v;
    int rc = decimal(option, text, low, 86400, &v);

    if (rc < 0)
        *ns = (uint64_t)(v * 1e9);
    return rc;
}

static int take_get(struct ideal_options *o, const char *path)
{
    if (path[0] != '/' || strpbrk(path, " \t\r\n"))
        return bad("get", path, "a path that begins with / and has no blank");
    free(o->request);
    if (asprintf(&o->request, "GET %s HTTP/1.1\r\nHost: ideal\r\n\r\n", path) < 0) {
        o->request = NULL;
        return IDEAL_FAILURE;
    }
    o->ideal.request_size = (uint32_t)strlen(o->request);
    if (o->ideal.request_size > IDEAL_REQUEST_MAX)
        return bad("get", path, "a shorter path");
    return -1;
}

static int take_file(struct ideal_options *o, const char *path)
{
    FILE *f = fopen(path, "re");
    size_t n;

    if (!f) {
        fprintf(stderr, "toe-ideal: --request %s: %s\n", path, strerror(errno));
        return IDEAL_USAGE;
    }
    free(o->request);
    o->request = malloc(IDEAL_REQUEST_MAX + 1);
    n = o->request ? fread(o->request, 1, IDEAL_REQUEST_MAX + 1, f) : 0;
    fclose(f);
    if (n == 0 || n > IDEAL_REQUEST_MAX)
        return bad("request", path, "a file of 1 to 16384 bytes");
    o->ideal.request_size = (uint32_t)n;
    return -1;
}

static int parse_one(struct ideal_options *o, int opt, const char *arg)
{
    struct ideal *i = &o->ideal;

    switch (opt) {
    case OPT_SOCKET:
        o->socket = arg;
        return -1;
    case OPT_CONNECTIONS:
        return number("connections", arg, 1, 60000, &i->connections);
    case OPT_PER_CONNECTION:
        return number("requests-per-connection", arg, 0, 4000000000u, &i->per_connection);
    case OPT_GET:
        return take_get(o, arg);
    case OPT_REQUEST:
        return take_file(o, arg);
    case OPT_RATE:
        return decimal("rate", arg, 1e-3, 1e9, &i->rate);
    case OPT_TIME:
        return seconds("duration", arg, 1e-3, &i->time_ns);
    case OPT_WARMUP:
        return seconds("warmup", arg, 0, &i->warmup_ns);
    case OPT_TIMEOUT:
        return seconds("timeout", arg, 1e-3, &i->timeout_ns);
    case OPT_HELP:
        fputs(help, stdout);
        return IDEAL_OK;
    case OPT_VERSION:
        puts("toe-ideal " TOEHOLD_VERSION);
        return IDEAL_OK;
    default: /* getopt_long has printed the error */
        fputs("toe-ideal: --help shows the options\n", stderr);
        return IDEAL_USAGE;
    }
}

int ideal_parse(struct ideal_options *o, int argc, char **argv)
{
    int opt, at, rc;

    memset(o, 0, sizeof(*o));
    o->socket = TOEDEV_DEFAULT_SOCKET;
    o->ideal.connections = 64;
    o->ideal.time_ns = o->ideal.timeout_ns = 10000000000ull;
    o->ideal.warmup_ns = 1000000000ull;
    rc = take_get(o, "/");
    while (rc < 0 && (at = -1, opt = getopt_long(argc, argv, "", long_options, &at)) != -1) {
        if (at >= 0 && !toe_long_option_in_full(argv, optind, optarg, long_options[at].name)) {
            fprintf(stderr, "toe-ideal: unknown option %s; write --%s in full\n",
                    toe_long_option_word(argv, optind, optarg), long_options[at].name);
            return IDEAL_USAGE;
        }
        rc = parse_one(o, opt, optarg);
    }
    if (rc < 0 && optind < argc) {
        fprintf(stderr, "toe-ideal: '%s': it takes options only; --help shows them\n",
                argv[optind]);
        rc = IDEAL_USAGE;
    }
    o->ideal.request = o->request;
    return rc;
}
