/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - the table of settings and the profiles, printed (tables.h). */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <toe/config_layers.h>

#include "../common/exit.h"
#include "print.h"
#include "tables.h"

#define WIDTH 96 /* of the comments in the example */

static const char *const changes[] = {[CONFIG_AT_START] = "next start of a command",
                                      [CONFIG_RELOAD] = "SIGHUP",
                                      [CONFIG_TAKE_OVER] = "take-over",
                                      [CONFIG_RESTART] = "restart"};

static const struct {
    const char *name, *help;
} sections[] = {{"", "The top of the file"},
                {"log", "Messages of toed, and of libtoe in programs"},
                {"toed", "The software TOE"},
                {"run", "Programs under toehold run"},
                {"inline", "An engine within a program: toehold run --engine inline or thread"}};

/* ---- profiles ---- */

int config_profiles_text(void)
{
    char value[CONFIG_TOML], name[CONFIG_NAME];
    size_t i, k;

    for (i = 0; i < config_profile_count; i++) {
        printf("%-11s %s\n", config_profiles[i].name, config_profiles[i].help);
        for (k = 0; k < config_preset_count; k++) {
            const struct config_preset *p = &config_presets[k];
            const struct config_setting *s = config_find(p->section, p->name);

            if (strcmp(p->profile, config_profiles[i].name) == 0)
                printf("            %s = %s\n", config_full_name(s, name, sizeof name),
                       config_toml(s, p->value, value, sizeof value));
        }
    }
    return CLI_OK;
}

/* Prints and frees. */
static int print_json(json_t *top)
{
    int failed = !top || json_dumpf(top, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF;

    json_decref(top);
    return failed ? CLI_FAILURE : CLI_OK;
}

int config_profiles_json(void)
{
    json_t *list = json_array();
    char name[CONFIG_NAME];
    size_t i, k;

    for (i = 0; i < config_profile_count; i++) {
        json_t *values = json_object();

        for (k = 0; k < config_preset_count; k++) {
            const struct config_preset *p = &config_presets[k];

            if (strcmp(p->profile, config_profiles[i].name) == 0)
                json_object_set_new(
                    values, config_full_name(config_find(p->section, p->name), name, sizeof name),
                    json_string(p->value));
        }
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", config_profiles[i].name,
                                              "help", config_profiles[i].help, "values", values));
    }
    return print_json(json_pack("{s:i, s:o}", "schema_version", 1, "profiles", list));
}

/* ---- settings ---- */

int config_list(void)
{
    char name[CONFIG_NAME], want[CONFIG_WANT];
    size_t i;

    for (i = 0; i < config_count; i++) {
        const struct config_setting *s = &config_settings[i];

        if (s->only_flag)
            continue;
        config_describe(s, want, sizeof want);
        printf("%s\n    %s\n    %s%s%s\n", config_full_name(s, name, sizeof name), s->help, want,
               s->fallback ? "; default: " : "", s->fallback ? s->fallback : "");
    }
    return CLI_OK;
}

int config_settings_json(void)
{
    json_t *list = json_array();
    char name[CONFIG_NAME], want[CONFIG_WANT];
    size_t i;

    for (i = 0; i < config_count; i++) {
        const struct config_setting *s = &config_settings[i];

        config_describe(s, want, sizeof want);
        if (!s->only_flag)
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:s, s:s}", "name",
                                            config_full_name(s, name, sizeof name), "accepts", want,
                                            "default", s->fallback, "option", s->flag, "programs",
                                            s->flag ? s->programs : NULL, "variable", s->variable,
                                            "changes_by", changes[s->change], "help", s->help));
    }
    return print_json(json_pack("{s:i, s:o}", "schema_version", 1, "settings", list));
}

/* Prints one cell; mark: code, with this before the text. */
static void cell(const char *text, const char *mark)
{
    printf(" ");
    if (text && mark)
        printf("`%s", mark);
    for (; text && *text; text++)
        printf(*text == '|' ? "\\|" : "%c", *text);
    printf(text && mark ? "` |" : " |");
}

static void markdown_row(const struct config_setting *s)
{
    char want[CONFIG_WANT];

    config_describe(s, want, sizeof want);
    printf("|");
    cell(s->name, "");
    cell(s->help, NULL);
    cell(want, NULL);
    cell(s->fallback, "");
    cell(s->flag, "--");
    cell(s->variable, "");
    cell(changes[s->change], NULL);
    printf("\n");
}

int config_markdown(void)
{
    size_t i, k;

    for (k = 0; k < sizeof sections / sizeof sections[0]; k++) {
        printf("%s### %s%s%s\n%s.\n\n| setting | meaning | accepts | default | option | "
               "variable | changes by |\n|---|---|---|---|---|---|---|\n",
               k ? "\n" : "", *sections[k].name ? "[" : "Top", sections[k].name,
               *sections[k].name ? "]" : "", sections[k].help);
        for (i = 0; i < config_count; i++)
            if (strcmp(config_settings[i].section, sections[k].name) == 0 &&
                !config_settings[i].only_flag)
                markdown_row(&config_settings[i]);
    }
    return CLI_OK;
}

/* Prints a comment, its lines broken at blanks. */
static void comment(const char *text)
{
    size_t n, room = WIDTH - 2;

    while (strlen(text) > room) {
        for (n = room; n > 1 && text[n] != ' '; n--)
            ;
        printf("# %.*s\n", (int)n, text);
        text += n + 1;
    }
    printf("# %s\n", text);
}

/* A value that shows the form, for settings without a default. */
static const char *sample(const struct config_setting *s)
{
    static const struct {
        const char *name, *value;
    } samples[] = {{"profile", "nginx"},
                   {"netif", "af_xdp:eth1"},
                   {"ip", "192.0.2.10/24"},
                   {"gateway", "192.0.2.1"},
                   {"ip6", "2001:db8::10/64"},
                   {"gateway6", "2001:db8::1"},
                   {"vlan", "100"},
                   {"mac", "02:00:00:00:00:0a"},
                   {"mtu", "1500"},
                   {"ttl", "64"},
                   {"offload", "tso=off"},
                   {"cpu", "2"},
                   {"user", "www-data"},
                   {"run-as", "toehold"},
                   {"group", "toehold"},
                   {"user-limits", "qps=4"},
                   {"manager-cpu", "3"},
                   {"socket", "/run/toehold/inline.sock"}};
    size_t i = 0;

    if (s->fallback)
        return s->fallback;
    while (strcmp(samples[i].name, s->name) != 0)
        i++;
    return samples[i].value;
}

int config_example(void)
{
    char want[CONFIG_WANT], text[2 * CONFIG_WANT + 64], value[CONFIG_TOML];
    size_t i, k;

    puts("# Settings of Toehold: docs/CONFIG.md. `toehold config check` checks this file,\n"
         "# `toehold config show --origin` prints what counts. Commented lines show defaults, or\n"
         "# the form of settings that have none. SIGHUP makes toed read this file again.");
    for (k = 0; k < sizeof sections / sizeof sections[0]; k++) {
        if (*sections[k].name)
            printf("\n# %s.\n[%s]\n", sections[k].help, sections[k].name);
        for (i = 0; i < config_count; i++) {
            const struct config_setting *s = &config_settings[i];

            if (strcmp(s->section, sections[k].name) != 0 || s->only_flag)
                continue;
            config_describe(s, want, sizeof want);
            snprintf(text, sizeof text, "%s (%s)", s->help, want);
            putchar('\n');
            comment(text);
            printf("# %s = %s\n", s->name, config_toml(s, sample(s), value, sizeof value));
        }
    }
    return CLI_OK;
}
