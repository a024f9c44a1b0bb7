/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - log messages: "toed: ..." on standard error, one write(2) each. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

#define CHOSEN 0x100u

/* Level, format and colour in one word, which the main thread replaces while others log. */
static atomic_uint current;

static unsigned pack(enum toe_log_level level, enum toe_log_format format)
{
    struct toe_log_style s = {level, format, false};

    toe_log_choose(&s, STDERR_FILENO, getenv("JOURNAL_STREAM"), getenv("NO_COLOR"));
    return CHOSEN | (unsigned)s.color << 7 | (unsigned)s.format << 4 | (unsigned)s.level;
}

void log_style(enum toe_log_level level, enum toe_log_format format)
{
    atomic_store(&current, pack(level, format));
}

void log_at(enum toe_log_level level, const char *format, ...)
{
    unsigned style = atomic_load(&current);
    struct timespec now = {0, 0};
    struct toe_log_style s;
    char line[640], text[512];
    va_list args;
    size_t n;

    if (!style) /* before the options are known */
        style = pack(TOE_LOG_INFO, TOE_LOG_AUTO);
    s = (struct toe_log_style){(enum toe_log_level)(style & 15),
                               (enum toe_log_format)(style >> 4 & 7), (style & 128) != 0};
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    clock_gettime(CLOCK_REALTIME, &now);
    n = toe_log_line(line, sizeof(line), &s, level, "toed", &now, text);
    /* A failed write to standard error is ignored. */
    if (n && write(STDERR_FILENO, line, n) < 0)
        return;
}
