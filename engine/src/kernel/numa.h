/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa.h - memory near the core that uses it (SEEDS S4.5), by the kernel's own calls. A machine of
 * one node has nothing to choose: nothing is done then.
 */
#ifndef ENGINE_NUMA_H
#define ENGINE_NUMA_H

#include <stddef.h>
#include <stdint.h>

#define NUMA_ANY  (-1) /* one node, or not known which */
#define NUMA_SYS  "/sys/devices/system"
#define NUMA_BITS 1024

/* The policy of a thread, kept to be put back. mode -1: none was changed. */
struct numa_policy {
    int mode;
    unsigned long nodes[NUMA_BITS / 8 / sizeof(unsigned long)];
};

/* The node of a CPU, or NUMA_ANY; sys: NUMA_SYS, or what a test has in its stead. */
int numa_node_of(const char *sys, uint32_t cpu);

/* Memory that this thread touches first from now on is of this node, as long as it has any, until
 * numa_restore(). Returns 0 or an errno; with NUMA_ANY nothing is done. */
int numa_prefer(int node, struct numa_policy *was);
void numa_restore(const struct numa_policy *was);

/* The same for n bytes at p, whole pages, whoever touches them; those touched already move, if they
 * are nobody else's. */
int numa_place(void *p, size_t n, int node);

#endif
