/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - messages to the user on standard error. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "env.h"
#include "log.h"

#define LOGGED_MAX 64

/*
 * Returns whether standard error is for messages. In a program started as by inetd it is a
 * connection, or the Unix socket of one, and a message would become part of its protocol. The
 * journal's socket is for messages: JOURNAL_STREAM has its device and inode (systemd.exec(5)).
 */
static bool is_for_messages(void)
{
    const char *journal = tenv("JOURNAL_STREAM");
    unsigned long long dev, ino;
    struct stat st;

    if (fstat(STDERR_FILENO, &st) < 0 || !S_ISSOCK(st.st_mode))
        return true;
    return journal && sscanf(journal, "%llu:%llu", &dev, &ino) == 2 && dev == st.st_dev &&
           ino == st.st_ino;
}

static void write_line(const char *fmt, va_list ap)
{
    char line[512];
    int n = snprintf(line, sizeof(line), "toehold: ");
    int k = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);

    if (k < 0 || !is_for_messages())
        return;
    n += k;
    if (n > (int)sizeof(line) - 2)
        n = (int)sizeof(line) - 2;
    line[n++] = '\n';
    (void)!sys_write(STDERR_FILENO, line, (size_t)n);
}

/* Returns true once per key, the address of a string constant. */
bool tlog_first(const char *key)
{
    static _Atomic(const char *) logged[LOGGED_MAX];

    for (int i = 0; i < LOGGED_MAX; i++) {
        const char *there = NULL;

        if (atomic_compare_exchange_strong(&logged[i], &there, key))
            return true;
        if (there == key)
            return false;
    }
    return true;
}

void tlog_once(const char *fmt, ...)
{
    int saved = errno;
    va_list ap;

    va_start(ap, fmt);
    if (tlog_first(fmt))
        write_line(fmt, ap);
    va_end(ap);
    errno = saved;
}

void tlog(const char *fmt, ...)
{
    int saved = errno;
    va_list ap;

    va_start(ap, fmt);
    write_line(fmt, ap);
    va_end(ap);
    errno = saved;
}
