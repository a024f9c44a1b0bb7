/* SPDX-License-Identifier: Apache-2.0 */
/* reload.c - SIGHUP: reads the settings again and applies what no connection notices (reload.h). */
#include <string.h>

#include <toe/config_layers.h>

#include "base/log.h"
#include "frames/engine_state.h"
#include "options_layers.h"
#include "reload.h"
#include "round/thread.h"
#include "setup.h"
#include "switch.h"

void reload_log(const struct options *o)
{
    log_style(o->log_level, o->log_format);
}

static int same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* ---- in the engines' threads ---- */

static void set_in_engine(struct engine *e, void *arg)
{
    const struct options *o = arg;
    struct toec_defaults d = {0};

    setup_defaults(o, &d);
    toec_set_defaults(e->stack, &d);
    e->cfg.spin_us = o->spin_us;
    e->cfg.moderation = o->moderation;
}

static void set_offload_in_engine(struct engine *e, void *arg)
{
    const struct options *o = arg;

    offload_set(e, o->offload);
}

static void get_offered(struct engine *e, void *arg)
{
    *(uint32_t *)arg = e->offload.offered;
}

static void in_engines(struct control *c, void (*f)(struct engine *, void *), void *arg)
{
    uint32_t i;

    for (i = 0; i < c->engine_count; i++)
        engine_call(c->engines[i], f, arg);
}

/* ---- what changes ---- */

/* Returns whether the offloads are switched; logs the reason when they are not. */
static int switch_offload(struct control *c, struct options *live, const struct options *next)
{
    uint32_t offered = 0;
    char err[160];

    engine_call(c->engines[0], get_offered, &offered);
    if (offload_fixed(offered, next->offload_asked, err, sizeof(err)) != 0) {
        log_error("SIGHUP: offload: %s; it stays", err);
        return 0;
    }
    live->offload = next->offload;
    live->offload_asked = next->offload_asked;
    in_engines(c, set_offload_in_engine, live);
    return 1;
}

/* Logs a change that cannot apply now. */
static void refuse(const struct config_setting *s, const char *is, const char *wanted)
{
    log_warning("SIGHUP: %s: %s -> %s needs %s; it stays", s->flag, is ? is : "not set",
                wanted ? wanted : "not set",
                s->change == CONFIG_TAKE_OVER
                    ? "a take-over (systemctl reload toed, or toed --take-over)"
                    : "a restart, which ends all connections");
}

/* Compares one setting. Returns whether it has changed and may apply. */
static int changes(const struct reload *r, const struct config *next,
                   const struct config_setting *s)
{
    const char *is = config_value(r->config, s), *wanted = config_value(next, s);

    if (same(is, wanted) || !s->flag || strcmp(s->section, "run") == 0 ||
        strcmp(s->section, "inline") == 0)
        return 0;
    if (s->change != CONFIG_RELOAD)
        refuse(s, is, wanted);
    return s->change == CONFIG_RELOAD;
}

/* Logs and keeps what has changed. */
static void note(const struct reload *r, const struct config *next, const struct config_setting *s)
{
    const char *is = config_value(r->config, s), *wanted = config_value(next, s);
    char origin[CONFIG_ERROR];

    log_msg("SIGHUP: %s: %s -> %s (%s)", s->flag, is ? is : "not set", wanted ? wanted : "not set",
            config_origin(next, s, origin, sizeof(origin)));
    if (!config_copy(r->config, next, s))
        log_error("SIGHUP: no memory to keep the value of %s", s->flag);
}

/* Copies the fields of settings that apply at a reload. */
static void copy(struct options *live, const struct options *next)
{
    live->spin_us = next->spin_us;
    live->moderation = next->moderation;
    live->cc = next->cc;
    live->ecn = next->ecn;
    live->mtu_probing = next->mtu_probing;
    live->rfc1337 = next->rfc1337;
    live->limits = next->limits;
    live->max_memory_mib = next->max_memory_mib;
    live->log_level = next->log_level;
    live->log_format = next->log_format;
}

static void apply(struct control *c, const struct reload *r, const struct config *next,
                  const struct options *o)
{
    unsigned applied = 0;
    size_t i;

    copy(r->options, o);
    in_engines(c, set_in_engine, r->options); /* before the log reports it */
    for (i = 0; i < config_count; i++) {
        const struct config_setting *s = &config_settings[i];

        if (!changes(r, next, s) ||
            (strcmp(s->name, "offload") == 0 && !switch_offload(c, r->options, o)))
            continue;
        note(r, next, s);
        applied++;
    }
    if (!applied)
        log_msg("SIGHUP: no setting changes; options of the command line change by a take-over "
                "(toed --take-over)");
    reload_log(r->options);
}

void reload_settings(struct control *c, const struct reload *r)
{
    struct config *next = config_new();
    char err[CONFIG_ERROR] = "no memory";
    struct options o = {.err = err, .err_size = sizeof(err)};

    if (next && options_load(&o, next, r->argc, r->argv) < 0)
        apply(c, r, next, &o);
    else
        log_error("SIGHUP: %s; all settings stay as they are", err);
    config_free(next);
}
