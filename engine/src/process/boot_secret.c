/* SPDX-License-Identifier: Apache-2.0 */
/* boot_secret.c - the secret that all TOEs of a user share until the next boot (boot_secret.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boot_secret.h"

#define PATH_SIZE 256
#define TRIES     8 /* the file may appear, or be removed, between two calls */
#define MODE      0600

__attribute__((format(printf, 3, 4))) static int fail(char *why, size_t size, const char *format,
                                                      ...)
{
    va_list args;

    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start() is above */
    vsnprintf(why, size, format, args);
    va_end(args);
    return -1;
}

void boot_secret_path(uid_t uid, char *path, size_t size)
{
    if (uid == 0)
        snprintf(path, size, "/run/toehold.secret");
    else
        snprintf(path, size, "/run/user/%u/toehold.secret", uid);
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
    if (st->st_nlink != 1)
        return "it has further names (hard links)";
    if (st->st_size != BOOT_SECRET_BYTES)
        return "its size is not that of a secret";
    return NULL;
}

static int is_zero(const uint8_t secret[BOOT_SECRET_BYTES])
{
    static const uint8_t none[BOOT_SECRET_BYTES];

    return memcmp(secret, none, sizeof(none)) == 0;
}

static int read_open(int fd, const char *path, uint8_t secret[BOOT_SECRET_BYTES], char *why,
                     size_t size)
{
    const char *fault = "it cannot be read";
    struct stat st;

    if (fstat(fd, &st) == 0)
        fault = fault_of(&st);
    if (!fault && read(fd, secret, BOOT_SECRET_BYTES) != BOOT_SECRET_BYTES)
        fault = "it cannot be read";
    if (!fault && is_zero(secret))
        fault = "it contains zeros only";
    return fault ? fail(why, size, "%s: %s; remove it", path, fault) : 0;
}

/* Writes a new secret to a file that no other process has opened. */
static int fill(int fd)
{
    uint8_t secret[BOOT_SECRET_BYTES];

    if (fchmod(fd, MODE) != 0) /* whatever the umask is */
        return -1;
    do
        if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
            return -1;
    while (is_zero(secret));
    return write(fd, secret, sizeof(secret)) == sizeof(secret) ? 0 : -1;
}

/* Creates the file with its content: under a temporary name, which it then loses to the lasting one
 * in one step, so that no process sees it with both (fault_of()). Nothing is replaced. Returns 0
 * when there is a file, whichever process created it; -1 with errno. */
static int create(const char *path)
{
    char temporary[PATH_SIZE + 32];
    unsigned draw = 0;
    int fd, rc, e;

    (void)!getrandom(&draw, sizeof(draw), GRND_NONBLOCK);
    snprintf(temporary, sizeof(temporary), "%s.%d.%x", path, (int)getpid(), draw);
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
    if (fd < 0)
        return errno == EEXIST ? 0 : -1; /* the caller tries again, with another name */
    rc = fill(fd);
    if (rc == 0 && renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0) {
        close(fd);
        return 0;
    }
    e = errno;
    close(fd);
    unlink(temporary);
    errno = e;
    return rc == 0 && e == EEXIST ? 0 : -1;
}

int boot_secret_read(const char *path, uint8_t secret[BOOT_SECRET_BYTES], char *why,
                     size_t why_size)
{
    int tries, fd, rc;

    if (strlen(path) >= PATH_SIZE)
        return fail(why, why_size, "%s: the path is too long", path);
    for (tries = 0; tries < TRIES; tries++) {
        /* O_NONBLOCK: a FIFO has no effect */
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd >= 0) {
            rc = read_open(fd, path, secret, why, why_size);
            close(fd);
            return rc;
        }
        if (errno == ELOOP)
            return fail(why, why_size, "%s: it is a symbolic link; remove it", path);
        if (errno != ENOENT || create(path) != 0)
            break;
    }
    return fail(why, why_size, "%s: %s", path, strerror(errno));
}
