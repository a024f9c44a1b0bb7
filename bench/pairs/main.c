/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - runs pairs (pairs.h), one on each given core, and prints their results as JSON:
 *
 *   pairs CPU[,CPU...] CONNECTIONS BYTES MILLISECONDS
 *
 * Exit code 1: a pair failed; 2: usage.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <toe/number.h>

#include "pairs.h"

#define PAIRS_MAX 64u

struct work {
    struct pair *pair;
    struct pair_run run;
    pthread_t thread;
};

static void *work(void *arg)
{
    struct work *w = arg;
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(w->run.cpu, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0)
        w->run.error = "cannot run on this core";
    pair_go(w->pair, &w->run); /* after an error it only lets the others begin */
    return NULL;
}

static int usage(void)
{
    fprintf(stderr, "usage: pairs CPU[,CPU...] CONNECTIONS BYTES MILLISECONDS\n"
                    "CONNECTIONS: 1..1024; BYTES: a power of two, 8..16384\n");
    return 2;
}

static int read_numbers(char **argv, struct pair_run *run, uint64_t *ms)
{
    uint64_t connections, bytes;

    if (!toe_number(argv[2], 1, 1024, &connections, NULL, 0) ||
        !toe_number(argv[3], 8, PAIR_BYTES_MAX, &bytes, NULL, 0) || (bytes & (bytes - 1)) ||
        !toe_number(argv[4], 1, UINT64_MAX / NS_PER_MS, ms, NULL, 0))
        return 0;
    run->connections = (uint32_t)connections;
    run->bytes = (uint32_t)bytes;
    return 1;
}

static int report(const struct work *w, unsigned n)
{
    unsigned i, failed = 0;

    for (i = 0; i < n; i++) {
        if (!w[i].run.error)
            continue;
        fprintf(stderr, "pairs: core %d: %s\n", w[i].run.cpu, w[i].run.error);
        failed++;
    }
    if (failed)
        return 1;
    printf("[");
    for (i = 0; i < n; i++)
        printf("%s{\"core\": %d, \"answered\": %llu, \"ns\": %llu, \"cpu_ns\": %llu}",
               i ? ", " : "", w[i].run.cpu, (unsigned long long)w[i].run.answered,
               (unsigned long long)w[i].run.ns, (unsigned long long)w[i].run.cpu_ns);
    printf("]\n");
    return 0;
}

int main(int argc, char **argv)
{
    static struct work w[PAIRS_MAX];
    static struct pairs_start start;
    struct pair_run run = {.start = &start};
    char folder[] = "/tmp/toe-pairs-XXXXXX", *core;
    uint64_t ms;
    unsigned n = 0, i;
    int code;

    if (argc != 5 || !read_numbers(argv, &run, &ms))
        return usage();
    run.time = ms * NS_PER_MS;
    for (core = strtok(argv[1], ","); core && n < PAIRS_MAX; core = strtok(NULL, ","), n++) {
        uint64_t cpu;

        if (!toe_number(core, 0, CPU_SETSIZE - 1, &cpu, NULL, 0))
            return usage();
        w[n].run = run;
        w[n].run.cpu = (int)cpu;
    }
    if (!mkdtemp(folder)) {
        perror("pairs: mkdtemp");
        return 1;
    }
    for (i = 0; i < n; i++) {
        if (!(w[i].pair = pair_new(folder, i, &w[i].run)))
            return 1;
    }
    atomic_store(&start.cold, n);
    for (i = 0; i < n; i++) {
        if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0)
            return 1;
    }
    for (i = 0; i < n; i++)
        pthread_join(w[i].thread, NULL);
    code = report(w, n);
    for (i = 0; i < n; i++)
        pair_free(w[i].pair);
    rmdir(folder);
    return code;
}
