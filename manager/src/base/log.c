/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - messages to the user on standard error. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <toe/log.h>

#include "env.h"
#include "log.h"

#define LOGGED_MAX 64

/*
 * Returns whether standard error is for messages. In a program started as by inetd it is a
 * connection, or the Unix socket of one, and a message would become part of its protocol. The
 * journal's socket is for messages.
 */
static bool is_for_messages(void)
{
    struct stat st;

    return fstat(STDERR_FILENO, &st) < 0 || !S_ISSOCK(st.st_mode) ||
           toe_log_is_journal(STDERR_FILENO, tenv("JOURNAL_STREAM"));
}

/* `toehold run` has checked the variables; without it a wrong one means the default. */
static struct toe_log_style read_style(void)
{
    struct toe_log_style s = {.level = TOE_LOG_INFO, .format = TOE_LOG_AUTO};
    const char *level = tenv(TOE_LOG_LEVEL_ENV), *format = tenv(TOE_LOG_FORMAT_ENV);

    if (level)
        (void)toe_log_level(level, &s.level);
    if (format)
        (void)toe_log_format(format, &s.format);
    toe_log_choose(&s, STDERR_FILENO, tenv("JOURNAL_STREAM"), tenv("NO_COLOR"));
    return s;
}

static void write_line(enum toe_log_level level, const char *fmt, va_list ap)
{
    struct toe_log_style style;
    struct timespec now = {0, 0};
    char text[512], line[640];
    size_t n;

    if (vsnprintf(text, sizeof(text), fmt, ap) < 0 || !is_for_messages())
        return;
    style = read_style();
    clock_gettime(CLOCK_REALTIME, &now);
    n = toe_log_line(line, sizeof(line), &style, level, "toehold", &now, text);
    if (n)
        (void)!sys_write(STDERR_FILENO, line, n);
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
        write_line(TOE_LOG_WARNING, fmt, ap);
    va_end(ap);
    errno = saved;
}

void tlog(const char *fmt, ...)
{
    int saved = errno;
    va_list ap;

    va_start(ap, fmt);
    write_line(TOE_LOG_WARNING, fmt, ap);
    va_end(ap);
    errno = saved;
}

void tlog_info(const char *fmt, ...)
{
    int saved = errno;
    va_list ap;

    va_start(ap, fmt);
    write_line(TOE_LOG_INFO, fmt, ap);
    va_end(ap);
    errno = saved;
}
