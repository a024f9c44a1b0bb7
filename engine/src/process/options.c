/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - the command line of toed, and the options of an engine within a program. It does not
 * use getopt(), whose state is global and belongs to the program.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/attach.h>
#include <toe/number.h>

#include "frames/offload.h"
#include "frames/vlan.h"
#include "options.h"

#define WORDS_MAX 64 /* limit of the options of an engine within a program */

enum {
    OPT_NETIF,
    OPT_IP,
    OPT_GATEWAY,
    OPT_FORCE,
    OPT_IP6,
    OPT_IP6_AUTO,
    OPT_GATEWAY6,
    OPT_VLAN,
    OPT_MAC,
    OPT_SOCKET,
    OPT_USER,
    OPT_GROUP,
    OPT_RUN_AS,
    OPT_NO_SANDBOX,
    OPT_USER_LIMITS,
    OPT_ENGINES,
    OPT_SPIN,
    OPT_MAX_FLOWS,
    OPT_MAX_NEIGHBOURS,
    OPT_MAX_QPS,
    OPT_MAX_MEMORY,
    OPT_MTU,
    OPT_CONGESTION,
    OPT_ECN,
    OPT_MTU_PROBING,
    OPT_TTL,
    OPT_CHECK_IP,
    OPT_RFC1337,
    OPT_OFFLOAD,
    OPT_SEED,
    OPT_CPU,
    OPT_MANAGER,
    OPT_MANAGER_CPU,
    OPT_LINGER,
    OPT_TAKE_OVER,
    OPT_HELP,
    OPT_VERSION
};

/* Where an option is valid. */
#define OF_TOED   1u
#define OF_INSIDE 2u
#define OF_BOTH   (OF_TOED | OF_INSIDE)

static const struct option_name {
    const char *name;
    uint8_t opt, has_value, of;
} names[] = {
    {"netif", OPT_NETIF, 1, OF_BOTH},
    {"netio", OPT_NETIF, 1, OF_BOTH},
    {"ip", OPT_IP, 1, OF_BOTH},
    {"gateway", OPT_GATEWAY, 1, OF_BOTH},
    {"force", OPT_FORCE, 0, OF_TOED},
    {"ip6", OPT_IP6, 1, OF_BOTH},
    {"ip6-auto", OPT_IP6_AUTO, 0, OF_BOTH},
    {"gateway6", OPT_GATEWAY6, 1, OF_BOTH},
    {"vlan", OPT_VLAN, 1, OF_BOTH},
    {"mac", OPT_MAC, 1, OF_BOTH},
    {"socket", OPT_SOCKET, 1, OF_BOTH},
    {"user", OPT_USER, 1, OF_TOED},
    {"group", OPT_GROUP, 1, OF_TOED},
    {"run-as", OPT_RUN_AS, 1, OF_TOED},
    {"no-sandbox", OPT_NO_SANDBOX, 0, OF_TOED},
    {"user-limits", OPT_USER_LIMITS, 1, OF_TOED},
    {"engines", OPT_ENGINES, 1, OF_TOED},
    {"spin-us", OPT_SPIN, 1, OF_BOTH},
    {"max-flows", OPT_MAX_FLOWS, 1, OF_BOTH},
    {"max-neighbours", OPT_MAX_NEIGHBOURS, 1, OF_BOTH},
    {"max-qps", OPT_MAX_QPS, 1, OF_TOED},
    {"max-memory", OPT_MAX_MEMORY, 1, OF_TOED},
    {"mtu", OPT_MTU, 1, OF_BOTH},
    {"congestion", OPT_CONGESTION, 1, OF_BOTH},
    {"ecn", OPT_ECN, 1, OF_BOTH},
    {"mtu-probing", OPT_MTU_PROBING, 1, OF_BOTH},
    {"ttl", OPT_TTL, 1, OF_BOTH},
    {"check-ip", OPT_CHECK_IP, 0, OF_TOED},
    {"rfc1337", OPT_RFC1337, 0, OF_BOTH},
    {"offload", OPT_OFFLOAD, 1, OF_BOTH},
    {"seed", OPT_SEED, 1, OF_BOTH},
    {"cpu", OPT_CPU, 1, OF_BOTH},
    {"manager", OPT_MANAGER, 1, OF_TOED},
    {"manager-cpu", OPT_MANAGER_CPU, 1, OF_TOED},
    {"linger-ms", OPT_LINGER, 1, OF_INSIDE},
    {"take-over", OPT_TAKE_OVER, 0, OF_TOED},
    {"help", OPT_HELP, 0, OF_TOED},
    {"version", OPT_VERSION, 0, OF_TOED},
};

/* Writes an error message to o->err or standard error. */
__attribute__((format(printf, 2, 3))) static int refuse(const struct options *o, const char *format,
                                                        ...)
{
    va_list args;

    va_start(args, format);
    if (o->err) {
        vsnprintf(o->err, o->err_size, format, args);
    } else {
        fputs("toed: ", stderr);
        vfprintf(stderr, format, args);
        fputc('\n', stderr);
    }
    va_end(args);
    return EXIT_USAGE;
}

static int bad(const struct options *o, const char *option, const char *value, const char *want)
{
    return refuse(o, "--%s %s: want %s", option, value, want);
}

static int number(const struct options *o, const char *option, const char *text, uint32_t low,
                  uint32_t high, uint32_t *out)
{
    char want[TOE_NUMBER_WANT];
    uint64_t v;

    if (!toe_number(text, low, high, &v, want, sizeof(want)))
        return bad(o, option, text, want);
    *out = (uint32_t)v;
    return -1;
}

/* Returns whether the address is not ::, ::1, IPv4-mapped or multicast. */
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
    uint64_t len;

    o->shared = strcmp(text, "shared") == 0;
    if (o->shared)
        return -1;
    if (!slash || (size_t)(slash - text) >= sizeof(addr))
        return bad(o, "ip", text, "an address and prefix length, such as 10.0.0.2/24");
    memcpy(addr, text, (size_t)(slash - text));
    addr[slash - text] = 0;
    if (inet_pton(AF_INET, addr, o->ip) != 1)
        return bad(o, "ip", text, "an address and prefix length, such as 10.0.0.2/24");
    if (!toe_number(slash + 1, 1, 32, &len, NULL, 0))
        return bad(o, "ip", text, "a prefix length from 1 to 32");
    o->prefix_len = (uint8_t)len;
    if (o->ip[0] == 0 || o->ip[0] == 127 || o->ip[0] >= 224)
        return bad(o, "ip", text, "a unicast address that is not loopback");
    return -1;
}

static int parse_ip6(struct options *o, const char *text)
{
    char addr[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    const char *want = "an address and prefix length, such as 2001:db8::10/64";
    uint64_t len;

    if (!slash || (size_t)(slash - text) >= sizeof(addr))
        return bad(o, "ip6", text, want);
    memcpy(addr, text, (size_t)(slash - text));
    addr[slash - text] = 0;
    if (inet_pton(AF_INET6, addr, o->ip6) != 1)
        return bad(o, "ip6", text, want);
    if (!toe_number(slash + 1, 1, 128, &len, NULL, 0))
        return bad(o, "ip6", text, "a prefix length from 1 to 128");
    o->prefix_len6 = (uint8_t)len;
    if (!unicast6(o->ip6) || (o->ip6[0] == 0xfe && (o->ip6[1] & 0xc0) == 0x80))
        return bad(o, "ip6", text, "a unicast address that is neither loopback nor link-local");
    o->has_ip6 = 1;
    return -1;
}

static int parse_gateway6(struct options *o, const char *text)
{
    return inet_pton(AF_INET6, text, o->gateway6) == 1 && unicast6(o->gateway6)
               ? -1
               : bad(o, "gateway6", text, "a unicast IPv6 address");
}

static int parse_mac(struct options *o, const char *text)
{
    const char *want = "a unicast Ethernet address, such as 02:00:00:00:00:01";
    static const uint8_t none[6];

    if (!toe_mac(text, o->mac) || !memcmp(o->mac, none, sizeof(none)) || (o->mac[0] & 1))
        return bad(o, "mac", text, want);
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
    return bad(o, "congestion", arg, "cubic, reno, bbr or dctcp");
}

/* Parses up to 64 hex digits; missing ones are zero. */
static int parse_seed(struct options *o, const char *text)
{
    size_t n = strlen(text), i;

    for (i = 0; i < n && toe_hex_digit(text[i]) >= 0; i++)
        ;
    if (n == 0 || n > 2 * sizeof(o->secret) || i < n)
        return bad(o, "seed", text, "1 to 64 hex digits");
    for (i = 0; i < n; i++)
        o->secret[i / 2] |= (uint8_t)(toe_hex_digit(text[i]) << (i % 2 ? 0 : 4));
    o->has_secret = 1;
    return -1;
}

static int parse_offload(struct options *o, const char *text)
{
    uint32_t changed, on;
    char why[160];

    if (offload_parse(text, &changed, &on, why, sizeof(why)) != 0)
        return refuse(o, "--offload: %s", why);
    o->offload = (o->offload & ~changed) | on;
    o->offload_asked = (o->offload_asked & ~changed) | on;
    return -1;
}

static int parse_limits(struct options *o, const char *text)
{
    char why[160];

    if (limits_parse(&o->limits, text, why, sizeof(why)) != 0)
        return refuse(o, "--user-limits: %s", why);
    return -1;
}

static int parse_run_as(struct options *o, const char *text)
{
    size_t user = strcspn(text, ":");

    if (!user || user > 63 || (text[user] && !text[user + 1]))
        return bad(o, "run-as", text, "USER or USER:GROUP, names or numbers");
    o->run_as = text;
    return -1;
}

/* Parses "2" or "2,3": the CPUs of the first engine, the second, ... */
static int parse_cpus(struct options *o, const char *arg)
{
    char word[16];
    size_t n;

    for (o->cpu_count = 0; o->cpu_count < ENGINES_MAX; arg += n + 1) {
        n = strcspn(arg, ",");
        snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : (int)sizeof(word) - 1,
                 arg);
        if (number(o, "cpu", word, 0, CPU_SETSIZE - 1, &o->cpu[o->cpu_count]) >= 0)
            return EXIT_USAGE;
        o->cpu_count++;
        if (arg[n] == '\0')
            return -1;
    }
    return refuse(o, "--cpu: more than %u CPUs", ENGINES_MAX);
}

static int parse_manager(struct options *o, const char *arg)
{
    o->polling = strcmp(arg, "polling") == 0;
    return o->polling || strcmp(arg, "interrupts") == 0
               ? -1
               : bad(o, "manager", arg, "interrupts or polling");
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
        return inet_pton(AF_INET, arg, o->gateway) == 1 ? -1 : bad(o, "gateway", arg, "an address");
    case OPT_FORCE:
        o->force = 1;
        return -1;
    case OPT_IP6:
        return parse_ip6(o, arg);
    case OPT_IP6_AUTO:
        o->has_ip6 = o->ip6_auto = 1;
        return -1;
    case OPT_GATEWAY6:
        return parse_gateway6(o, arg);
    case OPT_VLAN:
        return number(o, "vlan", arg, 1, VLAN_ID_MAX, &o->vlan);
    case OPT_MAC:
        return parse_mac(o, arg);
    case OPT_SOCKET:
        o->socket = arg;
        return -1;
    case OPT_USER:
        o->user = arg;
        return -1;
    case OPT_GROUP:
        o->group = arg;
        return -1;
    case OPT_RUN_AS:
        return parse_run_as(o, arg);
    case OPT_NO_SANDBOX:
        o->no_sandbox = 1;
        return -1;
    case OPT_USER_LIMITS:
        return parse_limits(o, arg);
    case OPT_ENGINES:
        return number(o, "engines", arg, 1, ENGINES_MAX, &o->engines);
    case OPT_SPIN:
        return number(o, "spin-us", arg, 0, 1000000, &o->spin_us);
    case OPT_MAX_FLOWS:
        return number(o, "max-flows", arg, 1, 1u << 20, &o->max_flows);
    case OPT_MAX_NEIGHBOURS:
        return number(o, "max-neighbours", arg, 16, UINT16_MAX, &o->max_neighbours);
    case OPT_MAX_QPS:
        return number(o, "max-qps", arg, 1, 1024, &o->max_qps);
    case OPT_MAX_MEMORY:
        return number(o, "max-memory", arg, 1, UINT32_MAX, &o->max_memory_mib);
    case OPT_MTU:
        return number(o, "mtu", arg, 576, 9216, &o->mtu);
    case OPT_CONGESTION:
        return parse_congestion(o, arg);
    case OPT_ECN:
        return number(o, "ecn", arg, 0, 2, &o->ecn);
    case OPT_MTU_PROBING:
        return number(o, "mtu-probing", arg, 0, 2, &o->mtu_probing);
    case OPT_TTL:
        return number(o, "ttl", arg, 1, 255, &o->ttl);
    case OPT_CHECK_IP:
        o->check_ip = 1;
        return -1;
    case OPT_RFC1337:
        o->rfc1337 = 1;
        return -1;
    case OPT_TAKE_OVER:
        o->take_over = 1;
        return -1;
    case OPT_OFFLOAD:
        return parse_offload(o, arg);
    case OPT_SEED:
        return parse_seed(o, arg);
    case OPT_HELP:
        fputs(options_help, stdout);
        return 0;
    case OPT_VERSION:
        puts("toed " TOEHOLD_VERSION);
        return 0;
    case OPT_MANAGER:
        return parse_manager(o, arg);
    case OPT_MANAGER_CPU:
        o->manager_pinned = 1;
        return number(o, "manager-cpu", arg, 0, CPU_SETSIZE - 1, &o->manager_cpu);
    case OPT_LINGER:
        return number(o, "linger-ms", arg, 0, 60000, &o->linger_ms);
    default: /* OPT_CPU */
        return parse_cpus(o, arg);
    }
}

static uint32_t ip_number(const uint8_t ip[4])
{
    return (uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3];
}

/* With --ip shared: all of the address configuration comes from the kernel. */
static int check_shared(const struct options *o)
{
    if (o->has_ip6)
        return refuse(o, "--ip shared: IPv6 is shared too: want neither --ip6 nor --ip6-auto");
    if (o->vlan)
        return refuse(o, "--vlan %u: want an address of the TOE's own, not --ip shared", o->vlan);
    if (ip_number(o->gateway) || o->has_mac || o->check_ip)
        return refuse(o,
                      "--ip shared: gateway, Ethernet address and conflicts are the kernel's: want "
                      "no --gateway, --mac or --check-ip");
    return -1;
}

/* Checks options against each other: address, prefix and gateway must match. */
static int check_addresses(const struct options *o)
{
    uint32_t ip = ip_number(o->ip), gateway = ip_number(o->gateway);
    uint32_t host = o->prefix_len == 32 ? 0 : UINT32_MAX >> o->prefix_len;
    static const uint8_t none[16];

    if (o->shared)
        return check_shared(o);
    if (!o->has_ip6 && memcmp(o->gateway6, none, sizeof(none)) != 0)
        return refuse(o, "--gateway6: want --ip6 or --ip6-auto too");
    if (o->has_ip6 && memcmp(o->gateway6, o->ip6, sizeof(o->ip6)) == 0 && !o->ip6_auto)
        return refuse(o, "--gateway6: want another address than that of --ip6");
    if (!o->prefix_len && gateway == 0)
        return -1; /* IPv6 only */
    if (!o->prefix_len)
        return refuse(o, "--gateway: want --ip too");
    if (o->prefix_len < 31 && ((ip & host) == 0 || (ip & host) == host))
        return refuse(o, "--ip: the %s address of the prefix cannot be the TOE's",
                      (ip & host) == 0 ? "network" : "broadcast");
    if (gateway != 0 && (gateway == ip || ((gateway ^ ip) & ~host) != 0))
        return refuse(o, "--gateway: want another address within the prefix of --ip");
    return -1;
}

static const struct option_name *find(const char *word, size_t len, unsigned of)
{
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if ((names[i].of & of) && strlen(names[i].name) == len &&
            memcmp(names[i].name, word, len) == 0)
            return &names[i];
    return NULL;
}

/* Takes the option at words[*at], with its value. */
static int take_one(struct options *o, int count, char **words, int *at, unsigned of)
{
    const char *word = words[(*at)++], *equals = strchr(word, '='), *arg = "";
    const struct option_name *n;

    if (of == OF_TOED && (strcmp(word, "-h") == 0 || strcmp(word, "-V") == 0))
        return parse_one(o, word[1] == 'h' ? OPT_HELP : OPT_VERSION, arg);
    if (strncmp(word, "--", 2) != 0)
        return refuse(o, "'%s': options only, such as --netif%s", word,
                      of == OF_TOED ? "; --help shows them" : "");
    n = find(word + 2, equals ? (size_t)(equals - word) - 2 : strlen(word) - 2, of);
    if (!n)
        return refuse(o, "there is no option '%s'%s", word,
                      of == OF_TOED ? "; --help shows the options"
                                    : " of an engine in the program");
    if (equals && !n->has_value)
        return refuse(o, "--%s takes no value", n->name);
    if (n->has_value && !equals && *at == count)
        return refuse(o, "--%s needs a value", n->name);
    if (n->has_value)
        arg = equals ? equals + 1 : words[(*at)++];
    return parse_one(o, n->opt, arg);
}

static int parse(struct options *o, int count, char **words, unsigned of)
{
    int at = 0, rc;

    o->engines = 1;
    o->spin_us = 50;
    o->offload = OFFLOAD_ALL;
    o->ecn = 2;
    o->mtu_probing = 1;
    o->max_flows = 16384;
    o->max_neighbours = 4096; /* 1024 may wait for an answer: net.ipv4.neigh.default.gc_thresh3 */
    o->max_qps = of == OF_TOED ? 128 : 1;
    o->max_memory_mib = 65536;
    o->linger_ms = 1000;
    while (at < count) {
        rc = take_one(o, count, words, &at, of);
        if (rc >= 0)
            return rc;
    }
    if (!o->netif || (!o->prefix_len && !o->has_ip6 && !o->shared))
        return refuse(o, "--%s is missing%s", o->netif ? "ip" : "netif",
                      of == OF_TOED ? "; --help shows the options" : "");
    if (o->shared && of == OF_INSIDE)
        return refuse(o,
                      "--ip shared: want toed: an engine in a program has an address of its own");
    if (o->force && !o->shared)
        return refuse(o, "--force: want --ip shared too");
    if (o->cpu_count && o->cpu_count != o->engines)
        return refuse(o, "--cpu names %u CPUs for %u engine%s: one for each", o->cpu_count,
                      o->engines, o->engines == 1 ? "" : "s");
    if (o->manager_pinned && !o->polling)
        return refuse(o, "--manager-cpu: want --manager polling too");
    return check_addresses(o);
}

int options_parse(struct options *o, int argc, char **argv)
{
    memset(o, 0, sizeof(*o));
    o->socket = TOEDEV_DEFAULT_SOCKET;
    return parse(o, argc - 1, argv + 1, OF_TOED);
}

int options_parse_inside(struct options *o, char *text, char *err, size_t err_size)
{
    char *words[WORDS_MAX], *rest = NULL, *word;
    int count = 0;

    memset(o, 0, sizeof(*o));
    o->err = err;
    o->err_size = err_size;
    for (word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        if (count == WORDS_MAX)
            return refuse(o, "more than %d words of options", WORDS_MAX);
        words[count++] = word;
    }
    return parse(o, count, words, OF_INSIDE);
}

void options_addresses(const struct options *o, char *out, size_t size)
{
    char ip[INET_ADDRSTRLEN + 8] = "", ip6[INET6_ADDRSTRLEN + 8] = "", vlan[20] = "";

    if (o->prefix_len) {
        inet_ntop(AF_INET, o->ip, ip, INET_ADDRSTRLEN);
        snprintf(ip + strlen(ip), 8, "/%u", o->prefix_len);
    }
    if (o->prefix_len6) {
        inet_ntop(AF_INET6, o->ip6, ip6, INET6_ADDRSTRLEN);
        snprintf(ip6 + strlen(ip6), 8, "/%u", o->prefix_len6);
    }
    if (o->vlan)
        snprintf(vlan, sizeof(vlan), " in VLAN %u", o->vlan);
    snprintf(out, size, "%s%s%s%s%s%s", ip, o->shared ? " (shared with the kernel)" : "",
             *ip && *ip6 ? " and " : "", ip6,
             !o->ip6_auto  ? ""
             : *ip || *ip6 ? " and IPv6 as advertised"
                           : "IPv6 as advertised",
             vlan);
}
