/* SPDX-License-Identifier: Apache-2.0 */
/* verbosity.c - notices and details (verbosity.h). */
#include <stdarg.h>
#include <stdio.h>

#include "verbosity.h"

static enum cli_verbosity level = CLI_NORMAL;

void cli_set_verbosity(enum cli_verbosity v)
{
    level = v;
}

enum cli_verbosity cli_verbosity(void)
{
    return level;
}

static void print(const char *format, va_list args)
{
    fputs("toehold: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void cli_notice(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (level > CLI_QUIET)
        print(format, args);
    va_end(args);
}

void cli_detail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (level == CLI_VERBOSE)
        print(format, args);
    va_end(args);
}
