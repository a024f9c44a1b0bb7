/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - finds the other files of Toehold (part.h). */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "part.h"

bool cli_find_beside(const char *file, const char *in_tree, const char *installed, char *path)
{
    const char *folders[] = {"", in_tree};
    char dir[PATH_MAX], name[PATH_MAX * 2];
    ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);
    size_t i;

    if (n > 0) {
        dir[n] = '\0';
        *(strrchr(dir, '/') + 1) = '\0';
        for (i = 0; i < sizeof folders / sizeof folders[0]; i++) {
            snprintf(name, sizeof name, "%s%s%s", dir, folders[i], file);
            if (realpath(name, path))
                return true;
        }
    }
    snprintf(name, sizeof name, "%s/%s", installed, file);
    return realpath(name, path) != NULL;
}

bool cli_find_part(const char *file, const char *in_tree, const char *installed,
                   const char *variable, char *path)
{
    const char *named = getenv(variable);

    if (named && *named) {
        if (realpath(named, path))
            return true;
        cli_message("%s=%s: %s", variable, named, strerror(errno));
        return false;
    }
    if (cli_find_beside(file, in_tree, installed, path))
        return true;
    cli_message("%s is neither next to this program nor in %s; set %s to its path", file, installed,
                variable);
    return false;
}
