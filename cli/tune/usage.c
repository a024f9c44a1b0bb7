/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - see usage.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "usage.h"

/* A line "cpuN user nice system idle iowait irq softirq steal ...". What a hypervisor takes away
 * (steal) is neither busy nor idle. */
static void take_core(const char *line, struct tune_usage *u)
{
    uint64_t t[7];
    unsigned n;

    if (sscanf(line,
               "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64,
               &n, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6]) != 8 ||
        n >= TUNE_CORES)
        return;
    u->busy[n] = t[0] + t[1] + t[2] + t[5] + t[6];
    u->all[n] = u->busy[n] + t[3] + t[4];
    if (n >= u->cores)
        u->cores = n + 1;
}

static bool read_cores(struct tune_usage *u)
{
    char line[512];
    FILE *f = fopen("/proc/stat", "re");

    if (!f)
        return false;
    while (fgets(line, sizeof line, f) && strncmp(line, "cpu", 3) == 0)
        take_core(line, u);
    fclose(f);
    return true;
}

static bool read_bytes(const char *interface, struct tune_usage *u)
{
    char line[512], name[64];
    FILE *f = fopen("/proc/net/dev", "re");
    bool found = false;

    if (!f)
        return false;
    while (!found && fgets(line, sizeof line, f)) {
        uint64_t rx, tx;

        found = sscanf(line, " %63[^:]: %" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, name,
                       &rx, &tx) == 3 &&
                !strcmp(name, interface);
        if (found)
            u->bytes = rx + tx;
    }
    fclose(f);
    if (!found)
        errno = ENODEV;
    return found;
}

bool tune_usage_read(const char *interface, struct tune_usage *u)
{
    struct timespec now;

    memset(u, 0, sizeof *u);
    clock_gettime(CLOCK_MONOTONIC, &now);
    u->at = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    return read_cores(u) && read_bytes(interface, u);
}

double tune_usage_cpu(const struct tune_usage *a, const struct tune_usage *b, double *busiest)
{
    uint64_t sum = 0;
    unsigned i;

    *busiest = 0;
    for (i = 0; i < b->cores; i++) {
        uint64_t busy = b->busy[i] - a->busy[i], all = b->all[i] - a->all[i];

        if (b->busy[i] < a->busy[i] || b->all[i] <= a->all[i])
            continue; /* switched off in between, or no tick */
        sum += busy;
        if ((double)busy / (double)all > *busiest)
            *busiest = (double)busy / (double)all;
    }
    return (double)sum / (double)sysconf(_SC_CLK_TCK);
}
