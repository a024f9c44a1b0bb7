/* SPDX-License-Identifier: Apache-2.0 */
/* env.c - the settings with which the program was started (env.h). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "env.h"

#define KEPT_MAX 32

static char *kept[KEPT_MAX]; /* copies: programs overwrite their own */
static size_t kept_n;

static bool is_kept(const char *variable)
{
    static const char preload[] = "LD_PRELOAD=", own[] = "TOEHOLD_";

    return strncmp(variable, preload, sizeof preload - 1) == 0 ||
           strncmp(variable, own, sizeof own - 1) == 0;
}

/* Runs before the library's other constructors, which may read settings. */
__attribute__((constructor(101))) static void keep(void)
{
    for (char **e = environ; e && *e && kept_n < KEPT_MAX; e++) {
        if (!is_kept(*e))
            continue;
        kept[kept_n] = strdup(*e);
        if (!kept[kept_n])
            return;
        kept_n++;
    }
}

char *tenv_kept(size_t i)
{
    return i < kept_n ? kept[i] : NULL;
}

const char *tenv(const char *name)
{
    const char *now = getenv(name);
    size_t n = strlen(name);

    for (size_t i = 0; !now && i < kept_n; i++)
        if (strncmp(kept[i], name, n) == 0 && kept[i][n] == '=')
            now = kept[i] + n + 1;
    return now;
}
