/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - the values of settings as TOML and JSON (print.h). */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/exit.h"
#include "print.h"

static bool is_number(const struct config_setting *s)
{
    return s->type == CONFIG_NUMBER || s->type == CONFIG_POWER;
}

const char *config_toml(const struct config_setting *s, const char *value, char *out, size_t size)
{
    size_t at = 0;

    if (is_number(s)) {
        snprintf(out, size, "%s", value);
        return out;
    }
    if (s->type == CONFIG_FLAG) {
        snprintf(out, size, "%s", config_flag(value) == 1 ? "true" : "false");
        return out;
    }
    out[at++] = '"'; /* values have no control characters */
    for (; *value && at + 4 < size; value++) {
        if (*value == '"' || *value == '\\')
            out[at++] = '\\';
        out[at++] = *value;
    }
    out[at++] = '"';
    out[at] = '\0';
    return out;
}

static void print_one(const struct config *c, const struct config_setting *s, bool origin)
{
    const char *value = config_value(c, s);
    char text[CONFIG_TOML], from[CONFIG_ERROR];

    if (value)
        printf("%s = %s", s->name, config_toml(s, value, text, sizeof text));
    else
        printf("# %s is not set", s->name);
    if (origin && value)
        printf("  # %s", config_origin(c, s, from, sizeof from));
    putchar('\n');
}

int config_print_toml(const struct config *c, bool origin, bool all)
{
    const char *section = "";
    size_t i;

    for (i = 0; i < config_count; i++) {
        const struct config_setting *s = &config_settings[i];

        if (s->only_flag || (!all && !config_value(c, s)))
            continue;
        if (strcmp(section, s->section) != 0) {
            section = s->section;
            printf("\n[%s]\n", section);
        }
        print_one(c, s, origin);
    }
    return CLI_OK;
}

static json_t *json_value(const struct config_setting *s, const char *value)
{
    if (!value)
        return json_null();
    if (is_number(s))
        return json_integer(strtoll(value, NULL, 10));
    return s->type == CONFIG_FLAG ? json_boolean(config_flag(value) == 1) : json_string(value);
}

int config_print_json(const struct config *c, bool all)
{
    json_t *files = json_array(), *list = json_array(), *top;
    char name[CONFIG_NAME], from[CONFIG_ERROR];
    const char *const *file;
    size_t i;
    int failed;

    for (file = config_files(c); *file; file++)
        json_array_append_new(files, json_string(*file));
    for (i = 0; i < config_count; i++) {
        const struct config_setting *s = &config_settings[i];
        const char *value = config_value(c, s);

        if (!s->only_flag && (all || value))
            json_array_append_new(list, json_pack("{s:s, s:o, s:s}", "name",
                                                  config_full_name(s, name, sizeof name), "value",
                                                  json_value(s, value), "origin",
                                                  config_origin(c, s, from, sizeof from)));
    }
    top = json_pack("{s:i, s:o, s:o}", "schema_version", 1, "files", files, "settings", list);
    failed = !top || json_dumpf(top, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF;
    json_decref(top);
    return failed ? CLI_FAILURE : CLI_OK;
}
