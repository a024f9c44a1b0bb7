/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - `toehold bench`: executes the load generator, which is a program of its own. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define PROGRAM "toehold-bench"

/* $TOEHOLD_BENCH, beside this program, in its build tree, installed. */
static bool find_program(char *path)
{
    static const char *const beside[] = {"", "../bench/load/"};
    const char *named = getenv("TOEHOLD_BENCH");
    char dir[PATH_MAX];
    ssize_t n;
    size_t i;

    if (named && *named) {
        if (realpath(named, path))
            return true;
        cli_message("TOEHOLD_BENCH=%s: %s", named, strerror(errno));
        return false;
    }
    n = readlink("/proc/self/exe", dir, sizeof dir - 1);
    if (n > 0) {
        dir[n] = '\0';
        *(strrchr(dir, '/') + 1) = '\0';
        for (i = 0; i < sizeof beside / sizeof beside[0]; i++) {
            char name[PATH_MAX * 2];

            snprintf(name, sizeof name, "%s%s" PROGRAM, dir, beside[i]);
            if (realpath(name, path))
                return true;
        }
    }
    if (realpath(TOEHOLD_BINDIR "/" PROGRAM, path))
        return true;
    cli_message(PROGRAM " is neither beside this program nor in " TOEHOLD_BINDIR
                        "; name it by TOEHOLD_BENCH");
    return false;
}

int cli_bench(char **argv)
{
    char path[PATH_MAX];

    if (!find_program(path))
        return CLI_CONFIG;
    execv(path, argv);
    cli_message("%s: %s", path, strerror(errno));
    return CLI_FAILURE;
}
