/* SPDX-License-Identifier: Apache-2.0 */
/* numa.c - see numa.h. Uses set_mempolicy(2) and mbind(2), which the C library has no functions
 * for. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numa.h"

#define BITS_PER_WORD (8 * sizeof(unsigned long))

/* Finds the entries nodeN of a directory: stores an N in *node and returns their count. */
static int find_node(const char *folder, int *node)
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    int n = 0;

    while (d && (entry = readdir(d)))
        if (sscanf(entry->d_name, "node%d", node) == 1)
            n++;
    if (d)
        closedir(d);
    return n;
}

int numa_node_of(const char *sys, uint32_t cpu)
{
    char folder[256];
    int node = NUMA_ANY;

    snprintf(folder, sizeof(folder), "%s/node", sys);
    if (find_node(folder, &node) < 2)
        return NUMA_ANY;
    snprintf(folder, sizeof(folder), "%s/cpu/cpu%u", sys, cpu);
    return find_node(folder, &node) == 1 && node < NUMA_BITS ? node : NUMA_ANY;
}

static void only(unsigned long *nodes, int node)
{
    memset(nodes, 0, NUMA_BITS / 8);
    nodes[(unsigned)node / BITS_PER_WORD] = 1ul << (unsigned)node % BITS_PER_WORD;
}

int numa_prefer(int node, struct numa_policy *was)
{
    unsigned long nodes[NUMA_BITS / BITS_PER_WORD];

    was->mode = -1;
    if (node == NUMA_ANY)
        return 0;
    only(nodes, node);
    if (syscall(SYS_get_mempolicy, &was->mode, was->nodes, NUMA_BITS + 1, NULL, 0) != 0 ||
        syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes, NUMA_BITS + 1) != 0) {
        was->mode = -1;
        return errno;
    }
    return 0;
}

void numa_restore(const struct numa_policy *was)
{
    if (was->mode != -1)
        syscall(SYS_set_mempolicy, was->mode, was->nodes, NUMA_BITS + 1);
}

int numa_place(void *p, size_t n, int node)
{
    unsigned long nodes[NUMA_BITS / BITS_PER_WORD];

    if (node == NUMA_ANY)
        return 0;
    only(nodes, node);
    return syscall(SYS_mbind, p, n, MPOL_PREFERRED, nodes, NUMA_BITS + 1, MPOL_MF_MOVE) == 0
               ? 0
               : errno;
}
