/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - log messages: "toed: ..." on standard error, one write(2) each. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "log.h"

void log_msg(const char *format, ...)
{
    char line[512] = "toed: ";
    size_t at = 6;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(line + at, sizeof(line) - at - 1, format, args);
    va_end(args);
    if (n < 0)
        return;
    at += (size_t)n < sizeof(line) - at - 1 ? (size_t)n : sizeof(line) - at - 2;
    line[at++] = '\n';
    /* A failed write to standard error is ignored. */
    if (write(STDERR_FILENO, line, at) < 0)
        return;
}
