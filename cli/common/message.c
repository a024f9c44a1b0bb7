/* SPDX-License-Identifier: Apache-2.0 */
/* message.c - prints messages on standard error (message.h). */
#include <stdarg.h>
#include <stdio.h>

#include "message.h"

void cli_message(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("toehold: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}
