/* SPDX-License-Identifier: Apache-2.0 */
/* layers.c - the files of settings, for a command that `toehold run` executes (layers.h). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/config_layers.h>
#include <toe/inline.h>

#include "../common/message.h"
#include "inline.h"
#include "layers.h"

/* Lives until the command replaces this program. */
static struct config *layers;

static bool comes_from_files(const struct config_setting *s)
{
    enum config_layer from = config_layer_of(layers, s);

    return from == CONFIG_FROM_FILE || from == CONFIG_FROM_PROFILE;
}

/* Sets the variable that libtoe reads. The environment wins over files. */
static bool export(const struct config_setting *s)
{
    const char *is = getenv(s->variable), *value = config_value(layers, s);

    if (is && *is)
        return true;
    if (s->type == CONFIG_FLAG)
        value = config_flag(value) ? "1" : "0";
    if (setenv(s->variable, value, 1) == 0)
        return true;
    cli_message("no memory for %s", s->variable);
    return false;
}

bool cli_run_layers(const char *file, const char *profile)
{
    /* The variables of [run] are checked by cli_check_environment(). */
    static const char *const sections[] = {"", "log", NULL};
    const struct config_source source = {.sections = sections, .file = file};
    const struct config_setting *s = config_find("", "profile");
    char err[CONFIG_ERROR] = "no memory for the settings", want[CONFIG_WANT];
    size_t i;

    if (profile && !config_accepts(s, profile, want, sizeof want)) {
        cli_message("run: --profile %s: want %s", profile, want);
        return false;
    }
    layers = config_new();
    if (!layers || (profile && !config_give(layers, s, profile)) ||
        !config_load(layers, &source, err, sizeof err)) {
        cli_message("%s", err);
        return false;
    }
    for (i = 0; i < config_count; i++) {
        s = &config_settings[i];
        if (s->variable && strcmp(s->section, "toed") != 0 && comes_from_files(s) && !export(s))
            return false;
    }
    return true;
}

const char *cli_run_socket(void)
{
    return config_text(layers, "", "socket");
}

bool cli_run_inline_layers(void)
{
    const char *given = getenv(TOEDEV_INLINE_OPTIONS_ENV);
    size_t i;

    if (given && *given)
        return true;
    for (i = 0; i < config_count; i++) {
        const struct config_setting *s = &config_settings[i];
        const char *value = config_value(layers, s);

        if (strcmp(s->section, "inline") != 0 || !comes_from_files(s) || cli_inline_given(s->flag))
            continue;
        if (s->type == CONFIG_FLAG && !config_flag(value))
            continue;
        if (!cli_inline_option(s->flag, s->type == CONFIG_FLAG ? NULL : value))
            return false;
    }
    return true;
}
