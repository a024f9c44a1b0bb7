/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline.c - `toehold run --engine inline|thread`: the options of an engine within the command
 * (toe/inline.h). The engine's own code checks them before the command starts.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/inline.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "../common/part.h"
#include "inline.h"

static char words[4096];

static bool add_word(const char *word)
{
    size_t at = strlen(words), i;

    for (i = 0; word[i]; i++)
        if (isspace((unsigned char)word[i])) {
            cli_message("\"%s\": values of engine options cannot contain white space", word);
            return false;
        }
    if (at + i + 2 > sizeof words) {
        cli_message("the engine options are too long");
        return false;
    }
    snprintf(words + at, sizeof words - at, "%s%s", at ? " " : "", word);
    return true;
}

bool cli_inline_option(const char *name, const char *value)
{
    char option[64];

    if (value && !*value) {
        cli_message("--%s: the value is empty", name);
        return false;
    }
    snprintf(option, sizeof option, "--%s", name);
    return add_word(option) && (!value || add_word(value));
}

bool cli_inline_given(const char *name)
{
    const char *at = words;
    size_t n = strlen(name);

    for (; (at = strstr(at, "--")) != NULL; at += 2)
        if ((at == words || at[-1] == ' ') && strncmp(at + 2, name, n) == 0 &&
            (at[2 + n] == ' ' || at[2 + n] == '\0'))
            return true;
    return false;
}

const char *cli_inline_words(void)
{
    return words;
}

bool cli_inline_any(void)
{
    return words[0] != 0;
}

static const struct toedev_inline_ops *load(char *path)
{
    const struct toedev_inline_ops *ops;
    toedev_inline_fn get;
    void *so, *found;

    if (!cli_find_part(TOEDEV_INLINE_LIBRARY, "../engine/", TOEHOLD_LIBDIR,
                       TOEDEV_INLINE_LIBRARY_ENV, path))
        return NULL;
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
    cli_message("%s has version %u, this program needs %u; install files of one release", path,
                ops->version, TOEDEV_INLINE_VERSION);
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
