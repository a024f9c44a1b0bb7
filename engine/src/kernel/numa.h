/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa.h - allocates memory on the NUMA node of the core that uses it (SEEDS S4.5), by system
 * calls. No effect on a machine with one node.
 */
#ifndef ENGINE_NUMA_H
#define ENGINE_NUMA_H

#include <stddef.h>
#include <stdint.h>

#define NUMA_ANY  (-1) /* a single node, or unknown */
#define NUMA_SYS  "/sys/devices/system"
#define NUMA_BITS 1024

/* The saved memory policy of a thread. mode -1: it was not changed. */
struct numa_policy {
    int mode;
    unsigned long nodes[NUMA_BITS / 8 / sizeof(unsigned long)];
};

/* Returns the node of a CPU, or NUMA_ANY. sys: NUMA_SYS, or a test's replacement for it. */
int numa_node_of(const char *sys, uint32_t cpu);

/* Places memory that this thread touches first on this node, while it has free memory, until
 * numa_restore(). Returns 0 or an errno. No effect with NUMA_ANY. */
int numa_prefer(int node, struct numa_policy *was);
void numa_restore(const struct numa_policy *was);

/* Places the n bytes at p (whole pages) on the node, whichever thread touches them first. Pages
 * already touched are moved, unless other processes use them too. */
int numa_place(void *p, size_t n, int node);

#endif
