/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpdk_eal.c - initialises DPDK's EAL once per process: without hugepages where there are none, and
 * without changing the CPU affinity of other threads.
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "dpdk.h"
#include "dpdk_pci.h"

#define WORDS_MAX 40

void dpdk_commas(char *text)
{
    for (; *text; text++)
        if (*text == ';')
            *text = ',';
}

/* Returns whether hugepages of any size are free. */
static int have_hugepages(void)
{
    unsigned long pages, all = 0;
    glob_t g;
    size_t i;

    if (glob("/sys/kernel/mm/hugepages/*/free_hugepages", 0, NULL, &g) != 0)
        return 0;
    for (i = 0; i < g.gl_pathc; i++) {
        FILE *f = fopen(g.gl_pathv[i], "re");

        if (f && fscanf(f, "%lu", &pages) == 1)
            all += pages;
        if (f)
            fclose(f);
    }
    globfree(&g);
    return all > 0;
}

/* Names one logical core for all of DPDK, on the CPUs on which this thread may run. */
static void name_core(const cpu_set_t *cpus, char *out, size_t size)
{
    unsigned cpu = 0;

    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, cpus))
        cpu++;
    snprintf(out, size, "0@%u", cpu);
}

static int begin(const char *port, char *words, const struct netio_err *err)
{
    /* Not constant, like the arguments of main(). Nothing is shared with other processes; without
     * hugepages the EAL rejects --in-memory, and --no-shconf has the same effect. */
    static char text[][24] = {"toehold",       "--no-telemetry",
                              "--log-level=4", "--lcores",
                              "--in-memory",   "--no-shconf",
                              "--no-huge",     "-m",
                              "128",           "-a",
                              "--no-pci",      "--vfio-intr=legacy"};
    char *const always[] = {text[0], text[1], text[2], text[3]};
    char *const small[] = {text[5], text[6], text[7], text[8]};
    char device[64], core[24], *argv[WORDS_MAX + 1], *rest = NULL, *word;
    cpu_set_t cpus;
    int argc = 0, rc;
    size_t i;

    CPU_ZERO(&cpus);
    (void)sched_getaffinity(0, sizeof(cpus), &cpus);
    name_core(&cpus, core, sizeof(core));
    for (; argc < (int)(sizeof(always) / sizeof(always[0])); argc++)
        argv[argc] = always[argc];
    argv[argc++] = core;
    if (strchr(port, ':')) {
        snprintf(device, sizeof(device), "%s", port);
        argv[argc++] = text[9];
        argv[argc++] = device;
        if (!dpdk_pci_has_msix(port)) /* the EAL takes MSI-X for the default (22.11) */
            argv[argc++] = text[11];
    } else {
        argv[argc++] = text[10];
    }
    if (have_hugepages())
        argv[argc++] = text[4];
    else
        for (i = 0; i < sizeof(small) / sizeof(small[0]); i++)
            argv[argc++] = small[i];
    for (word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (argc == WORDS_MAX) {
            netio_err_set(err, "dpdk: more than %d words for the EAL: give fewer", WORDS_MAX);
            return -1;
        }
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    rc = rte_eal_init(argc, argv);
    /* The EAL has bound this thread to its core, and threads created later would inherit that. */
    (void)sched_setaffinity(0, sizeof(cpus), &cpus);
    if (rc >= 0 || rte_errno == EALREADY) /* EALREADY: the program uses DPDK itself */
        return 0;
    netio_err_set(err, "dpdk: the EAL cannot be begun: %s (see its own message above)",
                  rte_strerror(rte_errno));
    return -1;
}

int dpdk_eal(const char *port, const char *words, const struct netio_err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char begun_with[SPEC_TEXT];
    static int begun;
    char copy[SPEC_TEXT];
    int rc = 0;

    snprintf(copy, sizeof(copy), "%s", words ? words : "");
    dpdk_commas(copy);
    pthread_mutex_lock(&lock);
    if (begun && words && strcmp(begun_with, copy) != 0) {
        netio_err_set(err,
                      "dpdk: eal=%s: the EAL was begun with '%s', and that is once in a process",
                      words, begun_with);
        rc = -1;
    } else if (!begun) {
        snprintf(begun_with, sizeof(begun_with), "%s", copy);
        rc = begin(port, copy, err);
        begun = rc == 0;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}
