/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - the command line of toed, and the options of an engine within a program. It does not
 * use getopt(), whose state is global and belongs to the program.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "frames/offload.h"
#include "options_parts.h"
#include "options_values.h"

#define WORDS_MAX 64 /* limit of the options of an engine within a program */

/* ---- options against each other ---- */

static uint32_t ip_number(const uint8_t ip[4])
{
    return (uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3];
}

/* With --ip shared: all of the address configuration comes from the kernel. */
static int check_shared(const struct options *o)
{
    if (o->has_ip6)
        return options_refuse(o,
                              "--ip shared: IPv6 is shared too: want neither --ip6 nor --ip6-auto");
    if (o->vlan)
        return options_refuse(o, "--vlan %u: want an address of the TOE's own, not --ip shared",
                              o->vlan);
    if (ip_number(o->gateway) || o->has_mac || o->check_ip)
        return options_refuse(
            o, "--ip shared: gateway, Ethernet address and conflicts are the kernel's: want "
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
        return options_refuse(o, "--gateway6: want --ip6 or --ip6-auto too");
    if (o->has_ip6 && memcmp(o->gateway6, o->ip6, sizeof(o->ip6)) == 0 && !o->ip6_auto)
        return options_refuse(o, "--gateway6: want another address than that of --ip6");
    if (!o->prefix_len && gateway == 0)
        return -1; /* IPv6 only */
    if (!o->prefix_len)
        return options_refuse(o, "--gateway: want --ip too");
    if (o->prefix_len < 31 && ((ip & host) == 0 || (ip & host) == host))
        return options_refuse(o, "--ip: the %s address of the prefix cannot be the TOE's",
                              (ip & host) == 0 ? "network" : "broadcast");
    if (gateway != 0 && (gateway == ip || ((gateway ^ ip) & ~host) != 0))
        return options_refuse(o, "--gateway: want another address within the prefix of --ip");
    return -1;
}

/* ---- words of a command line ---- */

static const struct {
    const char *name;
    enum option_plain plain;
    int has_value;
} plains[] = {{"take-over", OPTION_TAKE_OVER, 0},
              {"config", OPTION_CONFIG, 1},
              {"no-config", OPTION_NO_CONFIG, 0},
              {"help", OPTION_HELP, 0},
              {"version", OPTION_VERSION, 0}};

static const struct config_setting *find_setting(const char *word, size_t len,
                                                 enum option_place place)
{
    static const char *const toed[] = {"toed", "", "log", NULL}, *const program[] = {"inline",
                                                                                     NULL};
    const struct config_setting *s = NULL;
    const char *const *section;

    if (len == 5 && memcmp(word, "netio", 5) == 0) /* its name in the first release */
        word = "netif";
    for (section = place == IN_TOED ? toed : program; *section && !s; section++)
        s = config_find_flag(*section, word, len);
    return s;
}

/* Finds the option of this name. Returns 0 when there is none. */
static int find(const char *word, size_t len, enum option_place place, struct option_found *f)
{
    size_t i;

    memset(f, 0, sizeof(*f));
    for (i = 0; place == IN_TOED && i < sizeof(plains) / sizeof(plains[0]); i++)
        if (strlen(plains[i].name) == len && memcmp(plains[i].name, word, len) == 0) {
            f->plain = plains[i].plain;
            f->name = plains[i].name;
            f->has_value = plains[i].has_value;
            return 1;
        }
    f->setting = find_setting(word, len, place);
    if (!f->setting && len > 3 && memcmp(word, "no-", 3) == 0) {
        f->setting = find_setting(word + 3, len - 3, place);
        f->negated = 1;
    }
    if (!f->setting || (f->negated && f->setting->type != CONFIG_FLAG))
        return 0;
    f->name = f->setting->flag;
    f->has_value = f->setting->type != CONFIG_FLAG;
    return 1;
}

int options_find(const struct options *o, int count, char **words, int *at, enum option_place place,
                 struct option_found *f)
{
    const char *word = words[(*at)++], *equals = strchr(word, '=');

    if (place == IN_TOED && strcmp(word, "-h") == 0)
        word = "--help";
    if (place == IN_TOED && strcmp(word, "-V") == 0)
        word = "--version";
    if (strncmp(word, "--", 2) != 0)
        return options_refuse(o, "'%s': options only, such as --netif%s", word,
                              place == IN_TOED ? "; --help shows them" : "");
    if (!find(word + 2, equals ? (size_t)(equals - word) - 2 : strlen(word) - 2, place, f))
        return options_refuse(o, "there is no option '%s'%s", word,
                              place == IN_TOED ? "; --help shows the options"
                                               : " of an engine in the program");
    if (equals && !f->has_value)
        return options_refuse(o, "%.*s takes no value", (int)(equals - word), word);
    if (f->has_value && !equals && *at == count)
        return options_refuse(o, "--%s needs a value", f->name);
    f->value = equals ? equals + 1 : f->has_value ? words[(*at)++] : f->negated ? "false" : "true";
    return -1;
}

int options_take_plain(struct options *o, const struct option_found *f)
{
    switch (f->plain) {
    case OPTION_TAKE_OVER:
        o->take_over = 1;
        return -1;
    case OPTION_CONFIG:
        o->config_file = f->value;
        return *f->value ? -1 : options_refuse(o, "--config: the path is empty");
    case OPTION_NO_CONFIG:
        o->config_file = "";
        return -1;
    case OPTION_HELP:
        fputs(options_help, stdout);
        return 0;
    default:
        puts("toed " TOEHOLD_VERSION);
        return 0;
    }
}

/* ---- all of them ---- */

int options_is_of(const struct config_setting *s, enum option_place place)
{
    if (place == IN_PROGRAM)
        return strcmp(s->section, "inline") == 0;
    return s->flag && strcmp(s->section, "run") != 0 && strcmp(s->section, "inline") != 0;
}

int options_defaults(struct options *o, enum option_place place)
{
    size_t i;
    int rc = -1;

    o->engines = 1;
    o->max_qps = 1;
    o->offload = OFFLOAD_ALL;
    o->log_level = TOE_LOG_INFO;
    for (i = 0; i < config_count && rc < 0; i++)
        if (options_is_of(&config_settings[i], place) && config_settings[i].fallback)
            rc = options_set(o, &config_settings[i], config_settings[i].fallback);
    return rc;
}

static int check(const struct options *o, enum option_place place)
{
    if (!o->netif || (!o->prefix_len && !o->has_ip6 && !o->shared))
        return options_refuse(o, "--%s is missing%s", o->netif ? "ip" : "netif",
                              place == IN_TOED ? "; --help shows the options" : "");
    if (o->shared && place == IN_PROGRAM)
        return options_refuse(
            o, "--ip shared: want toed: an engine in a program has an address of its own");
    if (o->force && !o->shared)
        return options_refuse(o, "--force: want --ip shared too");
    if (o->cpu_count && o->cpu_count != o->engines)
        return options_refuse(o, "--cpu names %u CPUs for %u engine%s: one for each", o->cpu_count,
                              o->engines, o->engines == 1 ? "" : "s");
    if (o->manager_pinned && !o->polling)
        return options_refuse(o, "--manager-cpu: want --manager polling too");
    return check_addresses(o);
}

int options_finish(struct options *o, int count, char **words, enum option_place place)
{
    struct option_found f = {0};
    int at = 0, rc = -1;

    while (at < count && rc < 0) {
        rc = options_find(o, count, words, &at, place, &f);
        if (rc < 0)
            rc = f.setting ? options_set(o, f.setting, f.value) : options_take_plain(o, &f);
    }
    return rc < 0 ? check(o, place) : rc;
}

int options_parse(struct options *o, int argc, char **argv)
{
    int rc;

    memset(o, 0, sizeof(*o));
    rc = options_defaults(o, IN_TOED);
    return rc < 0 ? options_finish(o, argc - 1, argv + 1, IN_TOED) : rc;
}

int options_parse_inside(struct options *o, char *text, char *err, size_t err_size)
{
    char *words[WORDS_MAX], *rest = NULL, *word;
    int count = 0, rc;

    memset(o, 0, sizeof(*o));
    o->err = err;
    o->err_size = err_size;
    for (word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        if (count == WORDS_MAX)
            return options_refuse(o, "more than %d words of options", WORDS_MAX);
        words[count++] = word;
    }
    rc = options_defaults(o, IN_PROGRAM);
    return rc < 0 ? options_finish(o, count, words, IN_PROGRAM) : rc;
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
