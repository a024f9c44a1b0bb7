/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - reads one file of settings: owner and mode, TOML, names and values (file.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "toml.h"

#define SIZE_MAX_FILE (1u << 20)
#define LINE_MAX_FILE 2048

struct reading {
    const char *path;
    file_take take;
    void *arg;
    char *err;
    size_t err_size;
};

/* ---- the file ---- */

/* Another user with the right to write the file would choose what a root process does. */
static bool is_safe(const struct stat *st, const char *path, char *err, size_t err_size)
{
    if (!S_ISREG(st->st_mode)) {
        snprintf(err, err_size, "%s: not a regular file", path);
        return false;
    }
    if (st->st_size > SIZE_MAX_FILE) {
        snprintf(err, err_size, "%s: larger than %u bytes", path, SIZE_MAX_FILE);
        return false;
    }
    if (geteuid() != 0)
        return true;
    if (st->st_uid != 0) {
        snprintf(
            err, err_size,
            "%s: user %u owns it and could change what root runs; make it root's (chown root), "
            "or unset HOME",
            path, st->st_uid);
        return false;
    }
    if (st->st_mode & (S_IWGRP | S_IWOTH)) {
        snprintf(err, err_size, "%s: mode %04o lets others write it; take that away (chmod go-w)",
                 path, st->st_mode & 07777);
        return false;
    }
    return true;
}

static bool read_all(int fd, char *text, size_t size, size_t *got)
{
    ssize_t n;

    for (*got = 0; *got < size; *got += (size_t)n) {
        do {
            n = read(fd, text + *got, size - *got);
        } while (n < 0 && errno == EINTR);
        if (n < 0)
            return false;
        if (n == 0)
            break;
    }
    return true;
}

/* Returns the text; NULL with a message, or with err empty when there is no such file. */
static char *load(const char *path, size_t *size, char *err, size_t err_size)
{
    /* O_NONBLOCK: opening a FIFO would wait for a writer */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    char *text = NULL;

    err[0] = '\0';
    if (fd < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            snprintf(err, err_size, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (fstat(fd, &st) < 0) {
        snprintf(err, err_size, "%s: %s", path, strerror(errno));
    } else if (is_safe(&st, path, err, err_size)) {
        text = malloc(SIZE_MAX_FILE);
        if (!text || !read_all(fd, text, SIZE_MAX_FILE, size)) {
            snprintf(err, err_size, "%s: %s", path, strerror(errno));
            free(text);
            text = NULL;
        }
    }
    close(fd);
    return text;
}

/* ---- keys and values ---- */

static bool unknown_section(const struct reading *r, const struct toml_key *k)
{
    snprintf(r->err, r->err_size, "%s:%u: there is no section [%s]; the nearest is [%s]", r->path,
             k->line, k->section, config_nearest_section(k->section));
    return false;
}

static bool unknown_key(const struct reading *r, const struct toml_key *k)
{
    const struct config_setting *near = config_nearest(k->section, k->name);
    const struct config_setting *flag = config_find(k->section, k->name);
    char place[CONFIG_NAME];

    snprintf(place, sizeof place, *near->section ? "in [%s]" : "at the top", near->section);
    if (flag)
        snprintf(r->err, r->err_size, "%s:%u: %s is an option of the command line alone", r->path,
                 k->line, k->name);
    else
        snprintf(r->err, r->err_size, "%s:%u: there is no setting %s %s%s%s; the nearest is %s %s",
                 r->path, k->line, k->name, *k->section ? "in [" : "at the top", k->section,
                 *k->section ? "]" : "", near->name, place);
    return false;
}

/* Returns whether a value of this kind may be one of the setting. */
static bool is_kind(const struct config_setting *s, enum toml_kind kind)
{
    switch (s->type) {
    case CONFIG_NUMBER:
    case CONFIG_POWER:
        return kind == TOML_INTEGER;
    case CONFIG_FLAG:
        return kind == TOML_BOOLEAN;
    case CONFIG_CPUS:
        return kind == TOML_INTEGER || kind == TOML_ARRAY || kind == TOML_STRING;
    case CONFIG_PAIRS:
        return kind == TOML_STRING || kind == TOML_TABLE;
    default:
        return kind == TOML_STRING;
    }
}

static bool wrong_kind(const struct reading *r, const struct toml_key *k,
                       const struct config_setting *s)
{
    static const char *const got[] = {[TOML_STRING] = "a text in quotes",
                                      [TOML_INTEGER] = "a number",
                                      [TOML_BOOLEAN] = "true or false",
                                      [TOML_ARRAY] = "an array",
                                      [TOML_TABLE] = "a table"};
    char want[CONFIG_WANT];
    bool bare = s->type == CONFIG_NUMBER || s->type == CONFIG_POWER || s->type == CONFIG_FLAG;

    config_describe(s, want, sizeof want);
    snprintf(r->err, r->err_size, "%s:%u: %s is %s: want %s%s", r->path, k->line, k->name,
             k->kind == TOML_OTHER ? k->text : got[k->kind], want,
             bare ? ", without quotes" : ", in quotes");
    return false;
}

/* toml++ recurses for each part of a dotted key, without a limit. Returns the number of the first
 * line that is too long, 0: none. */
static unsigned long_line(const char *text, size_t size)
{
    const char *end = text + size, *next;
    unsigned line = 1;

    for (; text < end; text = next + 1, line++) {
        next = memchr(text, '\n', (size_t)(end - text));
        if (!next)
            next = end;
        if (next - text > LINE_MAX_FILE)
            return line;
    }
    return 0;
}

static bool take_key(void *arg, const struct toml_key *k)
{
    const struct reading *r = arg;
    const struct config_setting *s;
    char want[CONFIG_WANT];

    if (!k->name)
        return strcmp(config_nearest_section(k->section), k->section) == 0 || unknown_section(r, k);
    s = config_find(k->section, k->name);
    if (!s || s->only_flag)
        return unknown_key(r, k);
    if (!is_kind(s, k->kind))
        return wrong_kind(r, k, s);
    if (!config_accepts(s, k->text, want, sizeof want)) {
        snprintf(r->err, r->err_size, "%s:%u: %s = %s: want %s", r->path, k->line, k->name, k->text,
                 want);
        return false;
    }
    return r->take(r->arg, s, k->text, k->line);
}

int file_read(const char *path, file_take take, void *arg, char *err, size_t err_size)
{
    struct reading r = {path, take, arg, err, err_size};
    char why[256];
    unsigned line;
    size_t size;
    char *text = load(path, &size, err, err_size);
    bool good;

    if (!text)
        return err[0] ? -1 : 0;
    line = long_line(text, size);
    if (line) {
        snprintf(err, err_size, "%s:%u: longer than %d bytes", path, line, LINE_MAX_FILE);
        free(text);
        return -1;
    }
    good = toml_read(text, size, take_key, &r, &line, why, sizeof why);
    if (why[0] && line)
        snprintf(err, err_size, "%s:%u: %s", path, line, why);
    else if (why[0])
        snprintf(err, err_size, "%s: %s", path, why);
    free(text);
    return good ? 1 : -1;
}
