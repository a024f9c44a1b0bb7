/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_env.c - the environment of a program that inherits a listener of the TOE (exec.h).
 *
 * A server that executes a new binary and passes its listeners to it may clean the environment
 * first (nginx does). Without libtoe the kernel serves those listeners, at an address that it may
 * not even have. So the variables of `toehold run` are restored, unless the program has set them
 * itself.
 */
#include <string.h>

#include "env.h"
#include "exec.h"
#include "exec_env.h"
#include "fdtab.h"
#include "tsock.h"

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

/* Returns whether the library was preloaded at the start. Later changes are the program's own. */
static bool preloaded(void)
{
    for (size_t i = 0; tenv_kept(i); i++)
        if (strncmp(tenv_kept(i), "LD_PRELOAD=", 11) == 0)
            return true;
    return false;
}

size_t texec_env_room(char *const envp[])
{
    size_t n = 0;

    if (!preloaded() || is_set(envp, "LD_PRELOAD="))
        return 0;
    some_outlive = false;
    tfd_each_number(look);
    if (!some_outlive)
        return 0;
    while (envp && envp[n])
        n++;
    for (size_t i = 0; tenv_kept(i); i++)
        n++;
    return n + 1;
}

void texec_env_fill(char *const envp[], char *to[])
{
    for (size_t i = 0; tenv_kept(i); i++)
        if (!is_set(envp, tenv_kept(i)))
            *to++ = tenv_kept(i);
    while (envp && *envp)
        *to++ = *envp++;
    *to = NULL;
}
