/* SPDX-License-Identifier: Apache-2.0 */
/* workers_file.c - the file behind the workers' shared memory (workers_file.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workers_file.h"
#include "workers_group.h"

#define MODE    0600
#define JOINING 0 /* bytes of the file */
#define LIVING  1

int workers_file_refuse(const char *path, const struct netio_err *err, const char *why)
{
    netio_err_set(err, "workers: %s: %s", path, why);
    return -1;
}

/* Returns 0, or -1 when another process has a lock that excludes this one. type: F_WRLCK, F_RDLCK,
 * F_UNLCK. */
static int set_lock(int fd, short type, off_t byte)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    return fcntl(fd, F_OFD_SETLK, &l);
}

/* Returns what is wrong with the file, NULL: nothing. */
static const char *fault_of(const struct stat *st)
{
    if (!S_ISREG(st->st_mode))
        return "it is not a regular file";
    if (st->st_uid != geteuid())
        return "it belongs to another user";
    if ((st->st_mode & 07777) != MODE)
        return "its mode is not 0600";
    return NULL;
}

/* Opens the file. Returns -1 with what is wrong in *why. */
static int open_sound(const char *path, int create, const char **why)
{
    int fd = open(path, O_RDWR | create | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, MODE);
    struct stat st;

    *why = fd < 0 || fstat(fd, &st) != 0 ? strerror(errno) : fault_of(&st);
    if (fd >= 0 && *why) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Returns whether the descriptor is the file at the path: it may have been removed since. */
static int is_at(int fd, const char *path)
{
    struct stat held, named;

    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

int workers_file_join(const char *path, const struct netio_err *err)
{
    uint64_t since_ms = 0;
    const char *why;
    int fd;

    for (;;) {
        fd = open_sound(path, O_CREAT, &why);
        if (fd < 0)
            return workers_file_refuse(path, err, why);
        while (set_lock(fd, F_WRLCK, JOINING) != 0)
            if (!group_wait(&since_ms)) {
                close(fd);
                return workers_file_refuse(path, err,
                                           "another worker joins for ten seconds: end it");
            }
        if (is_at(fd, path))
            return fd;
        close(fd);
    }
}

void workers_file_live(int fd)
{
    (void)set_lock(fd, F_RDLCK, LIVING);
    (void)set_lock(fd, F_UNLCK, JOINING);
}

void workers_file_remove(const char *path, int fd)
{
    if (set_lock(fd, F_WRLCK, JOINING) != 0 || set_lock(fd, F_WRLCK, LIVING) != 0 ||
        !is_at(fd, path))
        return;
    (void)!ftruncate(fd, 0);
    (void)unlink(path);
}

void workers_file_sweep(const char *path)
{
    size_t prefix = (size_t)(strrchr(path, '.') ? strrchr(path, '.') - path + 1 : 0), i;
    char pattern[GROUP_PATH + 2];
    const char *why;
    glob_t g;
    int fd;

    if (!prefix)
        return;
    snprintf(pattern, sizeof(pattern), "%.*s*", (int)prefix, path);
    if (glob(pattern, GLOB_NOSORT, NULL, &g) != 0)
        return;
    for (i = 0; i < g.gl_pathc; i++) {
        if (strcmp(g.gl_pathv[i], path) == 0)
            continue;
        fd = open_sound(g.gl_pathv[i], 0, &why);
        if (fd < 0)
            continue;
        workers_file_remove(g.gl_pathv[i], fd);
        close(fd);
    }
    globfree(&g);
}
