/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impair_options.c - parses the options of the impairing wire.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <toe/number.h>

#include "impair_path.h"
#include "spec.h"

#define WHO "impair"
#define KEYS                                                                                       \
    "loss burst delay jitter reorder gap hold duplicate corrupt bits rate queue memory seed dir"

#define SECOND_NS UINT64_C(1000000000)

static const struct toe_unit time_units[] = {
    {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct toe_unit rate_units[] = {
    {"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {NULL, 0}};
static const struct toe_unit percent_units[] = {{"", 1}, {"%", 1}, {NULL, 0}};

/* Parses a quantity without an exponent. */
static int parse_quantity(const char *text, const struct toe_unit *units, double min, double max,
                          double *out)
{
    return !strpbrk(text, "eE") && toe_quantity(text, units, min, max, out, NULL, 0) ? 0 : -1;
}

static int parse_percent(const char *text, uint64_t *out)
{
    double percent;

    if (parse_quantity(text, percent_units, 0, 100, &percent))
        return -1;
    *out = (uint64_t)llround(percent / 100 * (double)IMPAIR_ALWAYS);
    return 0;
}

static int get_percent(const struct spec *s, const char *key, uint64_t *out,
                       const struct netio_err *err)
{
    const char *value = spec_get(s, key);

    *out = 0;
    if (!value || parse_percent(value, out) == 0)
        return 0;
    netio_err_set(err, WHO ": %s=%s is not a percentage from 0 to 100", key, value);
    return -1;
}

static int get_time(const struct spec *s, const char *key, uint64_t fallback, uint64_t *out,
                    const struct netio_err *err)
{
    const char *value = spec_get(s, key);
    double ns;

    *out = fallback;
    if (!value)
        return 0;
    if (parse_quantity(value, time_units, 0, 3600.0 * 1e9, &ns)) {
        netio_err_set(err,
                      WHO ": %s=%s is not a time up to 3600s: write a number with ns, us, ms "
                          "or s",
                      key, value);
        return -1;
    }
    *out = (uint64_t)ns;
    return 0;
}

static int get_rate(const struct spec *s, uint64_t *out, const struct netio_err *err)
{
    const char *value = spec_get(s, "rate");
    double rate;

    *out = 0;
    if (!value)
        return 0;
    if (parse_quantity(value, rate_units, 1, 1e12, &rate)) {
        netio_err_set(err,
                      WHO ": rate=%s is not a rate in bit/s from 1 to 1000G: write a number "
                          "with k, M, G or nothing",
                      value);
        return -1;
    }
    *out = (uint64_t)rate;
    return 0;
}

static int get_burst(const struct spec *s, struct impair_options *o, const struct netio_err *err)
{
    const char *value = spec_get(s, "burst");
    const char *slash = value ? strchr(value, '/') : NULL;
    char enter[32];

    o->burst_enter = o->burst_leave = 0;
    if (!value)
        return 0;
    snprintf(enter, sizeof(enter), "%.*s", slash ? (int)(slash - value) : 0, value);
    if (!slash || slash - value >= (ptrdiff_t)sizeof(enter) ||
        parse_percent(enter, &o->burst_enter) || parse_percent(slash + 1, &o->burst_leave)) {
        netio_err_set(err,
                      WHO ": burst=%s is not ENTER/LEAVE: write two percentages, as in "
                          "burst=1/25",
                      value);
        return -1;
    }
    return 0;
}

static int get_seed(const struct spec *s, uint64_t fallback, uint64_t *out,
                    const struct netio_err *err)
{
    const char *value = spec_get(s, "seed");

    *out = fallback;
    if (!value || toe_number(value, 0, UINT64_MAX, out, NULL, 0) ||
        (!strncmp(value, "0x", 2) && toe_number_c(value, 0, UINT64_MAX, out, NULL, 0)))
        return 0;
    netio_err_set(err, WHO ": seed=%s is not a 64-bit number (decimal or 0x...)", value);
    return -1;
}

static int get_count(const struct spec *s, const char *key, uint32_t min, uint32_t max,
                     uint32_t fallback, uint32_t *out, const struct netio_err *err)
{
    uint64_t number;

    if (spec_get_number(s, WHO, key, min, max, fallback, &number, err))
        return -1;
    *out = (uint32_t)number;
    return 0;
}

int impair_options_parse(struct impair_options *o, const char *text, uint64_t default_seed,
                         const struct netio_err *err)
{
    struct spec s;

    memset(o, 0, sizeof(*o));
    if (spec_parse(&s, WHO, text, KEYS, err))
        return -1;
    if (*s.name) {
        netio_err_set(err, WHO ": '%s' has no value: known options are: " KEYS, s.name);
        return -1;
    }
    if (get_percent(&s, "loss", &o->loss, err) || get_burst(&s, o, err) ||
        get_percent(&s, "reorder", &o->reorder, err) ||
        get_percent(&s, "duplicate", &o->duplicate, err) ||
        get_percent(&s, "corrupt", &o->corrupt, err) ||
        get_time(&s, "delay", 0, &o->delay_ns, err) ||
        get_time(&s, "jitter", 0, &o->jitter_ns, err) ||
        get_time(&s, "hold", SECOND_NS / 100, &o->hold_ns, err) || get_rate(&s, &o->rate, err) ||
        get_seed(&s, default_seed, &o->seed, err) ||
        get_count(&s, "gap", 1, 1000, 3, &o->gap, err) ||
        get_count(&s, "bits", 1, 64, 1, &o->bits, err) ||
        get_count(&s, "queue", 1, 65536, 1000, &o->queue, err) ||
        get_count(&s, "memory", 1, 65536, 4096, &o->memory, err) ||
        spec_get_choice(&s, WHO, "dir", "both rx tx", &o->direction, err))
        return -1;
    return 0;
}
