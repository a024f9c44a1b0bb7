/* SPDX-License-Identifier: Apache-2.0 */
/* common.c - messages, the clock, the memory of the process (common.h). */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <toe/tsc.h>

#include "common.h"

atomic_int load_interrupted;

void load_message(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    flockfile(stderr); /* lines of several threads must not mix */
    fputs("toehold bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(args);
}

uint64_t load_clock(void)
{
    static __thread struct toe_tsc clock;

    return toe_tsc_now(&clock);
}

uint64_t load_resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (f && fscanf(f, "%*u %lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
