/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - the clock of a measurement, and the reason of its failure (measure.h). */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "measure.h"

volatile sig_atomic_t rtt_stopped;

uint64_t rtt_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool rtt_fail(struct rtt *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(r->why, sizeof r->why, format, args);
    va_end(args);
    return false;
}
