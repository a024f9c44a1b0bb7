/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline.c - `toehold run --engine inline|thread`: the options of an engine that will run within
 * the command (toe/inline.h), checked by the engine's own code before the command starts.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <toe/inline.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "inline.h"

static char words[4096];

static bool add_word(const char *word)
{
    size_t at = strlen(words), i;

    for (i = 0; word[i]; i++)
        if (isspace((unsigned char)word[i])) {
            cli_message("\"%s\": a value of the engine's options cannot have white space in it",
                        word);
            return false;
        }
    if (!*word || at + i + 2 > sizeof words) {
        cli_message(*word ? "the engine's options are too long" : "an option's value is empty");
        return false;
    }
    snprintf(words + at, sizeof words - at, "%s%s", at ? " " : "", word);
    return true;
}

bool cli_inline_option(const char *name, const char *value)
{
    char option[64];

    snprintf(option, sizeof option, "--%s", name);
    return add_word(option) && (!value || add_word(value));
}

const char *cli_inline_words(void)
{
    return words;
}

bool cli_inline_any(void)
{
    return words[0] != 0;
}

/* $TOEHOLD_INLINE_LIBRARY, beside this program (also in the build tree), installed. */
static bool find_library(char *path)
{
    static const char *const beside[] = {"", "../engine/"};
    const char *named = getenv(TOEDEV_INLINE_LIBRARY_ENV);
    char dir[PATH_MAX];
    ssize_t n;
    size_t i;

    if (named && *named)
        return realpath(named, path) != NULL;
    n = readlink("/proc/self/exe", dir, sizeof dir - 1);
    if (n > 0) {
        dir[n] = '\0';
        *(strrchr(dir, '/') + 1) = '\0';
        for (i = 0; i < sizeof beside / sizeof beside[0]; i++) {
            char name[PATH_MAX * 2];

            snprintf(name, sizeof name, "%s%s" TOEDEV_INLINE_LIBRARY, dir, beside[i]);
            if (realpath(name, path))
                return true;
        }
    }
    return realpath(TOEHOLD_LIBDIR "/" TOEDEV_INLINE_LIBRARY, path) != NULL;
}

static const struct toedev_inline_ops *load(char *path)
{
    const struct toedev_inline_ops *ops;
    toedev_inline_fn get;
    void *so, *found;

    if (!find_library(path)) {
        cli_message(TOEDEV_INLINE_LIBRARY " is neither beside this program nor in " TOEHOLD_LIBDIR
                                          "; name it by " TOEDEV_INLINE_LIBRARY_ENV);
        return NULL;
    }
    so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    found = so ? dlsym(so, TOEDEV_INLINE_SYMBOL) : NULL;
    if (!found) {
        cli_message("cannot load %s: %s", path, dlerror());
        return NULL;
    }
    memcpy(&get, &found, sizeof get);
    ops = get();
    if (ops->version == TOEDEV_INLINE_VERSION)
        return ops;
    cli_message("%s is of version %u, this program wants %u", path, ops->version,
                TOEDEV_INLINE_VERSION);
    return NULL;
}

int cli_inline_check(const char *engine, char *why, size_t why_size, bool *reachable)
{
    const char *given = getenv(TOEDEV_INLINE_OPTIONS_ENV);
    const char *options = words[0] || !given ? words : given;
    const struct toedev_inline_ops *ops;
    struct toedev_inline_info info;
    char path[PATH_MAX];

    *reachable = false;
    ops = load(path);
    if (!ops)
        return CLI_CONFIG;
    if (ops->check(options, 0, &info, why, why_size) != 0) {
        cli_message("--engine %s: %s", engine, why);
        return CLI_USAGE;
    }
    if (setenv(TOEDEV_ENGINE_ENV, engine, 1) != 0 ||
        setenv(TOEDEV_INLINE_OPTIONS_ENV, options, 1) != 0 ||
        setenv(TOEDEV_INLINE_LIBRARY_ENV, path, 1) != 0)
        return CLI_CONFIG;
    *reachable = ops->check(options, 1, &info, why, why_size) == 0;
    return 0;
}
