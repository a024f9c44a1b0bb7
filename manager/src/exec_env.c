/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_env.c - the environment of a program that is given a listener of the TOE's (exec.h).
 *
 * A server that executes a new binary and hands it its listeners may clean the environment first
 * (nginx does). Without libtoe those listeners are the kernel's, at an address that the kernel may
 * not even have. So what `toehold run` has set comes back, where nothing stands in its place.
 */
#include <stdlib.h>
#include <string.h>

#include "ctx.h"
#include "exec.h"

#define KEPT_MAX 32

static const char preload[] = "LD_PRELOAD=", own[] = "TOEHOLD_";

static char *kept[KEPT_MAX]; /* as they were at the start: programs write over their own */
static size_t kept_n;
static bool kept_preload;

__attribute__((constructor)) static void keep(void)
{
    for (char **e = environ; e && *e && kept_n < KEPT_MAX; e++) {
        bool loads = strncmp(*e, preload, sizeof preload - 1) == 0;

        if (!loads && strncmp(*e, own, sizeof own - 1) != 0)
            continue;
        kept[kept_n] = strdup(*e);
        if (!kept[kept_n])
            return;
        kept_n++;
        kept_preload |= loads;
    }
}

static bool is_set(char *const envp[], const char *variable)
{
    size_t n = strcspn(variable, "=") + 1;

    for (; envp && *envp; envp++)
        if (strncmp(*envp, variable, n) == 0)
            return true;
    return false;
}

static bool some_outlive;

static void look(int fd, struct tobj *o)
{
    const struct tsock *s = (const struct tsock *)o;

    some_outlive |= texec_outlives(fd, o) && (s->state == TS_LISTEN || s->inherited);
}

size_t texec_env_room(char *const envp[])
{
    size_t n = 0;

    if (!kept_preload || is_set(envp, preload))
        return 0;
    some_outlive = false;
    tfd_each_number(look);
    if (!some_outlive)
        return 0;
    while (envp && envp[n])
        n++;
    return n + kept_n + 1;
}

void texec_env_fill(char *const envp[], char *to[])
{
    for (size_t i = 0; i < kept_n; i++)
        if (!is_set(envp, kept[i]))
            *to++ = kept[i];
    while (envp && *envp)
        *to++ = *envp++;
    *to = NULL;
}
