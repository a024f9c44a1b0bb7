/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpdk.h - what the files of the dpdk back end share: the EAL, begun once in a process
 * (dpdk_eal.c), and ports with their queues (dpdk_port.c); dpdk.c moves frames.
 */
#ifndef TOE_NETIO_DPDK_H
#define TOE_NETIO_DPDK_H

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "spec.h"

#define DPDK_QUEUES 64u
#define DPDK_FRAMES 4096u /* of a queue, in both directions */

/* A port in use by this process; one struct for all its queues. */
struct dpdk_port {
    char name[64];
    uint64_t in_use;                   /* which queues */
    uint64_t tx_offloads, rx_offloads; /* as configured */
    struct rte_mempool *pool[DPDK_QUEUES];
    struct rte_eth_dev_info info;
    unsigned users; /* open queues; 0: the entry is free */
    uint32_t mtu;
    int ours; /* made by us: goes with its last user */
    int interrupts;
    uint16_t id, queues, reta_size;
};

/* Begins the EAL for this port, with these words more (NULL: none). Only what is named is touched:
 * of the machine's PCI devices none but the port. Returns 0, or -1 and a sentence. */
int dpdk_eal(const char *port, const char *words, const struct netio_err *err);
/* In place: ';' stands for ',' in what DPDK is told. */
void dpdk_commas(char *text);

struct dpdk_how {
    const char *args; /* of a virtual device made here, or "" */
    uint16_t queue, queues;
    uint32_t mtu; /* 0: as it is */
};

/* Takes a queue of a port, which is made, configured and started for the first. NULL: a sentence is
 * in err. Any thread. */
struct dpdk_port *dpdk_port_get(const char *name, const struct dpdk_how *how,
                                const struct netio_err *err);
void dpdk_port_put(struct dpdk_port *p, uint16_t queue);
/* Spreads flows over the queues, or gives all to the first. */
void dpdk_port_spread(struct dpdk_port *p, int on);

#endif
