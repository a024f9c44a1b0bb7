/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the command line of toehold-bench. */
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/long_option.h>
#include <toe/number.h>

#include "common.h"
#include "options.h"
#include "pattern.h"

#define CLIENTS (LOAD_PINGPONG | LOAD_BULK | LOAD_CONNS | LOAD_HTTP)
#define ASKS    (LOAD_PINGPONG | LOAD_CONNS | LOAD_HTTP)
/* At higher rates a thread would spend all its time on counting what is due. */
#define RATE_MAX 1e7

static const char help[] =
    "usage: toehold bench pingpong --to ADDRESS:PORT [--size BYTES] [options]\n"
    "       toehold bench bulk --to ADDRESS:PORT [--message BYTES] [--direction up|down] "
    "[options]\n"
    "       toehold bench conns --to ADDRESS:PORT [--size BYTES] [--close fin|rst|wait] [options]\n"
    "       toehold bench http --url http://ADDRESS[:PORT]/PATH [--fresh] [options]\n"
    "       toehold bench serve pingpong|sink|bulk|http --listen ADDRESS:PORT [options]\n"
    "\n"
    "Loads a TCP server and measures, or is the server. Uses ordinary sockets, so `toehold run --\n"
    "toehold bench ...` measures a TOE. An IPv6 address needs brackets.\n"
    "\n"
    "all clients\n"
    "  --connections N   in use at once (1; conns: attempts under way)\n"
    "  --idle N          additional connections, idle until the end (0)\n"
    "  --duration S      measured for S seconds (10)\n"
    "  --warmup S        before that, not measured (1)\n"
    "  --timeout S       for connecting, and for answers after the end (5)\n"
    "  --threads N       each with its share of connections and rate (1)\n"
    "  --busy            never sleeps: epoll_wait() with timeout 0\n"
    "  --verify          checks every byte of the answers\n"
    "  --hdr FILE        log of latencies by second, HdrHistogram's (.hlog), in nanoseconds\n"
    "  -j, --json        the result as JSON on stdout\n"
    "  -q, --quiet       no progress on stderr\n"
    "  -v, --verbose     also what is opened and measured, and when\n"
    "  --ports N         N consecutive ports from that of --to, used in turn (1)\n"
    "  --api A           sockets: libc's calls; toe: libtoe's, without preloading; toe-own: those\n"
    "                    with own numbers, so that memory alone limits them (sockets)\n"
    "pingpong, conns, http\n"
    "  --rate R          open loop: R requests (conns: connections) a second in all, and latency\n"
    "                    counts from when each was due; without: closed loop\n"
    "pingpong  --size BYTES      of request and answer, 1 to 1048576 (64)\n"
    "          --at-once N       N requests in flight, on all connections in turn, in a fixed\n"
    "                            random order (one on each connection)\n"
    "bulk      --message BYTES   each send() or recv(), 1 to 1048576 (65536)\n"
    "          --direction D     up: we send to `serve sink`; down: `serve bulk` sends to us (up)\n"
    "          --zero-copy       up: by MSG_ZEROCOPY; the result counts what was copied "
    "anyway;\n"
    "                            down: by toe_recv_borrow(), of --api toe\n"
    "conns     --size BYTES      one exchange of BYTES; 0: none (0)\n"
    "          --close HOW       fin: we close first, TIME-WAIT is ours; rst: we reset;\n"
    "                            wait: the server closes first (fin)\n"
    "          --local-ports L-H ports to use in turn (the system's choice)\n"
    "http      --url URL         http:// and a numeric address\n"
    "          --fresh           a connection for each request\n"
    "          --status N        expected status of answers (200)\n"
    "          --length N        expected length of bodies (that of the first answer)\n"
    "serve     --listen A:P      address; --ports N: N consecutive ports\n"
    "          --size BYTES      http: of the body (256); pingpong: counted as one request (64)\n"
    "          --message BYTES   bulk: each send() (65536)\n"
    "          --once            pingpong, http: closes after one answer (of --size bytes)\n"
    "          --threads, --busy, --verify (sink: every byte), --json (counts at the end), --api\n"
    "\n"
    "  -h, --help        this text\n"
    "  -V, --version     version of toehold\n"
    "\n"
    "Failed and unanswered requests are counted by errno. Exit codes: 0 all "
    "answered,\n"
    "1 nothing could be measured, 2 usage, 6 measured, but something failed.\n";

enum {
    O_BASE = 256,
    O_TO,
    O_LISTEN,
    O_URL,
    O_CONNECTIONS,
    O_IDLE,
    O_TIME,
    O_WARMUP,
    O_TIMEOUT,
    O_THREADS,
    O_BUSY,
    O_VERIFY,
    O_HDR,
    O_JSON,
    O_QUIET,
    O_VERBOSE,
    O_API,
    O_RATE,
    O_SIZE,
    O_MESSAGE,
    O_DIRECTION,
    O_CLOSE,
    O_PORTS,
    O_FRESH,
    O_STATUS,
    O_LENGTH,
    O_ONCE,
    O_PORT_COUNT,
    O_AT_ONCE,
    O_ZERO_COPY,
    O_HELP
};

static const struct option options[] = {
    {"to", required_argument, NULL, O_TO},
    {"listen", required_argument, NULL, O_LISTEN},
    {"url", required_argument, NULL, O_URL},
    {"connections", required_argument, NULL, O_CONNECTIONS},
    {"idle", required_argument, NULL, O_IDLE},
    {"duration", required_argument, NULL, O_TIME},
    {"time", required_argument, NULL, O_TIME}, /* its name in 0.1 */
    {"warmup", required_argument, NULL, O_WARMUP},
    {"timeout", required_argument, NULL, O_TIMEOUT},
    {"threads", required_argument, NULL, O_THREADS},
    {"busy", no_argument, NULL, O_BUSY},
    {"verify", no_argument, NULL, O_VERIFY},
    {"hdr", required_argument, NULL, O_HDR},
    {"json", no_argument, NULL, O_JSON},
    {"quiet", no_argument, NULL, O_QUIET},
    {"verbose", no_argument, NULL, O_VERBOSE},
    {"api", required_argument, NULL, O_API},
    {"rate", required_argument, NULL, O_RATE},
    {"size", required_argument, NULL, O_SIZE},
    {"message", required_argument, NULL, O_MESSAGE},
    {"direction", required_argument, NULL, O_DIRECTION},
    {"close", required_argument, NULL, O_CLOSE},
    {"local-ports", required_argument, NULL, O_PORTS},
    {"fresh", no_argument, NULL, O_FRESH},
    {"status", required_argument, NULL, O_STATUS},
    {"length", required_argument, NULL, O_LENGTH},
    {"once", no_argument, NULL, O_ONCE},
    {"ports", required_argument, NULL, O_PORT_COUNT},
    {"at-once", required_argument, NULL, O_AT_ONCE},
    {"zero-copy", no_argument, NULL, O_ZERO_COPY},
    {"help", no_argument, NULL, O_HELP},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

/* The modes that accept an option. */
static const uint8_t modes_of[] = {
    [O_TO - O_BASE] = LOAD_PINGPONG | LOAD_BULK | LOAD_CONNS,
    [O_LISTEN - O_BASE] = LOAD_SERVE,
    [O_URL - O_BASE] = LOAD_HTTP,
    [O_CONNECTIONS - O_BASE] = CLIENTS,
    [O_IDLE - O_BASE] = CLIENTS,
    [O_TIME - O_BASE] = CLIENTS,
    [O_WARMUP - O_BASE] = CLIENTS,
    [O_TIMEOUT - O_BASE] = CLIENTS,
    [O_THREADS - O_BASE] = CLIENTS | LOAD_SERVE,
    [O_BUSY - O_BASE] = CLIENTS | LOAD_SERVE,
    [O_VERIFY - O_BASE] = CLIENTS | LOAD_SERVE,
    [O_HDR - O_BASE] = ASKS,
    [O_JSON - O_BASE] = CLIENTS | LOAD_SERVE,
    [O_QUIET - O_BASE] = CLIENTS,
    [O_VERBOSE - O_BASE] = CLIENTS,
    [O_API - O_BASE] = CLIENTS | LOAD_SERVE,
    [O_RATE - O_BASE] = ASKS,
    [O_SIZE - O_BASE] = LOAD_PINGPONG | LOAD_CONNS | LOAD_SERVE,
    [O_MESSAGE - O_BASE] = LOAD_BULK | LOAD_SERVE,
    [O_DIRECTION - O_BASE] = LOAD_BULK,
    [O_CLOSE - O_BASE] = LOAD_CONNS,
    [O_PORTS - O_BASE] = LOAD_CONNS,
    [O_FRESH - O_BASE] = LOAD_HTTP,
    [O_STATUS - O_BASE] = LOAD_HTTP,
    [O_LENGTH - O_BASE] = LOAD_HTTP,
    [O_ONCE - O_BASE] = LOAD_SERVE,
    [O_PORT_COUNT - O_BASE] = LOAD_PINGPONG | LOAD_BULK | LOAD_CONNS | LOAD_SERVE,
    [O_AT_ONCE - O_BASE] = LOAD_PINGPONG,
    [O_ZERO_COPY - O_BASE] = LOAD_BULK,
    [O_HELP - O_BASE] = CLIENTS | LOAD_SERVE,
};

static const struct {
    const char *name;
    enum load_mode mode;
} modes[] = {{"pingpong", LOAD_PINGPONG},
             {"bulk", LOAD_BULK},
             {"conns", LOAD_CONNS},
             {"http", LOAD_HTTP},
             {"serve", LOAD_SERVE}};

static const char *const role_names[] = {"pingpong", "sink", "bulk", "http"};
/* For messages. */
static const char *const serve_names[] = {"serve pingpong", "serve sink", "serve bulk",
                                          "serve http"};

static int bad(const char *option, const char *value, const char *want)
{
    load_message("--%s %s: want %s", option, value, want);
    return LOAD_USAGE;
}

static int number(const char *option, const char *text, uint32_t low, uint32_t high, uint32_t *out)
{
    char want[TOE_NUMBER_WANT];
    uint64_t v;

    if (!toe_number(text, low, high, &v, want, sizeof want))
        return bad(option, text, want);
    *out = (uint32_t)v;
    return -1;
}

static int seconds(const char *option, const char *text, double low, uint64_t *ns)
{
    double s;

    if (!toe_quantity(text, NULL, low, 86400, &s, NULL, 0))
        return bad(option, text, low > 0 ? "seconds, 0.001 to 86400" : "seconds, 0 to 86400");
    *ns = (uint64_t)(s * (double)LOAD_NS_PER_S);
    return -1;
}

/* Parses "192.0.2.1:80", "[2001:db8::1]:80"; default_port NULL: the port is required. */
static bool address(struct load_options *o, const char *text, const char *default_port)
{
    struct addrinfo hint = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST}, *found;
    char host[80];
    const char *port, *from = text;
    size_t n;

    if (*text == '[') {
        from = text + 1;
        n = strcspn(from, "]");
        if (from[n] != ']')
            return false;
        port = from + n + 1;
    } else {
        n = strcspn(text, ":");
        port = text + n;
    }
    if (n == 0 || n >= sizeof host)
        return false;
    memcpy(host, from, n);
    host[n] = '\0';
    if (*port == ':') {
        uint64_t v;

        if (!toe_number(port + 1, 1, 65535, &v, NULL, 0))
            return false;
        default_port = port + 1;
    } else if (*port || !default_port) {
        return false;
    }
    hint.ai_flags |= AI_NUMERICSERV;
    if (getaddrinfo(host, default_port, &hint, &found) != 0)
        return false;
    memcpy(&o->addr, found->ai_addr, found->ai_addrlen);
    o->addr_len = found->ai_addrlen;
    freeaddrinfo(found);
    snprintf(o->where, sizeof o->where, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host,
             default_port);
    return true;
}

static int take_url(struct load_options *o, const char *url)
{
    static const char scheme[] = "http://";
    const char *want = "http://ADDRESS[:PORT]/PATH with a numeric address";
    const char *rest = url + sizeof scheme - 1;
    char where[128];
    size_t n;

    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return bad("url", url, want);
    n = strcspn(rest, "/");
    if (n >= sizeof where || strpbrk(rest, " \t\r\n"))
        return bad("url", url, want);
    memcpy(where, rest, n);
    where[n] = '\0';
    if (!address(o, where, "80"))
        return bad("url", url, want);
    o->url = url;
    return -1;
}

static int take_ports(struct load_options *o, const char *text)
{
    const char *dash = strchr(text, '-');
    char low[8] = "";
    uint64_t l, h;

    if (dash && (size_t)(dash - text) < sizeof low)
        memcpy(low, text, (size_t)(dash - text));
    if (!dash || !toe_number(low, 1, 65535, &l, NULL, 0) ||
        !toe_number(dash + 1, 1, 65535, &h, NULL, 0) || l > h)
        return bad("local-ports", text, "two ports, such as 20000-60000");
    o->port_low = (uint32_t)l;
    o->port_high = (uint32_t)h;
    return -1;
}

static int take_close(struct load_options *o, const char *text)
{
    static const char *const names[] = {"fin", "rst", "wait"}; /* by enum load_close */
    unsigned i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(text, names[i])) {
            o->close = (enum load_close)i;
            return -1;
        }
    return bad("close", text, "fin, rst or wait");
}

static int take_size(struct load_options *o, const char *text)
{
    uint32_t low = o->mode == LOAD_PINGPONG ? 1 : 0;

    return number("size", text, low, LOAD_PATTERN_MAX, &o->size);
}

static int take_word(struct load_options *o, int opt, const char *text)
{
    if (opt == O_DIRECTION) {
        o->down = !strcmp(text, "down");
        return o->down || !strcmp(text, "up") ? -1 : bad("direction", text, "up or down");
    }
    o->calls = !strcmp(text, "toe")       ? &load_libtoe
               : !strcmp(text, "toe-own") ? &load_libtoe_own
                                          : &load_libc;
    return !strcmp(text, o->calls->name) ? -1 : bad("api", text, "sockets, toe or toe-own");
}

static int take_flag(struct load_options *o, int opt)
{
    switch (opt) {
    case O_BUSY:
        o->busy = true;
        break;
    case O_VERIFY:
        o->verify = true;
        break;
    case O_ZERO_COPY:
        o->zero_copy = true;
        break;
    case O_JSON:
        o->json = true;
        break;
    case O_QUIET:
        o->quiet = true;
        break;
    case O_VERBOSE:
        o->verbose = true;
        break;
    case O_FRESH:
        o->fresh = true;
        break;
    case O_ONCE:
        o->once = true;
        break;
    default:
        fputs(help, stdout);
        return LOAD_OK;
    }
    return -1;
}

static int take_value(struct load_options *o, int opt, const char *text)
{
    uint32_t n;
    int rc;

    switch (opt) {
    case O_TO:
        return address(o, text, NULL) ? -1 : bad("to", text, "a numeric ADDRESS:PORT");
    case O_LISTEN:
        return address(o, text, NULL) ? -1 : bad("listen", text, "a numeric ADDRESS:PORT");
    case O_URL:
        return take_url(o, text);
    case O_CONNECTIONS:
        return number("connections", text, 1, 1000000, &o->connections);
    case O_IDLE:
        return number("idle", text, 0, 1000000, &o->idle);
    case O_TIME:
        return seconds("duration", text, 1e-3, &o->time_ns);
    case O_WARMUP:
        return seconds("warmup", text, 0, &o->warmup_ns);
    case O_TIMEOUT:
        return seconds("timeout", text, 1e-3, &o->timeout_ns);
    case O_THREADS:
        return number("threads", text, 1, 256, &o->threads);
    case O_HDR:
        o->hdr = text;
        return *text ? -1 : bad("hdr", "''", "a file name");
    case O_RATE:
        return toe_quantity(text, NULL, 1e-3, RATE_MAX, &o->rate, NULL, 0)
                   ? -1
                   : bad("rate", text, "0.001 to 10000000");
    case O_SIZE:
        return take_size(o, text);
    case O_MESSAGE:
        return number("message", text, 1, LOAD_PATTERN_MAX, &o->message);
    case O_CLOSE:
        return take_close(o, text);
    case O_PORTS:
        return take_ports(o, text);
    case O_PORT_COUNT:
        return number("ports", text, 1, 65535, &o->ports);
    case O_AT_ONCE:
        return number("at-once", text, 1, 1000000, &o->at_once);
    case O_STATUS:
        return number("status", text, 100, 999, &o->expect_status);
    case O_LENGTH:
        rc = number("length", text, 0, UINT32_MAX, &n);
        o->expect_length = rc < 0 ? (int64_t)n : -1;
        return rc;
    default:
        return take_word(o, opt, text);
    }
}

static void defaults(struct load_options *o)
{
    o->calls = &load_libc;
    o->connections = o->threads = o->ports = 1;
    o->size = 64;
    if (o->mode == LOAD_CONNS)
        o->size = 0;
    else if (o->mode == LOAD_SERVE && o->role == ROLE_HTTP)
        o->size = 256;
    o->message = 65536;
    o->time_ns = 10 * LOAD_NS_PER_S;
    o->warmup_ns = LOAD_NS_PER_S;
    o->timeout_ns = 5 * LOAD_NS_PER_S;
    o->expect_status = 200;
    o->expect_length = -1;
    o->fresh = o->mode == LOAD_CONNS;
}

/* Builds the text of the requests. */
static int make_request(struct load_options *o)
{
    const char *path = strchr(o->url + strlen("http://"), '/');
    int n;

    n = asprintf(&o->request, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: toehold-bench\r\n%s\r\n",
                 path ? path : "/", o->where, o->fresh ? "Connection: close\r\n" : "");
    if (n < 0) {
        o->request = NULL;
        load_message("no memory");
        return LOAD_FAILURE;
    }
    o->request_size = (size_t)n;
    return -1;
}

/* Checks combinations of options. */
static int check(struct load_options *o, const char *name)
{
    if (o->addr_len == 0) {
        load_message("%s: --%s is missing; --help shows the options", name,
                     o->mode == LOAD_SERVE  ? "listen"
                     : o->mode == LOAD_HTTP ? "url"
                                            : "to");
        return LOAD_USAGE;
    }
    if (ntohs(o->addr.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&o->addr)->sin6_port
                                            : ((struct sockaddr_in *)&o->addr)->sin_port) +
            o->ports >
        65536u) {
        load_message("--ports %u: too many, starting at %s; the last port is 65535", o->ports,
                     o->where);
        return LOAD_USAGE;
    }
    if (o->mode == LOAD_SERVE)
        return -1;
    if (o->at_once && o->rate > 0) {
        load_message("--at-once needs the closed loop; remove --rate");
        return LOAD_USAGE;
    }
    if (o->at_once > o->connections) {
        load_message("--at-once %u: want at most --connections (%u)", o->at_once, o->connections);
        return LOAD_USAGE;
    }
    if (o->threads > o->connections) {
        load_message("--threads %u: want at most --connections (%u)", o->threads, o->connections);
        return LOAD_USAGE;
    }
    if (o->zero_copy && o->down && !o->calls->borrow) {
        load_message("%s: --zero-copy with --direction down needs --api toe", name);
        return LOAD_USAGE;
    }
    if (o->fresh && o->mode == LOAD_HTTP)
        o->close = CLOSE_WAIT;
    return o->mode == LOAD_HTTP ? make_request(o) : -1;
}

static int print_version(void)
{
    puts("toehold " TOEHOLD_VERSION);
    return LOAD_OK;
}

static int take_mode(struct load_options *o, int argc, char **argv)
{
    unsigned i;

    if (argc < 2) {
        load_message(
            "a mode is missing; give pingpong, bulk, conns, http or serve; --help shows more");
        return LOAD_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        fputs(help, stdout);
        return LOAD_OK;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        return print_version();
    for (i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (!strcmp(argv[1], modes[i].name))
            o->mode = modes[i].mode;
    if (!o->mode) {
        load_message("%s: want pingpong, bulk, conns, http or serve; --help shows more", argv[1]);
        return LOAD_USAGE;
    }
    return -1;
}

static int take_role(struct load_options *o, int argc, char **argv)
{
    unsigned i;

    for (i = 0; argc > 2 && i < sizeof role_names / sizeof role_names[0]; i++)
        if (!strcmp(argv[2], role_names[i])) {
            o->role = (enum load_role)i;
            return -1;
        }
    if (argc > 2 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
        fputs(help, stdout);
        return LOAD_OK;
    }
    load_message("serve: a role is missing; give pingpong, sink, bulk or http; --help shows more");
    return LOAD_USAGE;
}

static int take_option(struct load_options *o, int opt, char **argv, const char *mode)
{
    int i;

    opt = opt == 'h'   ? O_HELP
          : opt == 'j' ? O_JSON
          : opt == 'q' ? O_QUIET
          : opt == 'v' ? O_VERBOSE
                       : opt;
    if (opt == 'V')
        return print_version();
    /* getopt does not advance within a group of letters such as -ab, so print the letter. */
    if (opt == '?' && optopt && optopt < O_BASE) {
        load_message("%s: unknown option -%c; --help shows the options", mode, optopt);
        return LOAD_USAGE;
    }
    if (opt == '?' && optopt) {
        load_message("%s: %s: the option takes no value", mode, argv[optind - 1]);
        return LOAD_USAGE;
    }
    if (opt == '?' || opt == ':') {
        load_message("%s: %s %s; --help shows the options", mode,
                     opt == ':' ? "a value is missing after" : "unknown option", argv[optind - 1]);
        return LOAD_USAGE;
    }
    if (!(modes_of[opt - O_BASE] & o->mode)) {
        for (i = 0; options[i].val != opt; i++)
            ;
        load_message("%s does not take --%s; --help shows the options", mode, options[i].name);
        return LOAD_USAGE;
    }
    return optarg ? take_value(o, opt, optarg) : take_flag(o, opt);
}

int load_parse(struct load_options *o, int argc, char **argv)
{
    int opt, at, skip = 1, rc;
    const char *name;

    memset(o, 0, sizeof *o);
    rc = take_mode(o, argc, argv);
    if (rc < 0 && o->mode == LOAD_SERVE) {
        rc = take_role(o, argc, argv);
        skip = 2;
    }
    if (rc >= 0)
        return rc;
    defaults(o);
    argc -= skip;
    argv += skip;
    name = o->mode == LOAD_SERVE ? serve_names[o->role] : argv[0];
    opterr = 0;
    while (at = -1, (opt = getopt_long(argc, argv, ":hjqvV", options, &at)) != -1) {
        if (at >= 0 && !toe_long_option_in_full(argv, optind, optarg, options[at].name)) {
            load_message("%s: unknown option %s; write --%s in full, or --help shows the options",
                         name, toe_long_option_word(argv, optind, optarg), options[at].name);
            return LOAD_USAGE;
        }
        rc = take_option(o, opt, argv, name);
        if (rc >= 0)
            return rc;
    }
    if (optind < argc) {
        load_message("%s: unexpected argument '%s'; --help shows the options", name, argv[optind]);
        return LOAD_USAGE;
    }
    return check(o, name);
}

struct sockaddr_storage load_addr(const struct load_options *o, uint32_t i)
{
    struct sockaddr_storage a = o->addr;
    in_port_t *port = a.ss_family == AF_INET6 ? &((struct sockaddr_in6 *)&a)->sin6_port
                                              : &((struct sockaddr_in *)&a)->sin_port;

    *port = htons((uint16_t)(ntohs(*port) + i));
    return a;
}
