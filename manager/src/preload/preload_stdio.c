/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_stdio.c - the C library's buffered files over sockets of the TOE.
 *
 * The C library writes its buffers by direct system calls, which would reach the placeholder. So
 * fdopen() of a socket returns a cookie file (fopencookie(3)), and fileno() returns its number. A
 * standard file (stdin, stdout, stderr) becomes such a file when dup2() puts a socket under its
 * number. It stays one, and looks up the object of the number at each call.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "fdtab.h"
#include "lock.h"
#include "preload.h"
#include "preload_stdio.h"

struct stream {
    FILE *file;
    int fd;
    struct stream *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct stream *_Atomic streams;

static ssize_t cookie_read(void *cookie, char *buf, size_t n)
{
    return CARRY(toe_read(((struct stream *)cookie)->fd, buf, n));
}

/* Writes as much as possible: 0 means an error, and the C library takes a short write for one. */
static ssize_t cookie_write(void *cookie, const char *buf, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t r = CARRY(toe_write(((struct stream *)cookie)->fd, buf + done, n - done));

        if (r < 0)
            break;
        done += (size_t)r;
    }
    return (ssize_t)done;
}

/* A socket has no position; a file that freopen() has opened in its place has one. */
static int cookie_seek(void *cookie, off64_t *at, int whence)
{
    int fd = ((struct stream *)cookie)->fd;
    off64_t to = is_toe_fd(fd) ? terr(ESPIPE) : lseek64(fd, *at, whence);

    if (to >= 0)
        *at = to;
    return to < 0 ? -1 : 0;
}

static int cookie_close(void *cookie)
{
    struct stream *s = cookie;
    int fd = s->fd;

    pthread_mutex_lock(&mutex);
    if (streams == s)
        streams = s->next;
    else
        for (struct stream *at = streams; at; at = at->next)
            if (at->next == s)
                at->next = s->next;
    pthread_mutex_unlock(&mutex);
    free(s);
    return toe_close(fd);
}

/*
 * Flushes the files while the connections still exist. Skips a file in which a thread blocks,
 * because exit() must end. The file that it flushes cannot leave the list, because fclose() takes
 * the file's lock too.
 */
static void flush_at_exit(void)
{
    struct stream *next;

    pthread_mutex_lock(&mutex);
    for (struct stream *s = streams; s; s = next) {
        FILE *held = ftrylockfile(s->file) == 0 ? s->file : NULL;

        if (held) {
            pthread_mutex_unlock(&mutex);
            fflush_unlocked(held);
            pthread_mutex_lock(&mutex);
        }
        next = s->next;
        if (held)
            funlockfile(held);
    }
    pthread_mutex_unlock(&mutex);
}

static void lock_list(void)
{
    tlock_enter(); /* defers handlers, which could fork while the mutex is held */
    pthread_mutex_lock(&mutex);
}

static void unlock_list(void)
{
    pthread_mutex_unlock(&mutex);
    tlock_leave();
}

/* Holds the mutex during a fork: a child has no other thread that could unlock it. */
__attribute__((constructor)) static void follow_forks(void)
{
    pthread_atfork(lock_list, unlock_list, unlock_list);
}

static FILE *make(int fd, const char *mode)
{
    static const cookie_io_functions_t calls = {cookie_read, cookie_write, cookie_seek,
                                                cookie_close};
    static bool registered;
    struct stream *s = malloc(sizeof *s);

    if (!s)
        return NULL;
    s->fd = fd;
    s->file = fopencookie(s, mode, calls);
    if (!s->file) {
        free(s);
        return NULL;
    }
    pthread_mutex_lock(&mutex);
    s->next = streams;
    streams = s;
    if (!registered)
        registered = atexit(flush_at_exit) == 0;
    pthread_mutex_unlock(&mutex);
    return s->file;
}

/* Returns the stream of a cookie file, or NULL. */
static struct stream *find_stream(const FILE *file)
{
    struct stream *s;

    if (likely(!streams))
        return NULL;
    pthread_mutex_lock(&mutex);
    for (s = streams; s && s->file != file; s = s->next)
        ;
    pthread_mutex_unlock(&mutex);
    return s;
}

static int number_of(const FILE *file)
{
    const struct stream *s = find_stream(file);

    return s ? s->fd : -1;
}

EXPORT(FILE *, fdopen, (int fd, const char *mode))
{
    return is_toe_fd(fd) && tsock_get(fd) ? make(fd, mode) : libc.fdopen(fd, mode);
}

EXPORT(int, fileno, (FILE * file))
{
    int fd = number_of(file);

    return fd >= 0 ? fd : libc.fileno(file);
}

EXPORT(int, fileno_unlocked, (FILE * file))
{
    int fd = number_of(file);

    return fd >= 0 ? fd : libc.fileno_unlocked(file);
}

/* ---- standard files ---- */

/* Moves output that the old file still buffers to the file that now has the number. */
static void move_pending(FILE *from, FILE *to)
{
    size_t n = __fpending(from);

    if (n) {
        (void)!fwrite(from->_IO_write_base, 1, n, to);
        __fpurge(from);
    }
}

static FILE *originals[3]; /* the C library's files, while ours replace them */

static FILE **standard_file(int fd)
{
    return fd == 0 ? &stdin : fd == 1 ? &stdout : &stderr;
}

void preload_stdio_moved(int fd)
{
    FILE **standard = standard_file(fd), *old = *standard, *file;

    if (fd < 0 || fd > 2 || !tsock_get(fd) || !old || number_of(old) >= 0 || fileno(old) != fd)
        return;
    file = make(fd, fd == 0 ? "r" : "w");
    if (!file)
        return;
    if (fd == 2)
        setvbuf(file, NULL, _IONBF, 0);
    else if (__flbf(old))
        setvbuf(file, NULL, _IOLBF, 0);
    if (fd != 0)
        move_pending(old, file);
    originals[fd] = old;
    *standard = file;
}

/* Restores the original file, because the C library can reopen only its own. Its number, which the
 * C library keeps, no longer refers to a socket. Returns the file to reopen instead of `file`. */
static FILE *give_back(const char *path, FILE *file)
{
    int fd = 0, null;

    while (fd < 3 && (*standard_file(fd) != file || !originals[fd]))
        fd++;
    if (fd == 3 || !path)
        return file;
    fflush(file);
    *standard_file(fd) = originals[fd];
    originals[fd] = NULL;
    null = is_toe_fd(fd) ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    if (null >= 0) {
        toe_dup2(null, fd);
        sys_close(null);
    }
    return *standard_file(fd);
}

/* Flags of glibc in FILE::_flags; freopen() of glibc uses them as well. */
#define NO_READS     0x0004
#define NO_WRITES    0x0008
#define IS_APPENDING 0x1000
#define OF_A_MODE    (NO_READS | NO_WRITES | IS_APPENDING | _IO_EOF_SEEN | _IO_ERR_SEEN)

/* Returns the flags of open(2) for a mode of fopen(3); -1: the mode is invalid. */
static int open_flags(const char *mode)
{
    int flags = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;

    if (!*mode || !strchr("rwa", *mode))
        return terr(EINVAL);
    if (*mode != 'r')
        flags |= O_CREAT | (*mode == 'w' ? O_TRUNC : O_APPEND);
    if (strchr(mode, 'x'))
        flags |= O_EXCL;
    return flags | (strchr(mode, 'e') ? O_CLOEXEC : 0);
}

static void set_mode(FILE *file, int flags)
{
    int how = flags & O_ACCMODE, f = file->_flags & ~OF_A_MODE;

    f |= how == O_RDONLY ? NO_WRITES : how == O_WRONLY ? NO_READS : 0;
    file->_flags = f | (flags & O_APPEND ? IS_APPENDING : 0);
    file->_offset = -1;
}

/* Opens path under the number of s, as for the C library's own files. Closes it on failure. */
static int lead_to(struct stream *s, const char *path, int flags)
{
    char self[32];
    int fd = -1, r = -1;

    snprintf(self, sizeof self, "/proc/self/fd/%d", s->fd);
    if (flags >= 0)
        fd = open(path ? path : self, flags, 0666);
    if (fd >= 0) {
        r = toe_dup3(fd, s->fd, flags & O_CLOEXEC);
        sys_close(fd);
    }
    if (r < 0) {
        int saved = errno;

        toe_close(s->fd);
        s->fd = -1;
        errno = saved;
    }
    return r;
}

/* Reopens a cookie file. It stays one, with the new object of its number. */
static FILE *reopen(const char *path, const char *mode, FILE *file, struct stream *s)
{
    int flags, r;

    flockfile(file);
    fflush_unlocked(file);
    __fpurge(file);
    flags = open_flags(mode);
    r = lead_to(s, path, flags);
    if (r >= 0)
        set_mode(file, flags);
    funlockfile(file);
    return r < 0 ? NULL : file;
}

#define REOPEN(name)                                                                               \
    struct stream *s_;                                                                             \
                                                                                                   \
    if (unlikely(streams))                                                                         \
        file = give_back(path, file);                                                              \
    s_ = find_stream(file);                                                                        \
    return s_ ? reopen(path, mode, file, s_) : libc.name(path, mode, file)

EXPORT(FILE *, freopen, (const char *path, const char *mode, FILE *file))
{
    REOPEN(freopen);
}

EXPORT(FILE *, freopen64, (const char *path, const char *mode, FILE *file))
{
    REOPEN(freopen64);
}

/* ---- dprintf ---- */

static int print(int fd, const char *format, va_list args)
{
    char *text;
    int n = vasprintf(&text, format, args), done = 0;

    if (n < 0)
        return -1;
    while (done < n) {
        ssize_t r = CARRY(toe_write(fd, text + done, (size_t)(n - done)));

        if (r < 0)
            break;
        done += (int)r;
    }
    free(text);
    return done < n ? -1 : n;
}

EXPORT(int, vdprintf, (int fd, const char *format, va_list args))
{
    return is_toe_fd(fd) ? print(fd, format, args) : libc.vdprintf(fd, format, args);
}

EXPORT(int, dprintf, (int fd, const char *format, ...))
{
    va_list args;
    int r;

    va_start(args, format);
    r = preload_vdprintf(fd, format, args);
    va_end(args);
    return r;
}

/* -D_FORTIFY_SOURCE allows %n only in read-only memory, which is not checked here. */
EXPORT(int, __vdprintf_chk, (int fd, int flag, const char *format, va_list args))
{
    return is_toe_fd(fd) ? print(fd, format, args) : libc.__vdprintf_chk(fd, flag, format, args);
}

EXPORT(int, __dprintf_chk, (int fd, int flag, const char *format, ...))
{
    va_list args;
    int r;

    va_start(args, format);
    r = preload___vdprintf_chk(fd, flag, format, args);
    va_end(args);
    return r;
}
