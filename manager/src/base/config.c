/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - settings: the environment overrides struct toe_options, which overrides the defaults.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <toe/inline.h>
#include <toe/number.h>
#include <toe/settings.h>

#include "config.h"
#include "env.h"

#define DEFAULT_SLOTS        4096u
#define DEFAULT_SIZE         65536u
#define DEFAULT_ZEROCOPY_MIN 4096 /* measured: docs/PERFORMANCE.md */
#define DEFAULT_HOLD_MIN     1024 /* as well */

/* By number: the name in the environment, and the range. */
#define NUMBER(name, low, high, pow2) N_##name,
enum { TOEDEV_NUMBERS(NUMBER) NUMBERS };
#undef NUMBER
#define NUMBER(name, low, high, pow2) {"TOEHOLD_" #name, low, high, pow2},
static const struct {
    const char *env;
    uint32_t min, max;
    bool power_of_two;
} numbers[] = {TOEDEV_NUMBERS(NUMBER)};
#undef NUMBER

/* The option if it is not 0, else the fallback; the environment overrides both. */
struct wanted {
    uint32_t option, fallback, *out;
};

static int read_number(unsigned i, const struct wanted *w, char *err, size_t err_size)
{
    const char *env = numbers[i].env, *text = tenv(env), *from = "";
    uint64_t v = w->option ? w->option : w->fallback;

    if (text && *text) {
        if (!toe_number(text, 0, UINT32_MAX, &v, NULL, 0)) {
            snprintf(err, err_size, "%s=%s is not a number; give one from %u to %u", env, text,
                     numbers[i].min, numbers[i].max);
            return -1;
        }
    } else if (w->option) {
        from = " (struct toe_options)";
    }
    if (v < numbers[i].min || v > numbers[i].max) {
        snprintf(err, err_size, "%s%s: %" PRIu64 " is out of range; give %u to %u", env, from, v,
                 numbers[i].min, numbers[i].max);
        return -1;
    }
    if (numbers[i].power_of_two && (v & (v - 1))) {
        snprintf(err, err_size, "%s%s: %" PRIu64 " is not a power of two", env, from, v);
        return -1;
    }
    *w->out = (uint32_t)v;
    return 0;
}

static int read_flag(const char *env, int option, bool *out, char *err, size_t err_size)
{
    const char *text = tenv(env);

    *out = option != 0;
    if (!text || !*text)
        return 0;
    if (strcmp(text, "0") && strcmp(text, "1")) {
        snprintf(err, err_size, "%s=%s is neither 0 nor 1", env, text);
        return -1;
    }
    *out = *text == '1';
    return 0;
}

/* Reads where the TOE runs. */
static int read_place(struct tconfig *cfg, const char *option, char *err, size_t err_size)
{
    static const char *const places[] = {
        [TPLACE_TOED] = "toed", [TPLACE_INLINE] = "inline", [TPLACE_THREAD] = "thread"};
    const char *text = tenv(TOEDEV_ENGINE_ENV);

    if (!text || !*text)
        text = option;
    if (!text || !*text)
        return 0;
    for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (strcmp(text, places[i]) == 0) {
            cfg->place = (enum tplace)i;
            return 0;
        }
    snprintf(err, err_size, "%s=%s is none of toed, inline and thread", TOEDEV_ENGINE_ENV, text);
    return -1;
}

/* Reads the options of an engine in this process. */
static int read_inline(struct tconfig *cfg, const char *option, char *err, size_t err_size)
{
    const char *text = tenv(TOEDEV_INLINE_OPTIONS_ENV);

    if (!text || !*text)
        text = option ? option : "";
    if (strlen(text) >= sizeof(cfg->inline_options)) {
        snprintf(err, err_size, "%s: longer than %zu bytes", TOEDEV_INLINE_OPTIONS_ENV,
                 sizeof(cfg->inline_options) - 1);
        return -1;
    }
    memcpy(cfg->inline_options, text, strlen(text) + 1);
    return 0;
}

static int read_path(struct tconfig *cfg, const char *option, char *err, size_t err_size)
{
    const char *path = tenv(TOEDEV_SOCKET_ENV);

    if (!path || !*path)
        path = option && *option ? option : TOEDEV_DEFAULT_SOCKET;
    if (strlen(path) >= sizeof(cfg->socket)) {
        snprintf(err, err_size,
                 "%s: the path %.60s... is longer than the %zu bytes a Unix socket "
                 "can have",
                 TOEDEV_SOCKET_ENV, path, sizeof(cfg->socket) - 1);
        return -1;
    }
    memcpy(cfg->socket, path, strlen(path) + 1);
    return 0;
}

int tconfig_resolve(struct tconfig *cfg, const struct toe_options *opt, char *err, size_t err_size)
{
    static const struct toe_options none;
    const struct toe_options *o = opt ? opt : &none;
    const char *busy = tenv(numbers[N_BUSY_POLL_US].env);
    const struct wanted wanted[NUMBERS] = {
        [N_SLOTS] = {o->slots, DEFAULT_SLOTS, &cfg->slots},
        [N_TX_SIZE] = {o->tx_size, DEFAULT_SIZE, &cfg->tx_size},
        [N_RX_SIZE] = {o->rx_size, DEFAULT_SIZE, &cfg->rx_size},
        [N_BUSY_POLL_US] = {o->busy_poll_us, 0, &cfg->busy_poll_us},
        [N_IRQ_COUNT] = {o->irq_count, 0, &cfg->irq_count},
        [N_IRQ_USEC] = {o->irq_usec, 0, &cfg->irq_usec},
        [N_HOLD_MIN] = {o->hold_min, DEFAULT_HOLD_MIN, &cfg->hold_min},
        [N_ZEROCOPY_MIN] = {o->zerocopy_min, DEFAULT_ZEROCOPY_MIN, &cfg->zerocopy_min},
    };

    memset(cfg, 0, sizeof(*cfg));
    /* first: a process that requires the TOE does so even if other settings are invalid */
    if (read_flag("TOEHOLD_REQUIRE", o->require, &cfg->require, err, err_size) < 0) {
        cfg->require = true;
        return -1;
    }
    for (unsigned i = 0; i < NUMBERS; i++)
        if (read_number(i, &wanted[i], err, err_size) < 0)
            return -1;
    cfg->busy_poll_given = o->busy_poll_us || (busy && *busy);
    if (read_path(cfg, o->socket, err, err_size) < 0 ||
        read_place(cfg, o->engine, err, err_size) < 0 ||
        read_inline(cfg, o->engine_options, err, err_size) < 0)
        return -1;
    if (read_flag("TOEHOLD_INLINE_BATCH", 1, &cfg->batch, err, err_size) < 0 ||
        read_flag("TOEHOLD_IO_URING", 0, &cfg->io_uring, err, err_size) < 0)
        return -1;
    return read_flag("TOEHOLD_REPORT", 0, &cfg->report, err, err_size);
}
