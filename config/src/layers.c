/* SPDX-License-Identifier: Apache-2.0 */
/* layers.c - the values of all settings and their origins (toe/config_layers.h). */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <toe/config_layers.h>

#include "file.h"

#define FILES_MAX 2

struct value {
    char *text; /* NULL: the default */
    enum config_layer layer;
    unsigned file, line; /* CONFIG_FROM_FILE: index of `files` */
};

struct config {
    struct value *values; /* by index of the table */
    char *files[FILES_MAX + 1];
    unsigned file_count;
};

/* What take_value() fills. */
struct filling {
    struct config *c;
    unsigned file;
    char *err;
    size_t err_size;
};

struct config *config_new(void)
{
    struct config *c = calloc(1, sizeof *c);

    if (c)
        c->values = calloc(config_count, sizeof *c->values);
    if (c && !c->values) {
        free(c);
        return NULL;
    }
    return c;
}

void config_free(struct config *c)
{
    size_t i;

    if (!c)
        return;
    for (i = 0; i < config_count; i++)
        free(c->values[i].text);
    for (i = 0; i < c->file_count; i++)
        free(c->files[i]);
    free(c->values);
    free(c);
}

static struct value *value_of(const struct config *c, const struct config_setting *s)
{
    return &c->values[s - config_settings];
}

/* Sets a value unless a later layer has set it. Returns false when there is no memory. */
static bool set(struct config *c, const struct config_setting *s, const char *text,
                const struct value *from)
{
    struct value *v = value_of(c, s);
    char *copy;

    if (v->layer > from->layer)
        return true;
    copy = strdup(text);
    if (!copy)
        return false;
    free(v->text);
    *v = *from;
    v->text = copy;
    return true;
}

bool config_give(struct config *c, const struct config_setting *s, const char *text)
{
    return set(c, s, text, &(struct value){.layer = CONFIG_FROM_COMMAND_LINE});
}

static bool no_memory(char *err, size_t err_size)
{
    snprintf(err, err_size, "no memory for the settings");
    return false;
}

/* ---- files ---- */

static bool take_value(void *arg, const struct config_setting *s, const char *text, unsigned line)
{
    const struct filling *f = arg;

    return !f->c ||
           set(f->c, s, text,
               &(struct value){.layer = CONFIG_FROM_FILE, .file = f->file, .line = line}) ||
           no_memory(f->err, f->err_size);
}

/* must: the user has named the file. */
static bool read_file(struct config *c, const char *path, bool must, char *err, size_t err_size)
{
    struct filling f = {c, c->file_count, err, err_size};
    int r = file_read(path, take_value, &f, err, err_size);

    if (r == 0 && must)
        snprintf(err, err_size, "%s: no such file", path);
    if (r <= 0)
        return r == 0 && !must;
    c->files[c->file_count] = strdup(path);
    if (!c->files[c->file_count])
        return no_memory(err, err_size);
    c->file_count++;
    return true;
}

/* A process that has changed its user keeps the HOME of the user before, whose settings are not
 * its own. Root gets an error for such a file instead (file.c). */
static bool is_own(const char *folder)
{
    struct stat st;

    return geteuid() == 0 || (stat(folder, &st) == 0 && st.st_uid == geteuid());
}

/* Returns whether the user has a home; a service has none. */
static bool user_file(char *path, size_t size)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = -1;

    /* The XDG specification ignores relative paths. */
    if (base && *base == '/' && is_own(base))
        n = snprintf(path, size, "%s/toehold/toehold.toml", base);
    else if (!(base && *base == '/') && home && *home == '/' && is_own(home))
        n = snprintf(path, size, "%s/.config/toehold/toehold.toml", home);
    return n > 0 && (size_t)n < size;
}

static bool read_files(struct config *c, const struct config_source *source, char *err,
                       size_t err_size)
{
    const char *named = source->file ? source->file : getenv(CONFIG_FILE_ENV);
    char path[PATH_MAX];

    if (named)
        return !*named || read_file(c, named, true, err, err_size);
    return read_file(c, source->system_file ? source->system_file : CONFIG_SYSTEM_FILE, false, err,
                     err_size) &&
           (!user_file(path, sizeof path) || read_file(c, path, false, err, err_size));
}

bool config_check_file(const char *path, char *err, size_t err_size)
{
    struct filling none = {.err = err, .err_size = err_size};
    int r = file_read(path, take_value, &none, err, err_size);

    if (r == 0)
        snprintf(err, err_size, "%s: no such file", path);
    return r > 0;
}

/* ---- environment ---- */

static bool is_wanted(const struct config_source *source, const struct config_setting *s)
{
    const char *const *name;

    if (!source->sections)
        return true;
    for (name = source->sections; *name; name++)
        if (strcmp(*name, s->section) == 0)
            return true;
    return false;
}

/* An empty variable is as good as none. */
static bool read_environment(struct config *c, const struct config_source *source, char *err,
                             size_t err_size)
{
    const struct value from = {.layer = CONFIG_FROM_ENVIRONMENT};
    char want[CONFIG_WANT];
    size_t i;

    for (i = 0; i < config_count; i++) {
        const struct config_setting *s = &config_settings[i];
        const char *text = s->variable && is_wanted(source, s) ? getenv(s->variable) : NULL;

        if (!text || !*text)
            continue;
        if (!config_accepts(s, text, want, sizeof want)) {
            snprintf(err, err_size, "%s=%s: want %s", s->variable, text, want);
            return false;
        }
        if (!set(c, s, text, &from))
            return no_memory(err, err_size);
    }
    return true;
}

/* ---- profile ---- */

static bool apply_profile(struct config *c, char *err, size_t err_size)
{
    const char *name = config_text(c, "", "profile");
    const struct value from = {.layer = CONFIG_FROM_PROFILE};
    size_t i;

    for (i = 0; name && i < config_preset_count; i++) {
        const struct config_preset *p = &config_presets[i];

        if (strcmp(p->profile, name) == 0 &&
            !set(c, config_find(p->section, p->name), p->value, &from))
            return no_memory(err, err_size);
    }
    return true;
}

bool config_load(struct config *c, const struct config_source *source, char *err, size_t err_size)
{
    return read_files(c, source, err, err_size) && read_environment(c, source, err, err_size) &&
           apply_profile(c, err, err_size);
}

/* ---- values ---- */

const char *config_value(const struct config *c, const struct config_setting *s)
{
    const char *text = value_of(c, s)->text;

    return text ? text : s->fallback;
}

const char *config_text(const struct config *c, const char *section, const char *name)
{
    const struct config_setting *s = config_find(section, name);

    return s ? config_value(c, s) : NULL;
}

enum config_layer config_layer_of(const struct config *c, const struct config_setting *s)
{
    return value_of(c, s)->layer;
}

const char *config_origin(const struct config *c, const struct config_setting *s, char *out,
                          size_t size)
{
    const struct value *v = value_of(c, s);

    switch (v->layer) {
    case CONFIG_FROM_PROFILE:
        snprintf(out, size, "profile %s", config_text(c, "", "profile"));
        break;
    case CONFIG_FROM_FILE:
        snprintf(out, size, "%s:%u", c->files[v->file], v->line);
        break;
    case CONFIG_FROM_ENVIRONMENT:
        snprintf(out, size, "%s", s->variable);
        break;
    case CONFIG_FROM_COMMAND_LINE:
        snprintf(out, size, "command line");
        break;
    default:
        snprintf(out, size, "default");
    }
    return out;
}

const char *const *config_files(const struct config *c)
{
    return (const char *const *)c->files;
}

bool config_copy(struct config *to, const struct config *from, const struct config_setting *s)
{
    const struct value *v = value_of(from, s);
    char *copy = v->text ? strdup(v->text) : NULL;
    struct value *into = value_of(to, s);

    if (v->text && !copy)
        return false;
    free(into->text);
    *into = *v;
    into->text = copy;
    return true;
}
