/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h - time of the processors, and bytes of an interface, as the kernel counts them. */
#ifndef TOE_CLI_TUNE_USAGE_H
#define TOE_CLI_TUNE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#define TUNE_CORES 1024

struct tune_usage {
    double at; /* seconds */
    unsigned cores;
    uint64_t busy[TUNE_CORES], all[TUNE_CORES]; /* clock ticks */
    uint64_t bytes;                             /* received and sent by the interface */
};

/* Reads both. Returns false with errno; ENODEV: there is no such interface. */
bool tune_usage_read(const char *interface, struct tune_usage *u);

/* Returns the seconds that all cores worked from a to b, and the load of the busiest, 0 to 1. */
double tune_usage_cpu(const struct tune_usage *a, const struct tune_usage *b, double *busiest);

#endif
