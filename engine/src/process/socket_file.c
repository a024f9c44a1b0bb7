/* SPDX-License-Identifier: Apache-2.0 */
/* socket_file.c - makes and removes the file of a Unix socket (socket_file.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "socket_file.h"

#define PATH_SIZE (sizeof(((struct sockaddr_un *)0)->sun_path))
#define MODE      0660
#define INNER     "s" /* the name of the socket in the private directory */
#define TRIES     16

/* A path, and its directory opened once: later renames of the directory have no effect. */
struct place {
    const char *path, *name; /* name: the last component of path */
    int dir;
};

__attribute__((format(printf, 3, 4))) static int fail(char *err, size_t err_size,
                                                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start() is above */
    vsnprintf(err, err_size, format, args);
    va_end(args);
    return -1;
}

/* Opens the directory of path; with create, creates it if it is missing (/run is emptied at each
 * boot). Returns 0, or -1 with errno. */
static int place_open(struct place *p, const char *path, int create)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_SIZE] = ".";

    if (slash)
        snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    p->path = path;
    p->name = slash ? slash + 1 : path;
    if (create && slash && slash != path && mkdir(dir, 0755) != 0 && errno != EEXIST)
        return -1;
    p->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return p->dir < 0 ? -1 : 0;
}

/* Sets the address to an entry of an open directory, whatever its path is at present. */
static void address_in(struct sockaddr_un *addr, int dir, const char *name)
{
    *addr = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(addr->sun_path, sizeof(addr->sun_path), "/proc/self/fd/%d/%s", dir, name);
}

/* Connects to the socket at the place. Returns the descriptor, or -1 with errno: EAGAIN when the
 * backlog of its listener is full. */
static int knock(const struct place *p)
{
    struct sockaddr_un addr;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), e;

    address_in(&addr, p->dir, p->name);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0)
        return fd;
    e = errno;
    close(fd);
    errno = e;
    return -1;
}

static int check_free(const struct place *p, char *err, size_t err_size)
{
    struct stat st;
    int fd;

    if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISSOCK(st.st_mode))
        return fail(err, err_size, "--socket %s: there is something that is no socket", p->path);
    fd = knock(p);
    if (fd < 0 && errno != EAGAIN)
        return 0;
    if (fd >= 0)
        close(fd);
    return fail(err, err_size, "--socket %s: another toed listens there; name another path",
                p->path);
}

/* Makes a directory that only this user may enter, beside the place, so that a rename moves the
 * socket from it. Returns its descriptor, or -1 with errno. */
static int private_directory(const struct place *p, char *name, size_t size)
{
    struct stat st;
    int i, dir;

    for (i = 0; i < TRIES; i++) {
        snprintf(name, size, ".%s.%d.%d", p->name, (int)getpid(), i);
        if (mkdirat(p->dir, name, 0700) != 0) {
            if (errno != EEXIST) /* left by a process that was killed, or another user's */
                return -1;
            continue;
        }
        dir = openat(p->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (dir >= 0 && fstat(dir, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077))
            return dir;
        if (dir >= 0)
            close(dir);
        errno = EPERM; /* replaced between the two calls */
    }
    return -1;
}

/* Makes the socket in the private directory, where no other user can replace it. */
static int make_inside(int fd, int backlog, int dir, uid_t uid, gid_t gid, struct socket_file *made)
{
    struct sockaddr_un addr;
    struct stat st;

    address_in(&addr, dir, INNER);
    if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 ||
        fchownat(dir, INNER, uid, gid, AT_SYMLINK_NOFOLLOW) != 0 ||
        fchmodat(dir, INNER, MODE, 0) != 0 || fstatat(dir, INNER, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        listen(fd, backlog) != 0)
        return -1;
    *made = (struct socket_file){st.st_dev, st.st_ino};
    return 0;
}

static int make(int fd, int backlog, const struct place *p, uid_t uid, gid_t gid,
                struct socket_file *made)
{
    char name[PATH_SIZE + 32];
    int dir = private_directory(p, name, sizeof(name)), rc, e;

    if (dir < 0)
        return -1;
    rc = make_inside(fd, backlog, dir, uid, gid, made);
    if (rc == 0)
        rc = renameat(dir, INNER, p->dir, p->name);
    e = errno;
    if (rc != 0)
        unlinkat(dir, INNER, 0);
    close(dir);
    unlinkat(p->dir, name, AT_REMOVEDIR); /* fails when it has been renamed: then it stays there */
    errno = e;
    return rc;
}

int socket_file_listen(int fd, int backlog, const char *path, uid_t uid, gid_t gid,
                       struct socket_file *made, char *err, size_t err_size)
{
    struct place p;
    int rc;

    if (strlen(path) >= PATH_SIZE)
        return fail(err, err_size, "--socket %s: the path is longer than a Unix socket can have",
                    path);
    if (place_open(&p, path, 1) != 0)
        return fail(err, err_size, "--socket %s: %s", path, strerror(errno));
    if (!*p.name)
        errno = EISDIR;
    rc = *p.name ? check_free(&p, err, err_size)
                 : fail(err, err_size, "--socket %s: %s", path, strerror(errno));
    if (rc == 0 && make(fd, backlog, &p, uid, gid, made) != 0) {
        int e = errno;

        rc =
            fail(err, err_size, "--socket %s: %s%s", path, strerror(e),
                 e == ENOENT && access("/proc/self/fd", F_OK) != 0 ? ": /proc is not mounted" : "");
    }
    close(p.dir);
    return rc;
}

/* Returns whether the socket at the place is a listener of this process. */
static int is_own(const struct place *p)
{
    struct ucred cred = {0};
    socklen_t len = sizeof(cred);
    int fd = knock(p);

    if (fd < 0)
        return 0;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
        cred.pid = 0;
    close(fd);
    return cred.pid == getpid();
}

void socket_file_find(const char *path, struct socket_file *found)
{
    struct place p;
    struct stat st;

    *found = (struct socket_file){0};
    if (place_open(&p, path, 0) != 0)
        return;
    if (fstatat(p.dir, p.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode) && is_own(&p))
        *found = (struct socket_file){st.st_dev, st.st_ino};
    close(p.dir);
}

int socket_file_remove(const char *path, const struct socket_file *made)
{
    struct place p;
    struct stat st;
    int rc = 0, e;

    if (!made->ino)
        return 0;
    if (place_open(&p, path, 0) != 0)
        return errno == ENOENT ? 0 : -1;
    if (fstatat(p.dir, p.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == made->dev &&
        st.st_ino == made->ino)
        rc = unlinkat(p.dir, p.name, 0);
    e = errno;
    close(p.dir);
    errno = e;
    return rc;
}
