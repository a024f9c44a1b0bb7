/* SPDX-License-Identifier: Apache-2.0 */
/* saved.c - see saved.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "../common/message.h"
#include "saved.h"
#include "saved_json.h"

/* ---- files ---- */

/* Makes what was done in the folder of the file durable. */
static bool sync_folder(const char *path)
{
    char copy[PATH_MAX];
    int fd;
    bool ok;

    snprintf(copy, sizeof copy, "%s", path);
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* The folder of the default path may not exist before the first toed. */
static void make_folder(const char *path)
{
    char copy[PATH_MAX];

    snprintf(copy, sizeof copy, "%s", path);
    mkdir(dirname(copy), 0755);
}

/* Writes a temporary file beside the path, locked and durable. Returns its descriptor, or -1. */
static int write_temporary(const struct tune_saved *s, char *name, size_t size)
{
    json_t *root = tune_saved_json(s);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    int fd = -1;

    json_decref(root);
    if (text && (size_t)snprintf(name, size, "%s.%ld", s->path, (long)getpid()) < size) {
        unlink(name); /* of a killed tune that had this number */
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) != 0 ||
                    write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fsync(fd) != 0)) {
        int e = errno;

        close(fd);
        unlink(name);
        errno = e;
        fd = -1;
    }
    free(text);
    return fd;
}

static bool fail(const char *path)
{
    cli_message("tune: cannot write %s: %s; --state FILE names another file", path,
                strerror(errno));
    return false;
}

bool tune_save(struct tune_saved *s)
{
    char name[PATH_MAX + 24];
    int e;

    make_folder(s->path);
    s->lock = write_temporary(s, name, sizeof name);
    if (s->lock < 0)
        return fail(s->path);
    /* link() fails where another tune has been faster; rename() would replace its file */
    if (link(name, s->path) == 0 && unlink(name) == 0 && sync_folder(s->path))
        return true;
    e = errno;
    unlink(name);
    close(s->lock);
    s->lock = -1;
    errno = e;
    if (e != EEXIST)
        return fail(s->path);
    cli_message("tune: %s has settings that are not reverted; `toehold tune --revert` first",
                s->path);
    return false;
}

bool tune_save_again(struct tune_saved *s)
{
    char name[PATH_MAX + 24];
    int fd = write_temporary(s, name, sizeof name);

    if (fd < 0 || rename(name, s->path) != 0 || !sync_folder(s->path)) {
        fail(s->path);
        if (fd >= 0)
            close(fd);
        return false;
    }
    close(s->lock);
    s->lock = fd;
    return true;
}

/* Reads all of a file that only root, or this user, can have written. */
static char *read_file(int fd, const char *path)
{
    char *text = calloc(1, 1 << 20);
    struct stat st;
    ssize_t n;

    if (!text || fstat(fd, &st) != 0) {
        cli_message("tune: %s: %s", path, strerror(errno));
        free(text);
        return NULL;
    }
    if (!S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid()) || st.st_mode & 022) {
        cli_message("tune: %s is not a file that root alone can write: it is not used; remove it",
                    path);
        free(text);
        return NULL;
    }
    n = read(fd, text, (1 << 20) - 1);
    if (n < 0) {
        cli_message("tune: %s: %s", path, strerror(errno));
        free(text);
        return NULL;
    }
    return text;
}

/* Returns whether the path still leads to the open file: the one that held the lock may have
 * replaced or removed it. */
static bool is_current(int fd, const char *path)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino &&
           a.st_dev == b.st_dev;
}

static enum tune_found parse(int fd, const char *path, struct tune_saved *s)
{
    char *text = read_file(fd, path);
    json_error_t error;
    json_t *root;
    bool ok;

    if (!text)
        return TUNE_INVALID;
    root = json_loads(text, 0, &error);
    free(text);
    ok = root && tune_saved_parse(root, s);
    if (!ok)
        cli_message("tune: %s is not a state of this release: %s", path,
                    root ? "a value is missing or wrong" : error.text);
    json_decref(root);
    return ok ? TUNE_FOUND : TUNE_INVALID;
}

enum tune_found tune_load(const char *path, struct tune_saved *s)
{
    enum tune_found found;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

    memset(s, 0, sizeof *s);
    s->lock = -1;
    snprintf(s->path, sizeof s->path, "%s", path);
    if (fd < 0) {
        if (errno == ENOENT)
            return TUNE_NONE;
        cli_message("tune: %s: %s", path, strerror(errno));
        return TUNE_INVALID;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return TUNE_RUNNING;
    }
    found = is_current(fd, path) ? parse(fd, path, s) : TUNE_RUNNING;
    if (found == TUNE_FOUND)
        s->lock = fd;
    else
        close(fd);
    return found;
}

bool tune_forget(struct tune_saved *s)
{
    bool ok = unlink(s->path) == 0 && sync_folder(s->path);

    if (!ok)
        cli_message("tune: cannot remove %s: %s", s->path, strerror(errno));
    if (s->lock >= 0)
        close(s->lock);
    s->lock = -1;
    return ok;
}
