/* SPDX-License-Identifier: Apache-2.0 */
/* preload_exec.c - libc's names that execute another program (exec.h) or end the process. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "end.h"
#include "exec.h"
#include "exec_env.h"
#include "exec_file.h"
#include "handover.h"
#include "internal.h"
#include "preload.h"
#include "preload_exec.h"
#include "preload_ring.h"

/* Returns the path of the file that execvp() will find; uses the buffer `to`. */
const char *preload_find(const char *file, char to[PATH_MAX])
{
    const char *at = getenv("PATH");

    if (strchr(file, '/'))
        return file;
    for (at = at ? at : "/bin:/usr/bin"; *at; at += *at == ':') {
        size_t n = strcspn(at, ":");

        if (snprintf(to, PATH_MAX, "%.*s%s%s", (int)n, at, n ? "/" : "", file) < PATH_MAX &&
            access(to, X_OK) == 0)
            return to;
        at += n;
    }
    return file;
}

/* Prepares an exec of `path`. True: texec_failed() must be called if it fails. */
static bool begin(const char *path, char *const envp[])
{
    bool adopts;

    if (tproc_borrowed())
        return false;
    adopts = path && texec_loads_us(path, envp);
    if (!adopts)
        thandover_before_exec();
    return texec_begin(adopts);
}

/* Completes envp for the new program, in memory of the caller's stack: between fork() and exec none
 * may be allocated. */
#define COMPLETE(envp)                                                                             \
    size_t room_ = texec_env_room(envp);                                                           \
    char *env_[room_ + 1];                                                                         \
                                                                                                   \
    if (room_) {                                                                                   \
        texec_env_fill(envp, env_);                                                                \
        (envp) = env_;                                                                             \
    }

static int end(bool begun, int r)
{
    if (begun)
        texec_failed();
    return r;
}

EXPORT(int, execve, (const char *path, char *const argv[], char *const envp[]))
{
    bool begun;
    COMPLETE(envp)

    begun = begin(path, envp);
    return end(begun, libc.execve(path, argv, envp));
}

EXPORT(int, execv, (const char *path, char *const argv[]))
{
    return preload_execve(path, argv, environ);
}

EXPORT(int, execvpe, (const char *file, char *const argv[], char *const envp[]))
{
    char found[PATH_MAX];
    bool begun;
    COMPLETE(envp)

    begun = begin(preload_find(file, found), envp);
    return end(begun, libc.execvpe(file, argv, envp));
}

EXPORT(int, execvp, (const char *file, char *const argv[]))
{
    return preload_execvpe(file, argv, environ);
}

EXPORT(int, fexecve, (int fd, char *const argv[], char *const envp[]))
{
    char path[32];
    bool begun;
    COMPLETE(envp)

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    begun = begin(path, envp);
    return end(begun, libc.fexecve(fd, argv, envp));
}

EXPORT(int, execveat,
       (int dir, const char *path, char *const argv[], char *const envp[], int flags))
{
    char at[PATH_MAX];
    bool begun;
    COMPLETE(envp)

    if (path && (*path == '/' || dir == AT_FDCWD))
        begun = begin(path, envp);
    else if (path && snprintf(at, sizeof at, "/proc/self/fd/%d%s%s", dir, *path ? "/" : "", path) <
                         (int)sizeof at)
        begun = begin(at, envp);
    else
        begun = begin(NULL, envp);
    return end(begun, libc.execveat(dir, path, argv, envp, flags));
}

/* ---- arguments one by one ---- */

/* Counts the arguments, the first and the NULL included. */
static size_t count(va_list args)
{
    size_t n = 2;
    va_list at;

    va_copy(at, args);
    while (va_arg(at, char *))
        n++;
    va_end(at);
    return n;
}

/* Copies the arguments to argv; `args` is then after the NULL. */
#define COLLECT(argv, first, args)                                                                 \
    do {                                                                                           \
        size_t n_ = 0;                                                                             \
        for (char *a_ = (char *)(uintptr_t)(first);; a_ = va_arg(args, char *)) {                  \
            (argv)[n_++] = a_;                                                                     \
            if (!a_)                                                                               \
                break;                                                                             \
        }                                                                                          \
    } while (0)

EXPORT(int, execl, (const char *path, const char *arg, ...))
{
    va_list args;

    va_start(args, arg);
    {
        char *argv[count(args)];

        COLLECT(argv, arg, args);
        va_end(args);
        return preload_execve(path, argv, environ);
    }
}

EXPORT(int, execlp, (const char *file, const char *arg, ...))
{
    va_list args;

    va_start(args, arg);
    {
        char *argv[count(args)];

        COLLECT(argv, arg, args);
        va_end(args);
        return preload_execvpe(file, argv, environ);
    }
}

EXPORT(int, execle, (const char *path, const char *arg, ...))
{
    va_list args;

    va_start(args, arg);
    {
        char *argv[count(args)], **envp;

        COLLECT(argv, arg, args);
        envp = va_arg(args, char **);
        va_end(args);
        return preload_execve(path, argv, envp);
    }
}

/* ---- the end ---- */

/* Ends the use of the TOE as exit() does: _exit() does not call libtoe's destructor. */
EXPORT(void, _exit, (int status))
{
    if (!tproc_borrowed())
        tctx_end();
    libc._exit(status);
    sys_call(SYS_exit_group, status); /* for the compiler: this function does not return */
}
EXPORT_ALIAS(void, _Exit, _exit, (int));
