/* SPDX-License-Identifier: Apache-2.0 */
/* options_values.c - the values of toed's options, and of those of an engine within a program. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <toe/number.h>

#include "base/moderation.h"
#include "frames/offload.h"
#include "options_values.h"

int options_refuse(const struct options *o, const char *format, ...)
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
    return options_refuse(o, "--%s %s: want %s", option, value, want);
}

/* ---- values: each returns -1, or an exit code after a message ---- */

struct store;
typedef int (*parse_fn)(struct options *o, const struct store *to, const struct config_setting *s,
                        const char *text);

/* Where the value of a setting goes. */
struct store {
    const char *name; /* of the option */
    parse_fn parse;
    size_t at; /* of the field, for the functions that many settings share */
};

static int parse_number(struct options *o, const struct store *to, const struct config_setting *s,
                        const char *text)
{
    char want[TOE_NUMBER_WANT];
    uint64_t v;
    uint32_t n;

    if (!toe_number(text, s->min, s->max, &v, want, sizeof(want)))
        return bad(o, s->flag, text, want);
    n = (uint32_t)v;
    memcpy((char *)o + to->at, &n, sizeof(n));
    return -1;
}

static int parse_text(struct options *o, const struct store *to, const struct config_setting *s,
                      const char *text)
{
    (void)s;
    memcpy((char *)o + to->at, &text, sizeof(text));
    return -1;
}

static int parse_flag(struct options *o, const struct store *to, const struct config_setting *s,
                      const char *text)
{
    int on = config_flag(text);

    if (on < 0)
        return bad(o, s->flag, text, "true or false");
    memcpy((char *)o + to->at, &on, sizeof(on));
    return -1;
}

static int parse_ip(struct options *o, const struct store *to, const struct config_setting *s,
                    const char *text)
{
    char want[CONFIG_WANT];

    (void)to;
    o->shared = strcmp(text, "shared") == 0;
    return o->shared || config_prefix4(text, o->ip, &o->prefix_len, want, sizeof(want))
               ? -1
               : bad(o, s->flag, text, want);
}

static int parse_ip6(struct options *o, const struct store *to, const struct config_setting *s,
                     const char *text)
{
    char want[CONFIG_WANT];

    (void)to;
    if (!config_prefix6(text, o->ip6, &o->prefix_len6, want, sizeof(want)))
        return bad(o, s->flag, text, want);
    o->has_ip6 = 1;
    return -1;
}

static int parse_ip6_auto(struct options *o, const struct store *to, const struct config_setting *s,
                          const char *text)
{
    (void)to;
    o->ip6_auto = config_flag(text);
    if (o->ip6_auto < 0)
        return bad(o, s->flag, text, "true or false");
    o->has_ip6 |= o->ip6_auto;
    return -1;
}

static int parse_gateway(struct options *o, const struct store *to, const struct config_setting *s,
                         const char *text)
{
    (void)to;
    return config_address4(text, o->gateway) ? -1 : bad(o, s->flag, text, "an address");
}

static int parse_gateway6(struct options *o, const struct store *to, const struct config_setting *s,
                          const char *text)
{
    (void)to;
    return config_address6(text, o->gateway6) ? -1
                                              : bad(o, s->flag, text, "a unicast IPv6 address");
}

static int parse_mac(struct options *o, const struct store *to, const struct config_setting *s,
                     const char *text)
{
    (void)to;
    if (!config_mac(text, o->mac))
        return bad(o, s->flag, text, "a unicast Ethernet address, such as 02:00:00:00:00:01");
    o->has_mac = 1;
    return -1;
}

static int parse_congestion(struct options *o, const struct store *to,
                            const struct config_setting *s, const char *text)
{
    /* by enum toec_cc */
    static const char *const names[] = {"cubic", "reno", "dctcp", "bbr3", "bbr"};
    uint32_t i;

    (void)to;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(text, names[i])) {
            o->cc = i;
            return -1;
        }
    return bad(o, s->flag, text, "cubic, reno, bbr, bbr3 or dctcp");
}

/* Parses up to 64 hex digits; missing ones are zero. */
static int parse_seed(struct options *o, const struct store *to, const struct config_setting *s,
                      const char *text)
{
    size_t n = strlen(text), i;

    (void)to;
    for (i = 0; i < n && toe_hex_digit(text[i]) >= 0; i++)
        ;
    if (n == 0 || n > 2 * sizeof(o->secret) || i < n)
        return bad(o, s->flag, text, "1 to 64 hex digits");
    memset(o->secret, 0, sizeof(o->secret));
    for (i = 0; i < n; i++)
        o->secret[i / 2] |= (uint8_t)(toe_hex_digit(text[i]) << (i % 2 ? 0 : 4));
    o->has_secret = 1;
    return -1;
}

static int parse_offload(struct options *o, const struct store *to, const struct config_setting *s,
                         const char *text)
{
    uint32_t changed, on;
    char why[160];

    (void)to;
    (void)s;
    if (offload_parse(text, &changed, &on, why, sizeof(why)) != 0)
        return options_refuse(o, "--offload: %s", why);
    o->offload = (o->offload & ~changed) | on;
    o->offload_asked = (o->offload_asked & ~changed) | on;
    return -1;
}

static int parse_limits(struct options *o, const struct store *to, const struct config_setting *s,
                        const char *text)
{
    char why[160];

    (void)to;
    (void)s;
    if (limits_parse(&o->limits, text, why, sizeof(why)) != 0)
        return options_refuse(o, "--user-limits: %s", why);
    return -1;
}

/* Parses "2" or "2,3": the CPUs of the first engine, the second, ... */
static int parse_cpus(struct options *o, const struct store *to, const struct config_setting *s,
                      const char *arg)
{
    struct store one = *to;
    char word[16];
    size_t n;

    for (o->cpu_count = 0; o->cpu_count < ENGINES_MAX; arg += n + 1) {
        n = strcspn(arg, ",");
        snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : (int)sizeof(word) - 1,
                 arg);
        one.at = offsetof(struct options, cpu) + o->cpu_count * sizeof(o->cpu[0]);
        if (parse_number(o, &one, s, word) >= 0)
            return EXIT_USAGE;
        o->cpu_count++;
        if (arg[n] == '\0')
            return -1;
    }
    return options_refuse(o, "--cpu: more than %u CPUs", ENGINES_MAX);
}

static int parse_manager(struct options *o, const struct store *to, const struct config_setting *s,
                         const char *text)
{
    (void)to;
    o->polling = strcmp(text, "polling") == 0;
    return o->polling || strcmp(text, "interrupts") == 0
               ? -1
               : bad(o, s->flag, text, "interrupts or polling");
}

static int parse_manager_cpu(struct options *o, const struct store *to,
                             const struct config_setting *s, const char *text)
{
    o->manager_pinned = 1;
    return parse_number(o, to, s, text);
}

static int parse_log_level(struct options *o, const struct store *to,
                           const struct config_setting *s, const char *text)
{
    char want[CONFIG_WANT];

    (void)to;
    config_describe(s, want, sizeof(want));
    return toe_log_level(text, &o->log_level) ? -1 : bad(o, s->flag, text, want);
}

static int parse_log_format(struct options *o, const struct store *to,
                            const struct config_setting *s, const char *text)
{
    char want[CONFIG_WANT];

    (void)to;
    config_describe(s, want, sizeof(want));
    return toe_log_format(text, &o->log_format) ? -1 : bad(o, s->flag, text, want);
}

static int parse_run_as(struct options *o, const struct store *to, const struct config_setting *s,
                        const char *text)
{
    size_t user = strcspn(text, ":");

    (void)to;
    if (!user || user > 63 || (text[user] && !text[user + 1]))
        return bad(o, s->flag, text, "USER or USER:GROUP, names or numbers");
    o->run_as = text;
    return -1;
}

static int parse_moderation(struct options *o, const struct store *to,
                            const struct config_setting *s, const char *text)
{
    char want[CONFIG_WANT];

    (void)to;
    if (!config_accepts(s, text, want, sizeof(want)))
        return bad(o, s->flag, text, want);
    o->moderation = moderation_parse(text);
    return -1;
}

/* The profile has set other settings before; its name is only checked. */
static int parse_profile(struct options *o, const struct store *to, const struct config_setting *s,
                         const char *text)
{
    char want[CONFIG_WANT];

    (void)to;
    return config_accepts(s, text, want, sizeof(want)) ? -1 : bad(o, s->flag, text, want);
}

#define AT(field) offsetof(struct options, field)

static const struct store stores[] = {
    {"profile", parse_profile, 0},
    {"netif", parse_text, AT(netif)},
    {"ip", parse_ip, 0},
    {"gateway", parse_gateway, 0},
    {"force", parse_flag, AT(force)},
    {"ip6", parse_ip6, 0},
    {"ip6-auto", parse_ip6_auto, 0},
    {"gateway6", parse_gateway6, 0},
    {"vlan", parse_number, AT(vlan)},
    {"mac", parse_mac, 0},
    {"socket", parse_text, AT(socket)},
    {"user", parse_text, AT(user)},
    {"group", parse_text, AT(group)},
    {"run-as", parse_run_as, 0},
    {"sandbox", parse_flag, AT(sandbox)},
    {"user-limits", parse_limits, 0},
    {"engines", parse_number, AT(engines)},
    {"spin-us", parse_number, AT(spin_us)},
    {"moderation", parse_moderation, 0},
    {"max-flows", parse_number, AT(max_flows)},
    {"max-neighbours", parse_number, AT(max_neighbours)},
    {"max-qps", parse_number, AT(max_qps)},
    {"max-memory", parse_number, AT(max_memory_mib)},
    {"mtu", parse_number, AT(mtu)},
    {"congestion", parse_congestion, 0},
    {"ecn", parse_number, AT(ecn)},
    {"mtu-probing", parse_number, AT(mtu_probing)},
    {"ttl", parse_number, AT(ttl)},
    {"check-ip", parse_flag, AT(check_ip)},
    {"rfc1337", parse_flag, AT(rfc1337)},
    {"offload", parse_offload, 0},
    {"seed", parse_seed, 0},
    {"cpu", parse_cpus, 0},
    {"manager", parse_manager, 0},
    {"manager-cpu", parse_manager_cpu, AT(manager_cpu)},
    {"linger-ms", parse_number, AT(linger_ms)},
    {"log-level", parse_log_level, 0},
    {"log-format", parse_log_format, 0},
};

static const struct store *store_of(const struct config_setting *s)
{
    size_t i = 0;

    while (strcmp(stores[i].name, s->flag) != 0)
        i++;
    return &stores[i];
}

int options_set(struct options *o, const struct config_setting *s, const char *text)
{
    const struct store *to = store_of(s);

    return to->parse(o, to, s, text);
}
