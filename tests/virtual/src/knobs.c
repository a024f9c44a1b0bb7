/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knobs.c - the list of knobs. A new one is a line in the table and, unless it is a plain number
 * of struct knobs, a pair of functions: one that takes the text and one that gives it.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <toe/number.h>

#include "knobs.h"

#define KNOB_NAME_MAX 64
#define KNOB_TEXT_MAX 64

struct knob {
    const char *name;
    /* -1: not a value for it. bits: of the table, for those that share a function. */
    int (*set)(struct knobs *k, const char *text, uint32_t bits);
    void (*get)(const struct knobs *k, char *out, size_t size, uint32_t bits);
    uint32_t bits;
    const char *help;
};

static int number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    return toe_number_c(text, min, max, out, NULL, 0) ? 0 : -1;
}

static int set_seed(struct knobs *k, const char *text, uint32_t bits)
{
    uint64_t x;
    size_t i;

    (void)bits;
    if (number(text, 0, UINT64_MAX, &x) != 0)
        return -1;
    k->seed = x;
    for (i = 0; i < sizeof(k->core.secret); i++) { /* splitmix64 */
        uint64_t z = x += 0x9e3779b97f4a7c15ull;

        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        k->core.secret[i] = (uint8_t)(z ^ z >> 31);
    }
    return 0;
}

static void get_seed(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    (void)bits;
    snprintf(out, size, "%" PRIu64, k->seed);
}

static int set_ip(struct knobs *k, const char *text, uint32_t bits)
{
    (void)bits;
    k->has_ip = 1;
    return inet_pton(AF_INET, text, k->core.ip) == 1 ? 0 : -1;
}

static void get_ip(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    (void)bits;
    inet_ntop(AF_INET, k->core.ip, out, (socklen_t)size);
}

static int set_gateway(struct knobs *k, const char *text, uint32_t bits)
{
    (void)bits;
    return inet_pton(AF_INET, text, k->core.gateway) == 1 ? 0 : -1;
}

static void get_gateway(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    (void)bits;
    inet_ntop(AF_INET, k->core.gateway, out, (socklen_t)size);
}

/* IPv6 begins with an address of it. */
static int set_ip6(struct knobs *k, const char *text, uint32_t bits)
{
    (void)bits;
    if (inet_pton(AF_INET6, text, k->core.ip6_addr) != 1)
        return -1;
    k->core.ip6 = TOEC_IP6_STATIC;
    return 0;
}

static void get_ip6(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    (void)bits;
    inet_ntop(AF_INET6, k->core.ip6_addr, out, (socklen_t)size);
}

static int set_gateway6(struct knobs *k, const char *text, uint32_t bits)
{
    (void)bits;
    return inet_pton(AF_INET6, text, k->core.ip6_gateway) == 1 ? 0 : -1;
}

static void get_gateway6(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    (void)bits;
    inet_ntop(AF_INET6, k->core.ip6_gateway, out, (socklen_t)size);
}

static int set_prefix6(struct knobs *k, const char *text, uint32_t bits)
{
    uint64_t x;

    (void)bits;
    if (number(text, 0, 128, &x) != 0)
        return -1;
    k->core.ip6_prefix_len = (uint8_t)x;
    return 0;
}

static void get_prefix6(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    (void)bits;
    snprintf(out, size, "%u", k->core.ip6_prefix_len);
}

static int set_prefix(struct knobs *k, const char *text, uint32_t bits)
{
    uint64_t x;

    (void)bits;
    if (number(text, 0, 32, &x) != 0)
        return -1;
    k->core.prefix_len = (uint8_t)x;
    return 0;
}

static void get_prefix(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    (void)bits;
    snprintf(out, size, "%u", k->core.prefix_len);
}

static const char *const cc_names[] = {[TOEC_CC_CUBIC] = "cubic",
                                       [TOEC_CC_NEWRENO] = "reno",
                                       [TOEC_CC_DCTCP] = "dctcp",
                                       [TOEC_CC_BBR3] = "bbr3",
                                       [TOEC_CC_BBR1] = "bbr"};

static int set_cc(struct knobs *k, const char *text, uint32_t bits)
{
    size_t i;

    (void)bits;
    for (i = 0; i < sizeof(cc_names) / sizeof(cc_names[0]); i++)
        if (cc_names[i] && strcmp(text, cc_names[i]) == 0) {
            k->core.cc = (enum toec_cc)i;
            return 0;
        }
    return -1;
}

static void get_cc(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    (void)bits;
    snprintf(out, size, "%s", cc_names[k->core.cc]);
}

/* An option of TCP that is used (1) or not (0). */
static int set_option(struct knobs *k, const char *text, uint32_t bits)
{
    uint64_t x;

    if (number(text, 0, 2, &x) != 0) /* tcp_timestamps=2: Linux's, without random offsets */
        return -1;
    k->core.tcp_without = x ? k->core.tcp_without & ~bits : k->core.tcp_without | bits;
    return 0;
}

static void get_option(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    snprintf(out, size, "%d", !(k->core.tcp_without & bits));
}

/* 0, 1, 2 as in the sysctls. */
static int set_ecn(struct knobs *k, const char *text, uint32_t bits)
{
    static const enum toec_ecn_policy policy[] = {TOEC_ECN_OFF, TOEC_ECN_ON, TOEC_ECN_PASSIVE};
    uint64_t x;

    (void)bits;
    if (number(text, 0, 2, &x) != 0)
        return -1;
    k->core.ecn = policy[x];
    return 0;
}

static void get_ecn(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    (void)bits;
    snprintf(out, size, "%d", k->core.ecn == TOEC_ECN_OFF ? 0 : k->core.ecn == TOEC_ECN_ON ? 1 : 2);
}

static int set_mtu_probing(struct knobs *k, const char *text, uint32_t bits)
{
    static const enum toec_mtu_probing probing[] = {
        TOEC_MTU_PROBING_OFF, TOEC_MTU_PROBING_BLACK_HOLE, TOEC_MTU_PROBING_ALWAYS};
    uint64_t x;

    (void)bits;
    if (number(text, 0, 2, &x) != 0)
        return -1;
    k->core.mtu_probing = probing[x];
    return 0;
}

static void get_mtu_probing(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    (void)bits;
    snprintf(out, size, "%d",
             k->core.mtu_probing == TOEC_MTU_PROBING_OFF      ? 0
             : k->core.mtu_probing == TOEC_MTU_PROBING_ALWAYS ? 2
                                                              : 1);
}

/* Linux's notation: four numbers in hexadecimal, each of them little endian. */
static int set_fo_key(struct knobs *k, const char *text, uint32_t bits)
{
    unsigned word[4], i, j;
    char more;

    (void)bits;
    k->has_fo_key = strcmp(text, "none") != 0;
    if (!k->has_fo_key)
        return 0;
    if (sscanf(text, "%8x-%8x-%8x-%8x%c", &word[0], &word[1], &word[2], &word[3], &more) != 4)
        return -1;
    for (i = 0; i < 4; i++)
        for (j = 0; j < 4; j++)
            k->fo_key[4 * i + j] = (uint8_t)(word[i] >> 8 * j);
    return 0;
}

static void get_fo_key(const struct knobs *k, char *out, size_t size, uint32_t bits)
{
    const uint8_t *b = k->fo_key;
    unsigned word[4], i;

    (void)bits;
    for (i = 0; i < 4; i++, b += 4)
        word[i] = b[0] | (unsigned)b[1] << 8 | (unsigned)b[2] << 16 | (unsigned)b[3] << 24;
    if (k->has_fo_key)
        snprintf(out, size, "%08x-%08x-%08x-%08x", word[0], word[1], word[2], word[3]);
    else
        snprintf(out, size, "none");
}

/* A 32-bit number of struct knobs; `bits` is its offset. */
static uint32_t *plain(struct knobs *k, uint32_t at)
{
    return (uint32_t *)((uint8_t *)k + at);
}

static int set_plain(struct knobs *k, const char *text, uint32_t at)
{
    uint64_t x;

    if (number(text, 0, UINT32_MAX, &x) != 0)
        return -1;
    *plain(k, at) = (uint32_t)x;
    return 0;
}

static void get_plain(const struct knobs *k, char *out, size_t size, uint32_t at)
{
    uint32_t x;

    memcpy(&x, (const uint8_t *)k + at, sizeof(x));
    snprintf(out, size, "%u", x);
}

#define PLAIN(member) set_plain, get_plain, (uint32_t)offsetof(struct knobs, member)

static const struct knob knobs[] = {
    {"seed", set_seed, get_seed, 0, "of ISNs, ports, timestamp offsets; 1"},
    {"isn", PLAIN(isn), "initial sequence number of every connection; 0: the stack chooses"},
    {"local_ip", set_ip, get_ip, 0, "the stack's address; the first that is bound, 192.168.0.10"},
    {"prefix", set_prefix, get_prefix, 0, "bits of its network; 16"},
    {"gateway", set_gateway, get_gateway, 0, "192.168.0.1"},
    {"local_ip6", set_ip6, get_ip6, 0, "its IPv6 address; the first that is used, or no IPv6"},
    {"prefix6", set_prefix6, get_prefix6, 0, "bits of its network; 48"},
    {"gateway6", set_gateway6, get_gateway6, 0, "a host of the network of the first address used"},
    {"mtu", PLAIN(core.mtu), "1500"},
    {"ip_default_ttl", PLAIN(core.ttl), "and hop limit of IPv6; 64"},
    {"rcvbuf", PLAIN(rx_size), "bytes of receive buffer, a power of two; 8388608"},
    {"sndbuf", PLAIN(tx_size), "bytes of send buffer, a power of two; 65536"},
    {"slots", PLAIN(slots), "connections at once, a power of two; 64"},
    {"max_flows", PLAIN(core.max_flows), "TCBs; 256"},
    {"max_time_wait", PLAIN(core.max_time_wait), "256"},
    {"icmp_ratelimit", PLAIN(core.icmp_error_rate), "ICMP errors a second and destination; 100"},
    {"tcp_congestion_control", set_cc, get_cc, 0, "cubic, reno, dctcp, bbr, bbr3"},
    {"tcp_ecn", set_ecn, get_ecn, 0, "0 never, 1 always asked for, 2 granted; 2"},
    {"tcp_fastopen", PLAIN(fastopen), "bits as in Linux: 1, 2, 4, 0x200, 0x400; 3"},
    {"tcp_fastopen_key", set_fo_key, get_fo_key, 0,
     "of listeners that set none, or none: the stack's; a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4"},
    {"tcp_mtu_probing", set_mtu_probing, get_mtu_probing, 0, "0 never, 1 black holes, 2 always; 1"},
    {"tcp_rfc1337", PLAIN(core.rfc1337), "1: a RST does not end TIME-WAIT; 0"},
    {"tcp_sack", set_option, get_option, TOEC_I_SACK, "selective acknowledgments; 1"},
    {"tcp_timestamps", set_option, get_option, TOEC_I_TIMESTAMPS, "1"},
    {"tcp_window_scaling", set_option, get_option, TOEC_I_WSCALE, "1"},
};

#define KNOBS (sizeof(knobs) / sizeof(knobs[0]))

void knobs_default(struct knobs *k)
{
    memset(k, 0, sizeof(*k));
    set_seed(k, "1", 0);
    memcpy(k->core.ip, (uint8_t[]){192, 168, 0, 10}, 4);
    memcpy(k->core.gateway, (uint8_t[]){192, 168, 0, 1}, 4);
    k->core.prefix_len = 16;
    k->core.ip6_prefix_len = 48;
    k->core.mtu = 1500;
    k->core.ttl = 64;
    k->core.max_flows = 256;
    k->core.max_time_wait = 256;
    k->core.icmp_error_rate = 100;
    k->rx_size = 8u << 20; /* window scale 8, as of Linux's selftests */
    k->tx_size = 65536;
    set_fo_key(k, "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4", 0); /* theirs, too */
    k->slots = 64;
    k->fastopen = FO_CLIENT | FO_SERVER;
}

static const struct knob *find(const char *name)
{
    size_t i;

    for (i = 0; i < KNOBS; i++)
        if (strcmp(knobs[i].name, name) == 0)
            return &knobs[i];
    return NULL;
}

static int set_one(struct knobs *k, char *word, int running, char *err, size_t err_size)
{
    char *value = strchr(word, '='), before[KNOB_TEXT_MAX];
    const struct knob *knob;

    if (!value) {
        snprintf(err, err_size, "'%s': a knob is set by name=value", word);
        return -1;
    }
    *value++ = 0;
    knob = find(word);
    if (!knob) {
        snprintf(err, err_size, "there is no knob '%s'", word);
        return -1;
    }
    knob->get(k, before, sizeof(before), knob->bits);
    if (running && strcmp(before, value) != 0) {
        snprintf(err, err_size, "%s can only be set before the first bind, connect or packet",
                 word);
        return -1;
    }
    if (knob->set(k, value, knob->bits) != 0) {
        snprintf(err, err_size, "%s=%s is not a value for it (%s)", word, value, knob->help);
        return -1;
    }
    return 0;
}

int knobs_set(struct knobs *k, const char *flags, int running, char *err, size_t err_size)
{
    char *text = strdup(flags ? flags : ""), *word, *rest;
    int r = text ? 0 : -1;

    for (word = strtok_r(text, ", \t\n", &rest); r == 0 && word;
         word = strtok_r(NULL, ", \t\n", &rest))
        r = set_one(k, word, running, err, err_size);
    free(text);
    return r;
}

const char *knobs_get(const struct knobs *k, const char *name, char *out, size_t size)
{
    const struct knob *knob = find(name);

    if (!knob)
        return NULL;
    knob->get(k, out, size, knob->bits);
    return out;
}

const char *knobs_name(unsigned i, const char **help)
{
    if (i >= KNOBS)
        return NULL;
    *help = knobs[i].help;
    return knobs[i].name;
}
