/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - messages to the user on standard error. */
#include <stdarg.h>
#include <stdio.h>

#include "fdtab.h"
#include "log.h"

#define LOGGED_MAX 64

static void write_line(const char *fmt, va_list ap)
{
    char line[512];
    int n = snprintf(line, sizeof(line), "toehold: ");
    int k = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);

    if (k < 0)
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
