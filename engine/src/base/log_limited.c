/* SPDX-License-Identifier: Apache-2.0 */
/* log_limited.c - rate-limited log messages (log_limited.h). */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "clock.h"
#include "log.h"
#include "log_limited.h"

/* Counts a message. Returns 1 when it may be logged. *left_out: messages suppressed before it,
 * reported once. */
static int may_log(unsigned *left_out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t second;
    static unsigned logged, kept;
    uint64_t now = engine_clock() / NS_PER_S;
    int may;

    pthread_mutex_lock(&lock);
    *left_out = 0;
    if (now != second) {
        *left_out = kept;
        second = now;
        logged = kept = 0;
    }
    may = logged < LOG_LIMIT;
    logged += may;
    kept += !may;
    pthread_mutex_unlock(&lock);
    return may;
}

void log_limited_at(enum toe_log_level level, const char *format, ...)
{
    unsigned left_out;
    char text[400];
    va_list args;

    if (!may_log(&left_out))
        return;
    if (left_out)
        log_warning("%u messages about programs were left out: more than %u a second", left_out,
                    LOG_LIMIT);
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    log_at(level, "%s", text);
}
