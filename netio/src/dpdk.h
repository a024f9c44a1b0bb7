/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpdk.h - the interface between the files of the dpdk back end. dpdk_eal.c initialises the EAL
 * once per process, dpdk_port.c manages ports and their queues, dpdk.c moves frames.
 */
#ifndef TOE_NETIO_DPDK_H
#define TOE_NETIO_DPDK_H

#include <stdatomic.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "spec.h"

#define DPDK_QUEUES 64u
#define DPDK_FRAMES 4096u /* per queue, for both directions */

/* A port in use by this process; one struct for all its queues. */
struct dpdk_port {
    char name[64];
    uint64_t in_use;                   /* bit mask of queues */
    uint64_t tx_offloads, rx_offloads; /* as configured */
    struct rte_mempool *pool[DPDK_QUEUES];
    struct rte_eth_dev_info info;
    unsigned users; /* open queues; 0: the entry is free */
    uint32_t mtu;
    int ours; /* created by us: removed with its last user */
    int interrupts;
    int on_pci;
    int watched;        /* its removal is reported to `removed` */
    atomic_int removed; /* the device is being pulled out; set by DPDK's own thread */
    uint16_t id, queues, reta_size;
};

/* Initialises the EAL for this port, with these additional arguments (NULL: none). Of the machine's
 * PCI devices it touches only the port. Returns 0, or -1 and a sentence. */
int dpdk_eal(const char *port, const char *words, const struct netio_err *err);
/* Replaces ';' by ',' in place, in text for DPDK. */
void dpdk_commas(char *text);

struct dpdk_how {
    const char *args; /* of a virtual device created here, or "" */
    uint16_t queue, queues;
    uint32_t mtu; /* 0: as it is */
};

/* Takes a queue of a port. The first call for a port creates, configures and starts it. Returns
 * NULL with a sentence in err on failure. Any thread may call it. */
struct dpdk_port *dpdk_port_get(const char *name, const struct dpdk_how *how,
                                const struct netio_err *err);
void dpdk_port_put(struct dpdk_port *p, uint16_t queue);
/* Returns not 0 once the device has been removed, or the kernel waits for its release. Any thread
 * may call it. */
int dpdk_port_is_removed(struct dpdk_port *p);
/* Distributes flows over the queues, or sends all to the first. */
void dpdk_port_spread(struct dpdk_port *p, int on);

#endif
