/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpdk_port.c - manages ports of DPDK: finds or creates them, configures all queues at once, starts
 * them, and closes them with their last user.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_pause.h>

#include "dpdk.h"
#include "dpdk_pci.h"

#define PORTS       16u
#define DESCRIPTORS 512u
#define DATA_ROOM   2048u
#define RETA_MAX    512u

#define TX_CSUM (RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM)
#define TX_WANT (TX_CSUM | RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS)
#define RX_WANT                                                                                    \
    (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM | RTE_ETH_RX_OFFLOAD_SCATTER |   \
     RTE_ETH_RX_OFFLOAD_RSS_HASH)
#define RSS_WANT                                                                                   \
    (RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV4 |              \
     RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_TCP | RTE_ETH_RSS_IP)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dpdk_port ports[PORTS];

/* Sets the symmetric key of toec_rss_hash(): 0x6d5a repeated. */
static void set_key(struct rte_eth_rss_conf *rss, uint8_t *key, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++)
        key[i] = i & 1 ? 0x5a : 0x6d;
    rss->rss_key = key;
    rss->rss_key_len = (uint8_t)len;
}

static int fail(const struct dpdk_port *p, const char *what, int rc, const struct netio_err *err)
{
    netio_err_set(err, "dpdk: %s: %s: %s", p->name, what, rte_strerror(rc < 0 ? -rc : rc));
    return -1;
}

/* Finds the port of that name. Creates it when it is a virtual device that does not exist. */
static int find(struct dpdk_port *p, const char *args, const struct netio_err *err)
{
    char text[SPEC_TEXT];
    int rc;

    if (rte_eth_dev_get_port_by_name(p->name, &p->id) == 0) {
        if (*args) {
            netio_err_set(err, "dpdk: %s is there already: args= is for devices that are made here",
                          p->name);
            return -1;
        }
        p->ours = 0;
        return 0;
    }
    snprintf(text, sizeof(text), "%s%s%s", p->name, *args ? "," : "", args);
    rc = rte_dev_probe(text);
    if (rc != 0) {
        netio_err_set(err,
                      "dpdk: there is no port %s, and it cannot be made: %s (virtual ones: "
                      "net_tap0, net_af_packet0, net_memif0, ..., with args=)",
                      p->name, rte_strerror(-rc));
        return -1;
    }
    p->ours = 1;
    rc = rte_eth_dev_get_port_by_name(p->name, &p->id);
    return rc ? fail(p, "a device without a port of that name", rc, err) : 0;
}

/*
 * Returns whether queues can have interrupts of their own. On PCI that takes MSI-X. Drivers without
 * it (net_e1000_em) configure them nevertheless, and none arrives. A virtual device decides itself.
 */
static int can_interrupt(const struct dpdk_port *p)
{
    return !p->on_pci || dpdk_pci_has_msix(rte_dev_name(p->info.device));
}

static int configure(struct dpdk_port *p, const struct netio_err *err)
{
    struct rte_eth_conf conf;
    uint8_t key[64];
    int rc;

    memset(&conf, 0, sizeof(conf));
    p->tx_offloads = conf.txmode.offloads = TX_WANT & p->info.tx_offload_capa;
    conf.rxmode.offloads = RX_WANT & p->info.rx_offload_capa;
    p->interrupts = conf.intr_conf.rxq = can_interrupt(p) ? 1 : 0;
    if (p->queues > 1 && p->info.flow_type_rss_offloads) {
        conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
        conf.rx_adv_conf.rss_conf.rss_hf = RSS_WANT & p->info.flow_type_rss_offloads;
        if (p->info.hash_key_size && p->info.hash_key_size <= sizeof(key))
            set_key(&conf.rx_adv_conf.rss_conf, key, p->info.hash_key_size);
    } else {
        conf.rxmode.offloads &= ~RTE_ETH_RX_OFFLOAD_RSS_HASH;
    }
    p->rx_offloads = conf.rxmode.offloads; /* a queue must not have others */
    rc = rte_eth_dev_configure(p->id, p->queues, p->queues, &conf);
    if (rc != 0 && p->interrupts) { /* most drivers without them fail here, some at the start */
        p->interrupts = conf.intr_conf.rxq = 0;
        rc = rte_eth_dev_configure(p->id, p->queues, p->queues, &conf);
    }
    if (rc != 0)
        return fail(p, "cannot be configured", rc, err);
    return 0;
}

/* Sets the requested MTU, or keeps the port's. net_tap keeps its own: its segmentation (22.11)
 * counts the Ethernet header as part of the MTU and would reject full segments forever. */
static int set_mtu(struct dpdk_port *p, uint32_t asked, const struct netio_err *err)
{
    int is_tap = strcmp(p->info.driver_name, "net_tap") == 0;
    uint16_t mtu;
    int rc = asked && !is_tap ? rte_eth_dev_set_mtu(p->id, (uint16_t)asked) : 0;

    if (rc != 0)
        return fail(p, "does not take that mtu=", rc, err);
    rc = rte_eth_dev_get_mtu(p->id, &mtu);
    if (rc != 0)
        return fail(p, "does not report its MTU", rc, err);
    if (asked > mtu)
        return fail(p, "does not take that mtu=", EINVAL, err);
    p->mtu = asked ? asked : mtu;
    if (is_tap && p->mtu + ETH_HEADER > mtu)
        p->tx_offloads &= ~RTE_ETH_TX_OFFLOAD_TCP_TSO;
    return 0;
}

static int set_up_queue(struct dpdk_port *p, uint16_t q, const struct netio_err *err)
{
    uint32_t room = (p->mtu + ETH_TAGGED + DATA_ROOM - 1) / DATA_ROOM * DATA_ROOM;
    struct rte_eth_txconf txconf = p->info.default_txconf;
    struct rte_eth_rxconf rxconf = p->info.default_rxconf;
    uint16_t rx = DESCRIPTORS, tx = DESCRIPTORS;
    int socket = rte_eth_dev_socket_id(p->id), rc;
    char name[RTE_MEMPOOL_NAMESIZE];

    snprintf(name, sizeof(name), "toe%u_%u", p->id, q);
    p->pool[q] = rte_mempool_lookup(name); /* of a port that is not ours and was used before */
    if (!p->pool[q])
        p->pool[q] = rte_pktmbuf_pool_create(name, DPDK_FRAMES, 256, 0,
                                             (uint16_t)(RTE_PKTMBUF_HEADROOM + room), socket);
    if (!p->pool[q])
        return fail(p, "no memory for frames (with eal=, -m MEGABYTES gives more)", rte_errno, err);
    (void)rte_eth_dev_adjust_nb_rx_tx_desc(p->id, &rx, &tx);
    txconf.offloads = p->tx_offloads;
    rxconf.offloads = p->rx_offloads;
    rc = rte_eth_rx_queue_setup(p->id, q, rx, (unsigned)socket, &rxconf, p->pool[q]);
    if (rc == 0)
        rc = rte_eth_tx_queue_setup(p->id, q, tx, (unsigned)socket, &txconf);
    return rc ? fail(p, "cannot set up its queues", rc, err) : 0;
}

void dpdk_port_spread(struct dpdk_port *p, int on)
{
    struct rte_eth_rss_reta_entry64 reta[RETA_MAX / RTE_ETH_RETA_GROUP_SIZE];
    uint16_t i;

    if (!p->reta_size || p->reta_size > RETA_MAX)
        return;
    memset(reta, 0, sizeof(reta));
    for (i = 0; i < p->reta_size; i++) {
        reta[i / RTE_ETH_RETA_GROUP_SIZE].mask |= UINT64_C(1) << i % RTE_ETH_RETA_GROUP_SIZE;
        reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] =
            on ? (uint16_t)(i % p->queues) : 0;
    }
    (void)rte_eth_dev_rss_reta_update(p->id, reta, p->reta_size);
}

/* Finds out whether the redirection table can be written. */
static void look_for_reta(struct dpdk_port *p)
{
    p->reta_size = p->queues > 1 ? p->info.reta_size : 0;
    dpdk_port_spread(p, 1);
}

/* Runs in DPDK's own thread. With vfio-pci the kernel waits for the release of the device, which
 * must not happen here. */
static void on_device_event(const char *name, enum rte_dev_event_type event, void *arg)
{
    struct dpdk_port *p = arg;

    (void)name;
    if (event == RTE_DEV_EVENT_REMOVE)
        atomic_store(&p->removed, 1);
}

static void watch_removal(struct dpdk_port *p)
{
    if (p->info.device)
        p->watched =
            rte_dev_event_callback_register(rte_dev_name(p->info.device), on_device_event, p) == 0;
}

static void unwatch_removal(struct dpdk_port *p)
{
    /* -EAGAIN: DPDK's thread is in the callback */
    while (rte_dev_event_callback_unregister(rte_dev_name(p->info.device), on_device_event, p) ==
           -EAGAIN)
        rte_pause();
}

/* Bound to a kernel's driver, a device reports its removal by its own driver of DPDK. */
int dpdk_port_is_removed(struct dpdk_port *p)
{
    return atomic_load(&p->removed) || rte_eth_dev_is_removed(p->id) == 1;
}

static int bring_up(struct dpdk_port *p, const char *args, uint32_t mtu,
                    const struct netio_err *err)
{
    uint16_t q;
    int rc;

    if (find(p, args, err))
        return -1;
    rc = rte_eth_dev_info_get(p->id, &p->info);
    if (rc != 0)
        return fail(p, "cannot be asked about", rc, err);
    p->on_pci = p->info.device && strchr(rte_dev_name(p->info.device), ':') != NULL;
    if (p->queues > p->info.max_rx_queues || p->queues > p->info.max_tx_queues) {
        netio_err_set(err, "dpdk: %s: queues=%u: it has %u to receive and %u to send", p->name,
                      p->queues, p->info.max_rx_queues, p->info.max_tx_queues);
        return -1;
    }
    if (configure(p, err) || set_mtu(p, mtu, err))
        return -1;
    for (q = 0; q < p->queues; q++)
        if (set_up_queue(p, q, err))
            return -1;
    rc = rte_eth_dev_start(p->id);
    if (rc != 0)
        return fail(p, "cannot be started", rc, err);
    (void)rte_eth_allmulticast_enable(p->id); /* IPv6 needs some; not all drivers filter */
    look_for_reta(p);
    watch_removal(p);
    return 0;
}

static void take_down(struct dpdk_port *p)
{
    struct rte_device *dev = p->info.device;
    uint16_t q;

    if (p->watched)
        unwatch_removal(p);
    if (p->info.device) {
        (void)rte_eth_dev_stop(p->id);
        if (p->ours) {
            (void)rte_eth_dev_close(p->id);
            (void)rte_dev_remove(dev);
        }
    }
    for (q = 0; q < p->queues; q++)
        if (p->ours) /* if not ours, its queues still hold frames */
            rte_mempool_free(p->pool[q]);
    memset(p, 0, sizeof(*p));
}

static struct dpdk_port *entry(const char *name)
{
    struct dpdk_port *free_one = NULL;
    unsigned i;

    for (i = 0; i < PORTS; i++) {
        if (ports[i].users && strcmp(ports[i].name, name) == 0)
            return &ports[i];
        if (!ports[i].users && !free_one)
            free_one = &ports[i];
    }
    return free_one;
}

static struct dpdk_port *get(const char *name, const struct dpdk_how *how,
                             const struct netio_err *err)
{
    struct dpdk_port *p = entry(name);
    unsigned queue = how->queue, queues = how->queues;

    if (!p || strlen(name) >= sizeof(p->name)) {
        netio_err_set(err, "dpdk: '%s': more than %u ports, or too long a name", name, PORTS);
        return NULL;
    }
    if (!p->users) {
        memset(p, 0, sizeof(*p));
        memcpy(p->name, name, strlen(name) + 1);
        p->queues = how->queues;
        if (bring_up(p, how->args, how->mtu, err)) {
            take_down(p);
            return NULL;
        }
    } else if (p->queues != queues) {
        netio_err_set(err, "dpdk: %s: queues=%u: it is in use with %u", name, queues, p->queues);
        return NULL;
    }
    if (queue >= p->queues || p->in_use >> queue & 1) {
        netio_err_set(err,
                      queue < p->queues ? "dpdk: %s: queue %u is in use already"
                                        : "dpdk: %s has no queue %u: give it more by queues=N",
                      name, queue);
        return NULL;
    }
    p->in_use |= UINT64_C(1) << queue;
    p->users++;
    return p;
}

struct dpdk_port *dpdk_port_get(const char *name, const struct dpdk_how *how,
                                const struct netio_err *err)
{
    struct dpdk_port *p;

    pthread_mutex_lock(&lock);
    p = get(name, how, err);
    pthread_mutex_unlock(&lock);
    return p;
}

void dpdk_port_put(struct dpdk_port *p, uint16_t queue)
{
    pthread_mutex_lock(&lock);
    p->in_use &= ~(UINT64_C(1) << queue);
    if (--p->users == 0)
        take_down(p);
    pthread_mutex_unlock(&lock);
}
