/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_stdio.c - the C library's buffered files over sockets of the TOE.
 *
 * The C library writes its buffers by system calls of its own, which would reach the placeholder.
 * So the file that fdopen() makes of a socket is one that calls back (fopencookie(3)), and fileno()
 * knows its number. A standard file (stdin, stdout, stderr) becomes such a file when dup2() puts a
 * socket under its number, and stays one: it asks each time who has the number.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

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

/* As much as possible: 0 says an error, and fewer bytes than given are taken for one. */
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

/* The errno that the C library expects of what has no position. */
static int cookie_seek(void *cookie, off64_t *at, int whence)
{
    (void)cookie;
    (void)at;
    (void)whence;
    return terr(ESPIPE);
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
 * While the connections are still there. A file that a thread blocks in is not waited for: exit()
 * must end. Who holds a file's lock keeps it in the list (fclose() takes that lock too).
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
    tlock_enter(); /* no handler that would fork while this is held */
    pthread_mutex_lock(&mutex);
}

static void unlock_list(void)
{
    pthread_mutex_unlock(&mutex);
    tlock_leave();
}

/* A child has no other thread that could give the mutex back. */
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

/* The number of a file that calls back, or -1. */
static int number_of(const FILE *file)
{
    int fd = -1;

    if (likely(!streams))
        return -1;
    pthread_mutex_lock(&mutex);
    for (const struct stream *s = streams; s && fd < 0; s = s->next)
        if (s->file == file)
            fd = s->fd;
    pthread_mutex_unlock(&mutex);
    return fd;
}

EXPORT(FILE *, fdopen, (int fd, const char *mode))
{
    return carried(fd) && tsock_get(fd) ? make(fd, mode) : libc.fdopen(fd, mode);
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

/* What the program has printed and the old file still holds goes where the number leads now. */
static void move_pending(FILE *from, FILE *to)
{
    size_t n = __fpending(from);

    if (n) {
        (void)!fwrite(from->_IO_write_base, 1, n, to);
        __fpurge(from);
    }
}

static FILE *originals[3]; /* the C library's own, while ours are in their places */

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

/* The C library reopens only what is its own: that comes back, and its number, which the C library
 * keeps, leads to a socket no longer. What to reopen instead of `file`. */
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
    null = carried(fd) ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    if (null >= 0) {
        toe_dup2(null, fd);
        sys_close(null);
    }
    return *standard_file(fd);
}

EXPORT(FILE *, freopen, (const char *path, const char *mode, FILE *file))
{
    return libc.freopen(path, mode, likely(!streams) ? file : give_back(path, file));
}

EXPORT(FILE *, freopen64, (const char *path, const char *mode, FILE *file))
{
    return libc.freopen64(path, mode, likely(!streams) ? file : give_back(path, file));
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
    return carried(fd) ? print(fd, format, args) : libc.vdprintf(fd, format, args);
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

/* With -D_FORTIFY_SOURCE: %n only in memory that cannot be written, which is not checked here. */
EXPORT(int, __vdprintf_chk, (int fd, int flag, const char *format, va_list args))
{
    return carried(fd) ? print(fd, format, args) : libc.__vdprintf_chk(fd, flag, format, args);
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
