/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the command line of toed. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/attach.h>

#include "offload.h"
#include "options.h"

enum {
    OPT_NETIF = 256,
    OPT_IP,
    OPT_GATEWAY,
    OPT_IP6,
    OPT_IP6_AUTO,
    OPT_GATEWAY6,
    OPT_MAC,
    OPT_SOCKET,
    OPT_GROUP,
    OPT_ENGINES,
    OPT_SPIN,
    OPT_MAX_FLOWS,
    OPT_MAX_QPS,
    OPT_MAX_MEMORY,
    OPT_MTU,
    OPT_CONGESTION,
    OPT_ECN,
    OPT_MTU_PROBING,
    OPT_TTL,
    OPT_CHECK_IP,
    OPT_OFFLOAD,
    OPT_SEED,
    OPT_HELP,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"netif", required_argument, NULL, OPT_NETIF},
    {"ip", required_argument, NULL, OPT_IP},
    {"gateway", required_argument, NULL, OPT_GATEWAY},
    {"ip6", required_argument, NULL, OPT_IP6},
    {"ip6-auto", no_argument, NULL, OPT_IP6_AUTO},
    {"gateway6", required_argument, NULL, OPT_GATEWAY6},
    {"mac", required_argument, NULL, OPT_MAC},
    {"socket", required_argument, NULL, OPT_SOCKET},
    {"group", required_argument, NULL, OPT_GROUP},
    {"engines", required_argument, NULL, OPT_ENGINES},
    {"spin-us", required_argument, NULL, OPT_SPIN},
    {"max-flows", required_argument, NULL, OPT_MAX_FLOWS},
    {"max-qps", required_argument, NULL, OPT_MAX_QPS},
    {"max-memory", required_argument, NULL, OPT_MAX_MEMORY},
    {"mtu", required_argument, NULL, OPT_MTU},
    {"congestion", required_argument, NULL, OPT_CONGESTION},
    {"ecn", required_argument, NULL, OPT_ECN},
    {"mtu-probing", required_argument, NULL, OPT_MTU_PROBING},
    {"ttl", required_argument, NULL, OPT_TTL},
    {"check-ip", no_argument, NULL, OPT_CHECK_IP},
    {"offload", required_argument, NULL, OPT_OFFLOAD},
    {"seed", required_argument, NULL, OPT_SEED},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: toed --netif SPEC [--ip A.B.C.D/LEN] [--ip6 ADDRESS/LEN | --ip6-auto] [options]\n"
    "\n"
    "Runs a software TOE in the foreground: TCP/IP for the programs that attach to its socket.\n"
    "\n"
    "  --netif SPEC       packets: af_xdp:IFNAME, tap:IFNAME, wire:PATH, impair(...):SPEC\n"
    "  --ip A.B.C.D/LEN   the TOE's address and the length of its on-link prefix\n"
    "  --gateway A.B.C.D  for destinations off the link (default: none, they are unreachable)\n"
    "  --check-ip         ends when another host has the address of --ip: asks before it is used\n"
    "                     (RFC 5227), and is ready 5 to 9 s later\n"
    "  --ip6 ADDRESS/LEN  an IPv6 address and the length of its on-link prefix\n"
    "  --ip6-auto         addresses, routers and MTU of IPv6 as routers advertise them\n"
    "  --gateway6 ADDRESS router for IPv6 destinations off the link\n"
    "  --mac M            Ethernet address (default: the interface's)\n"
    "  --mtu N            576..9216 (default: the interface's)\n"
    "  --socket PATH      where programs attach (default " TOEDEV_DEFAULT_SOCKET ")\n"
    "  --group NAME       group that may attach (default: only root's)\n"
    "  --engines N        threads, each with a queue of the interface, 1..64 (default 1)\n"
    "  --spin-us N        polls this long without work before it sleeps, 0..1000000 (default 50)\n"
    "  --max-flows N      connections per engine, 1..1048576 (default 16384)\n"
    "  --max-qps N        queue pairs per engine, 1..1024 (default 128)\n"
    "  --max-memory MIB   address space for queue pairs, all together (default 65536)\n"
    "  --congestion NAME  of connections that ask for none: cubic, reno, bbr, dctcp (default "
    "cubic)\n"
    "  --ecn N            as net.ipv4.tcp_ecn: 0 never, 1 asked for, 2 when asked (default 2)\n"
    "  --mtu-probing N    as net.ipv4.tcp_mtu_probing: 0 never, 1 when full segments time out\n"
    "                     again and again, 2 always (default 1)\n"
    "  --ttl N            time to live of IPv4, hop limit of IPv6, 1..255 (default 64)\n"
    "  --offload LIST     rx, tx, sg, tso, gso, gro, lro, rxhash: tso=off,gro=on,... (default: "
    "all\n"
    "                     that the interface has); toehold offload switches them later\n"
    "  --seed HEX         for tests only: fixes the secret behind sequence numbers and ports\n"
    "  --help, --version\n"
    "\n"
    "SIGTERM, SIGINT or SIGHUP ends it: peers get RST, the interface is put back as it was.\n"
    "Exit codes: 0 ended by a signal, 1 failure while running (the interface is gone, too),\n"
    "2 usage, 3 configuration.\n";

static int bad(const char *option, const char *value, const char *want)
{
    fprintf(stderr, "toed: --%s %s: want %s\n", option, value, want);
    return EXIT_USAGE;
}

static int number(const char *option, const char *text, uint32_t low, uint32_t high, uint32_t *out)
{
    char *end, want[64];
    unsigned long v;

    errno = 0;
    v = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || v < low || v > high) {
        snprintf(want, sizeof(want), "a number from %u to %u", low, high);
        return bad(option, text, want);
    }
    *out = (uint32_t)v;
    return -1;
}

/* Not ::, ::1, mapped or multicast. */
static int unicast6(const uint8_t a[16])
{
    struct in6_addr in;

    memcpy(&in, a, sizeof(in));
    return !IN6_IS_ADDR_UNSPECIFIED(&in) && !IN6_IS_ADDR_LOOPBACK(&in) &&
           !IN6_IS_ADDR_V4MAPPED(&in) && !IN6_IS_ADDR_MULTICAST(&in);
}

static int parse_ip(struct options *o, const char *text)
{
    char addr[INET_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    uint32_t len;

    if (!slash || (size_t)(slash - text) >= sizeof(addr))
        return bad("ip", text, "an address and prefix length, such as 10.0.0.2/24");
    memcpy(addr, text, (size_t)(slash - text));
    addr[slash - text] = 0;
    if (inet_pton(AF_INET, addr, o->ip) != 1)
        return bad("ip", text, "an address and prefix length, such as 10.0.0.2/24");
    if (number("ip", slash + 1, 1, 32, &len) >= 0)
        return EXIT_USAGE;
    o->prefix_len = (uint8_t)len;
    if (o->ip[0] == 0 || o->ip[0] == 127 || o->ip[0] >= 224)
        return bad("ip", text, "a unicast address that is not loopback");
    return -1;
}

static int parse_ip6(struct options *o, const char *text)
{
    char addr[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    const char *want = "an address and prefix length, such as 2001:db8::10/64";
    uint32_t len;

    if (!slash || (size_t)(slash - text) >= sizeof(addr))
        return bad("ip6", text, want);
    memcpy(addr, text, (size_t)(slash - text));
    addr[slash - text] = 0;
    if (inet_pton(AF_INET6, addr, o->ip6) != 1)
        return bad("ip6", text, want);
    if (number("ip6", slash + 1, 1, 128, &len) >= 0)
        return EXIT_USAGE;
    o->prefix_len6 = (uint8_t)len;
    if (!unicast6(o->ip6) || (o->ip6[0] == 0xfe && (o->ip6[1] & 0xc0) == 0x80))
        return bad("ip6", text, "a unicast address that is neither loopback nor link-local");
    o->has_ip6 = 1;
    return -1;
}

static int parse_gateway6(struct options *o, const char *text)
{
    return inet_pton(AF_INET6, text, o->gateway6) == 1 && unicast6(o->gateway6)
               ? -1
               : bad("gateway6", text, "a unicast IPv6 address");
}

static int parse_mac(struct options *o, const char *text)
{
    const char *want = "a unicast Ethernet address, such as 02:00:00:00:00:01";
    const char *p = text;
    char pair[3] = "";
    unsigned i;

    for (i = 0; i < 6; i++, p += 3) {
        if (strspn(p, "0123456789abcdefABCDEF") != 2 || p[2] != (i < 5 ? ':' : '\0'))
            return bad("mac", text, want);
        memcpy(pair, p, 2);
        o->mac[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    if (o->mac[0] & 1)
        return bad("mac", text, want);
    o->has_mac = 1;
    return -1;
}

static int parse_congestion(struct options *o, const char *arg)
{
    static const char *const names[] = {"cubic", "reno", "dctcp", "bbr"}; /* by enum toec_cc */
    uint32_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(arg, names[i])) {
            o->cc = i;
            return -1;
        }
    return bad("congestion", arg, "cubic, reno, bbr or dctcp");
}

/* Up to 64 hex digits; what is missing is zero. */
static int parse_seed(struct options *o, const char *text)
{
    size_t n = strlen(text), i;

    if (n == 0 || n > 2 * sizeof(o->secret) || strspn(text, "0123456789abcdefABCDEF") != n)
        return bad("seed", text, "1 to 64 hex digits");
    for (i = 0; i < n; i++) {
        const char digit[2] = {text[i], 0};

        o->secret[i / 2] |= (uint8_t)(strtoul(digit, NULL, 16) << (i % 2 ? 0 : 4));
    }
    o->has_secret = 1;
    return -1;
}

static int parse_offload(struct options *o, const char *text)
{
    uint32_t changed, on;
    char why[160];

    if (offload_parse(text, &changed, &on, why, sizeof(why)) != 0) {
        fprintf(stderr, "toed: --offload: %s\n", why);
        return EXIT_USAGE;
    }
    o->offload = (o->offload & ~changed) | on;
    o->offload_asked = (o->offload_asked & ~changed) | on;
    return -1;
}

static int parse_one(struct options *o, int opt, const char *arg)
{
    switch (opt) {
    case OPT_NETIF:
        o->netif = arg;
        return -1;
    case OPT_IP:
        return parse_ip(o, arg);
    case OPT_GATEWAY:
        return inet_pton(AF_INET, arg, o->gateway) == 1 ? -1 : bad("gateway", arg, "an address");
    case OPT_IP6:
        return parse_ip6(o, arg);
    case OPT_IP6_AUTO:
        o->has_ip6 = o->ip6_auto = 1;
        return -1;
    case OPT_GATEWAY6:
        return parse_gateway6(o, arg);
    case OPT_MAC:
        return parse_mac(o, arg);
    case OPT_SOCKET:
        o->socket = arg;
        return -1;
    case OPT_GROUP:
        o->group = arg;
        return -1;
    case OPT_ENGINES:
        return number("engines", arg, 1, 64, &o->engines);
    case OPT_SPIN:
        return number("spin-us", arg, 0, 1000000, &o->spin_us);
    case OPT_MAX_FLOWS:
        return number("max-flows", arg, 1, 1u << 20, &o->max_flows);
    case OPT_MAX_QPS:
        return number("max-qps", arg, 1, 1024, &o->max_qps);
    case OPT_MAX_MEMORY:
        return number("max-memory", arg, 1, UINT32_MAX, &o->max_memory_mib);
    case OPT_MTU:
        return number("mtu", arg, 576, 9216, &o->mtu);
    case OPT_CONGESTION:
        return parse_congestion(o, arg);
    case OPT_ECN:
        return number("ecn", arg, 0, 2, &o->ecn);
    case OPT_MTU_PROBING:
        return number("mtu-probing", arg, 0, 2, &o->mtu_probing);
    case OPT_TTL:
        return number("ttl", arg, 1, 255, &o->ttl);
    case OPT_CHECK_IP:
        o->check_ip = 1;
        return -1;
    case OPT_OFFLOAD:
        return parse_offload(o, arg);
    case OPT_SEED:
        return parse_seed(o, arg);
    case OPT_HELP:
        fputs(help, stdout);
        return 0;
    case OPT_VERSION:
        puts("toed " TOEHOLD_VERSION);
        return 0;
    default: /* getopt_long has said what is wrong */
        fputs("toed: --help shows the options\n", stderr);
        return EXIT_USAGE;
    }
}

static uint32_t ip_number(const uint8_t ip[4])
{
    return (uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3];
}

/* What no single option shows: address, prefix and gateway must go together. */
static int check_addresses(const struct options *o)
{
    uint32_t ip = ip_number(o->ip), gateway = ip_number(o->gateway);
    uint32_t host = o->prefix_len == 32 ? 0 : UINT32_MAX >> o->prefix_len;
    static const uint8_t none[16];

    if (!o->has_ip6 && memcmp(o->gateway6, none, sizeof(none)) != 0) {
        fprintf(stderr, "toed: --gateway6: want --ip6 or --ip6-auto too\n");
        return EXIT_USAGE;
    }
    if (o->has_ip6 && memcmp(o->gateway6, o->ip6, sizeof(o->ip6)) == 0 && !o->ip6_auto) {
        fprintf(stderr, "toed: --gateway6: want another address than that of --ip6\n");
        return EXIT_USAGE;
    }
    if (!o->prefix_len && gateway == 0)
        return -1; /* IPv6 alone */
    if (!o->prefix_len) {
        fprintf(stderr, "toed: --gateway: want --ip too\n");
        return EXIT_USAGE;
    }
    if (o->prefix_len < 31 && ((ip & host) == 0 || (ip & host) == host)) {
        fprintf(stderr, "toed: --ip: the %s address of the prefix cannot be the TOE's\n",
                (ip & host) == 0 ? "network" : "broadcast");
        return EXIT_USAGE;
    }
    if (gateway != 0 && (gateway == ip || ((gateway ^ ip) & ~host) != 0)) {
        fprintf(stderr, "toed: --gateway: want another address within the prefix of --ip\n");
        return EXIT_USAGE;
    }
    return -1;
}

int options_parse(struct options *o, int argc, char **argv)
{
    int opt, rc;

    memset(o, 0, sizeof(*o));
    o->socket = TOEDEV_DEFAULT_SOCKET;
    o->engines = 1;
    o->spin_us = 50;
    o->offload = OFFLOAD_ALL;
    o->ecn = 2;
    o->mtu_probing = 1;
    o->max_flows = 16384;
    o->max_qps = 128;
    o->max_memory_mib = 65536;
    while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        rc = parse_one(o, opt, optarg);
        if (rc >= 0)
            return rc;
    }
    if (optind < argc) {
        fprintf(stderr, "toed: '%s': toed takes options only; --help shows them\n", argv[optind]);
        return EXIT_USAGE;
    }
    if (!o->netif || (!o->prefix_len && !o->has_ip6)) {
        fprintf(stderr, "toed: --%s is missing; --help shows the options\n",
                o->netif ? "ip" : "netif");
        return EXIT_USAGE;
    }
    return check_addresses(o);
}

void options_addresses(const struct options *o, char *out, size_t size)
{
    char ip[INET_ADDRSTRLEN + 8] = "", ip6[INET6_ADDRSTRLEN + 8] = "";

    if (o->prefix_len) {
        inet_ntop(AF_INET, o->ip, ip, INET_ADDRSTRLEN);
        snprintf(ip + strlen(ip), 8, "/%u", o->prefix_len);
    }
    if (o->prefix_len6) {
        inet_ntop(AF_INET6, o->ip6, ip6, INET6_ADDRSTRLEN);
        snprintf(ip6 + strlen(ip6), 8, "/%u", o->prefix_len6);
    }
    snprintf(out, size, "%s%s%s%s", ip, *ip && *ip6 ? " and " : "", ip6,
             !o->ip6_auto  ? ""
             : *ip || *ip6 ? " and IPv6 as advertised"
                           : "IPv6 as advertised");
}
