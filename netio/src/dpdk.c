/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpdk.c - sends and receives packets with any DPDK driver.
 *
 * dpdk:PORT[,queue=N][,queues=N][,mtu=N][,args=WORDS][,eal=WORDS]
 *
 * A frame is an mbuf, in both directions. If the driver has receive interrupts, netio_fd() is their
 * descriptor; without them the caller must poll. A driver of a PCI device may offer interrupts that
 * never arrive (net_e1000_em on an 82574): until the first one netio_next_event() requests polls.
 * In args (of a virtual device created here) and eal a semicolon is written for a comma; words of
 * eal are separated by blanks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ip.h>
#include <rte_lcore.h>

#include "big.h"
#include "dpdk.h"
#include "dpdk_module.h"
#include "partial.h"

#define BURST    64u
#define HOLD_MAX (DPDK_FRAMES / 4)
#define TSO_SEGS 34u     /* segments of a frame of BIG_PAYLOAD, one for the header */
#define RETRY_NS 100000u /* delay until a full queue may have room again */
#define POLL_NS  200000u /* between polls until the first interrupt */

struct dpdk {
    struct netio n;
    struct dpdk_port *port;
    uint16_t queue;
    int registered;             /* the thread that uses it is registered with DPDK */
    int event_fd;               /* n.fd counts events and must be read */
    int awaited;                /* no interrupt has arrived yet */
    struct pool big;            /* frames received in several segments, joined */
    struct rte_mbuf *tx[BURST]; /* submitted, not yet taken by the driver */
    unsigned tx_count;
    struct rte_mbuf *early; /* arrived while preparing to sleep */
    uint32_t held;          /* mbufs of netio_rx_hold() */
    uint32_t tx_flags;      /* of frames to fill */
    uint64_t last_ns;
};

static struct dpdk *self(struct netio *n)
{
    return (struct dpdk *)n;
}

/* Registers the thread: DPDK's mempool cache is per registered thread. */
static void know_thread(struct dpdk *d)
{
    d->registered = 1;
    if (rte_lcore_id() == LCORE_ID_ANY)
        (void)rte_thread_register();
}

/* Joins a frame of several segments in one buffer. Frees the mbuf. Returns -1 when the frame was
 * dropped and counted. */
static int join_pieces(struct dpdk *d, struct rte_mbuf *m, struct netio_frame *f)
{
    uint32_t at = 0;
    struct rte_mbuf *s;

    if (m->pkt_len > BIG_SIZE || big_get(&d->big, &f->token, &f->data)) {
        rte_pktmbuf_free(m);
        d->n.stats.rx_dropped++;
        return -1;
    }
    for (s = m; s; s = s->next) {
        memcpy(f->data + at, rte_pktmbuf_mtod(s, const uint8_t *), s->data_len);
        at += s->data_len;
    }
    f->cap = BIG_SIZE;
    rte_pktmbuf_free(m);
    return 0;
}

static int get_bytes(struct dpdk *d, struct rte_mbuf *m, struct netio_frame *f)
{
    if (m->nb_segs > 1)
        return join_pieces(d, m, f);
    f->data = rte_pktmbuf_mtod(m, uint8_t *);
    f->cap = m->data_len;
    f->token = (uintptr_t)m;
    return 0;
}

static int take(struct dpdk *d, struct rte_mbuf *m, struct netio_frame *f)
{
    uint64_t l4 = m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
    struct partial p;

    memset(f, 0, sizeof(*f));
    f->len = m->pkt_len;
    d->n.stats.rx_frames++;
    d->n.stats.rx_bytes += f->len;
    if (get_bytes(d, m, f))
        return -1;
    /* NONE: not in the frame, but guaranteed to be right (virtio) */
    if ((d->n.features & NETIO_O_RX_CSUM) &&
        (l4 == RTE_MBUF_F_RX_L4_CKSUM_GOOD || l4 == RTE_MBUF_F_RX_L4_CKSUM_NONE))
        f->flags = NETIO_F_L4_CSUM_OK;
    if (l4 == RTE_MBUF_F_RX_L4_CKSUM_NONE && !(d->n.features & NETIO_O_PARTIAL) &&
        partial_find(f->data, f->len, &p))
        partial_complete(f->data, &p);
    return 0;
}

static unsigned dpdk_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns)
{
    struct dpdk *d = self(n);
    struct rte_mbuf *m[BURST];
    unsigned got = 0, count = 0, i;

    d->last_ns = now_ns;
    if (!d->registered)
        know_thread(d);
    if (max > BURST)
        max = BURST;
    if (d->early && max) {
        m[got++] = d->early;
        d->early = NULL;
    }
    got += rte_eth_rx_burst(d->port->id, d->queue, m + got, (uint16_t)(max - got));
    for (i = 0; i < got; i++)
        count += take(d, m[i], &frames[count]) == 0;
    return count;
}

static void dpdk_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    struct dpdk *d = self(n);
    unsigned i;

    for (i = 0; i < count; i++) {
        if (frames[i].token & BIG_TOKEN)
            big_put(&d->big, &d->big, frames[i].token);
        else
            rte_pktmbuf_free((struct rte_mbuf *)frames[i].token);
    }
}

/* Does not hold mbufs of other pools, as a driver that forwards them delivers (net_ring): how many
 * those can spare is not known. */
static int dpdk_rx_hold(struct netio *n, const struct netio_frame *frame)
{
    const struct rte_mbuf *m = (const struct rte_mbuf *)frame->token;
    struct dpdk *d = self(n);

    if ((frame->token & BIG_TOKEN) || m->pool != d->port->pool[d->queue] ||
        d->held >= d->n.info.hold_max)
        return -1;
    d->held++;
    return 0;
}

static void dpdk_rx_unhold(struct netio *n, uintptr_t token)
{
    self(n)->held--;
    rte_pktmbuf_free((struct rte_mbuf *)token);
}

/* Passes the waiting frames to the driver. */
static void push(struct dpdk *d)
{
    uint16_t ready, sent;

    ready = rte_eth_tx_prepare(d->port->id, d->queue, d->tx, (uint16_t)d->tx_count);
    sent = rte_eth_tx_burst(d->port->id, d->queue, d->tx, ready);
    if (ready < d->tx_count && sent == ready) { /* the driver will never accept this frame */
        rte_pktmbuf_free(d->tx[ready]);
        d->n.stats.tx_dropped++;
        sent++;
    }
    d->tx_count -= sent;
    memmove(d->tx, d->tx + sent, d->tx_count * sizeof(d->tx[0]));
}

static void dpdk_tx_flush(struct netio *n, uint64_t now_ns)
{
    struct dpdk *d = self(n);

    (void)now_ns;
    if (!d->registered)
        know_thread(d);
    if (d->tx_count)
        push(d);
}

static int dpdk_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    struct dpdk *d = self(n);
    struct rte_mbuf *m;

    if (d->tx_count == BURST) {
        push(d);
        if (d->tx_count == BURST)
            return -1;
    }
    m = rte_pktmbuf_alloc(d->port->pool[d->queue]);
    if (!m)
        return -1;
    *frame = (struct netio_frame){
        .data = rte_pktmbuf_mtod(m, uint8_t *),
        .cap = rte_pktmbuf_tailroom(m),
        .flags = d->tx_flags,
        .token = (uintptr_t)m,
    };
    return 0;
}

/* Copies the bytes after the header into further mbufs and chains them to it. */
static int append(struct dpdk *d, struct rte_mbuf *head, const struct netio_frame *f)
{
    struct rte_mbuf *last = head;
    uint32_t i;

    for (i = 0; i < f->ref_count; i++) {
        const uint8_t *from = f->refs[i].data;
        uint32_t left = f->refs[i].len, n;

        for (; left; left -= n, from += n) {
            if (rte_pktmbuf_tailroom(last) == 0 || last == head) {
                struct rte_mbuf *m = rte_pktmbuf_alloc(d->port->pool[d->queue]);

                if (!m)
                    return -1;
                last = last->next = m;
                head->nb_segs++;
            }
            n = left < rte_pktmbuf_tailroom(last) ? left : rte_pktmbuf_tailroom(last);
            memcpy(rte_pktmbuf_mtod_offset(last, uint8_t *, last->data_len), from, n);
            last->data_len = (uint16_t)(last->data_len + n);
            head->pkt_len += n;
        }
    }
    return 0;
}

/* Sets DPDK's flags for the offloads. For TSO the pseudo-header's sum must not include the length.
 */
static void leave(struct rte_mbuf *m, const struct netio_frame *f)
{
    uint8_t *word = f->data + f->csum_start + f->csum_offset;
    uint32_t l2 = frame_ip_at(f);
    int ip4 = frame_is_ip4(f);
    uint16_t sum, len;
    uint32_t x;

    m->l2_len = l2;
    m->l3_len = f->csum_start - l2;
    m->ol_flags |= RTE_MBUF_F_TX_TCP_CKSUM | (ip4 ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6);
    if (!(f->flags & NETIO_F_TSO))
        return;
    m->l4_len = f->hdr_len - f->csum_start;
    m->tso_segsz = f->gso_size;
    m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | (ip4 ? RTE_MBUF_F_TX_IP_CKSUM : 0);
    if (ip4)
        memset(f->data + l2 + 10, 0, 2);
    memcpy(&sum, word, 2);
    len = rte_cpu_to_be_16((uint16_t)(m->pkt_len - f->csum_start));
    x = (uint32_t)sum + (uint16_t)~len;
    sum = (uint16_t)((x & 0xffff) + (x >> 16));
    memcpy(word, &sum, 2);
}

static void dpdk_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    struct dpdk *d = self(n);
    struct rte_mbuf *m = (struct rte_mbuf *)frame->token;

    (void)now_ns;
    m->data_len = (uint16_t)frame->len;
    m->pkt_len = frame->len;
    if (frame->ref_count && append(d, m, frame)) {
        rte_pktmbuf_free(m);
        n->stats.tx_dropped++;
        return;
    }
    if (frame->flags & NETIO_F_CSUM_PARTIAL)
        leave(m, frame);
    d->tx[d->tx_count++] = m;
    n->stats.tx_frames++;
    n->stats.tx_bytes += m->pkt_len;
}

static void dpdk_tx_cancel(struct netio *n, const struct netio_frame *frame)
{
    (void)n;
    rte_pktmbuf_free((struct rte_mbuf *)frame->token);
}

static void set_mode(struct dpdk *d)
{
    const struct dpdk_port *p = d->port;
    const char *how = d->n.fd < 0 ? ", polled" : d->awaited ? ", polled until an interrupt" : "";

    snprintf(d->n.mode, sizeof(d->n.mode), "dpdk %s by %s%s", p->name, p->info.driver_name, how);
}

/* Arms the interrupt, which signals later arrivals, and then polls once more for earlier ones. */
static int dpdk_prepare_sleep(struct netio *n)
{
    struct dpdk *d = self(n);
    uint64_t events;

    if (!d->registered)
        know_thread(d);
    if (d->event_fd && read(n->fd, &events, sizeof(events)) > 0 && d->awaited) {
        d->awaited = 0;
        set_mode(d);
    }
    if (n->fd >= 0)
        (void)rte_eth_dev_rx_intr_enable(d->port->id, d->queue);
    if (!d->early && rte_eth_rx_burst(d->port->id, d->queue, &d->early, 1) == 0)
        d->early = NULL;
    return d->early != NULL;
}

static uint64_t dpdk_next_event(const struct netio *n)
{
    const struct dpdk *d = (const struct dpdk *)n;

    if (d->tx_count)
        return d->last_ns + RETRY_NS;
    return d->awaited ? d->last_ns + POLL_NS : UINT64_MAX;
}

static void dpdk_set_features(struct netio *n)
{
    struct dpdk *d = self(n);

    d->tx_flags = (n->features & NETIO_O_TX_CSUM ? NETIO_F_CSUM_PARTIAL : 0) |
                  (n->features & NETIO_O_SG ? NETIO_F_SG : 0) |
                  (n->features & NETIO_O_TSO ? NETIO_F_TSO : 0);
    if ((n->info.offered & NETIO_O_RSS) && d->queue == 0)
        dpdk_port_spread(d->port, (n->features & NETIO_O_RSS) != 0);
}

static void dpdk_add_stats(const struct netio *n, struct netio_stats *out)
{
    const struct dpdk *d = (const struct dpdk *)n;
    struct rte_eth_stats s;

    if (d->queue == 0 && rte_eth_stats_get(d->port->id, &s) == 0) { /* of the whole port */
        out->rx_dropped += s.imissed + s.rx_nombuf;
        out->tx_dropped += s.oerrors;
    }
}

static int dpdk_tend(struct netio *n, const struct netio_err *text)
{
    struct dpdk_port *p = self(n)->port;

    if (!dpdk_port_is_removed(p))
        return 0;
    netio_err_set(text, "the interface is gone: the device %s was removed", p->name);
    return -1;
}

static void dpdk_close(struct netio *n)
{
    struct dpdk *d = self(n);

    if (d->early)
        rte_pktmbuf_free(d->early);
    while (d->tx_count)
        rte_pktmbuf_free(d->tx[--d->tx_count]);
    if (d->port)
        dpdk_port_put(d->port, d->queue);
    pool_free(&d->big);
    free(d);
}

static const struct netio_ops ops = {
    .close = dpdk_close,
    .rx = dpdk_rx,
    .rx_release = dpdk_rx_release,
    .rx_hold = dpdk_rx_hold,
    .rx_unhold = dpdk_rx_unhold,
    .tx_alloc = dpdk_tx_alloc,
    .tx_submit = dpdk_tx_submit,
    .tx_cancel = dpdk_tx_cancel,
    .tx_flush = dpdk_tx_flush,
    .prepare_sleep = dpdk_prepare_sleep,
    .next_event = dpdk_next_event,
    .tend = dpdk_tend,
    .add_stats = dpdk_add_stats,
    .set_features = dpdk_set_features,
};

static uint32_t offered(const struct dpdk_port *p)
{
    /* leave() requests the checksum of the IPv4 header with TSO */
    uint64_t tso = RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
    uint32_t o = 0, segs = p->info.tx_desc_lim.nb_seg_max;

    if (p->rx_offloads & RTE_ETH_RX_OFFLOAD_TCP_CKSUM)
        o |= NETIO_O_RX_CSUM | NETIO_O_PARTIAL;
    if (p->tx_offloads & RTE_ETH_TX_OFFLOAD_TCP_CKSUM)
        o |= NETIO_O_TX_CSUM;
    if (p->tx_offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS)
        o |= NETIO_O_SG;
    if ((p->tx_offloads & tso) == tso && (o & NETIO_O_TX_CSUM) && (o & NETIO_O_SG) &&
        (segs == 0 || segs >= TSO_SEGS))
        o |= NETIO_O_TSO;
    if (p->reta_size)
        o |= NETIO_O_RSS;
    return o;
}

/* A TAP device of DPDK uses the port's MAC address on the kernel's side too, so the TOE uses
 * another one. */
static void make_mac(const struct dpdk_port *p, uint8_t mac[6])
{
    if (strcmp(p->info.driver_name, "net_tap") != 0)
        return;
    mac[0] = (uint8_t)((mac[0] | 0x02) & ~0x01);
    mac[3] ^= 0x54;
    mac[4] ^= 0x4f;
    mac[5] ^= 0x45;
}

static int counts_events(int fd)
{
    char name[40], text[32];
    ssize_t n;

    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    n = readlink(name, text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    return strcmp(text, "anon_inode:[eventfd]") == 0;
}

static void describe(struct dpdk *d)
{
    struct rte_ether_addr mac;
    const struct dpdk_port *p = d->port;

    if (rte_eth_macaddr_get(p->id, &mac) == 0)
        memcpy(d->n.info.mac, mac.addr_bytes, 6);
    make_mac(p, d->n.info.mac);
    d->n.info.mtu = p->mtu;
    d->n.info.queues = p->queues;
    d->n.info.offered = offered(p);
    d->n.info.tso_max = BIG_PAYLOAD;
    d->n.info.hold_max = HOLD_MAX;
    d->n.info.tended = 1;
    if (p->interrupts)
        d->n.fd = rte_eth_dev_rx_intr_ctl_q_get_fd(p->id, d->queue);
    if (d->n.fd < 0)
        d->n.fd = -1;
    d->event_fd = d->n.fd >= 0 && counts_events(d->n.fd);
    d->awaited = d->event_fd && p->on_pci;
    set_mode(d);
}

static struct netio *open_port(const char *args, const struct netio_config *cfg,
                               const struct netio_err *err)
{
    uint64_t queue, queues, mtu;
    struct dpdk_how how;
    struct spec spec;
    const char *given;
    char devargs[SPEC_TEXT];
    struct dpdk *d;

    if (spec_parse(&spec, "dpdk", args, "queue queues mtu args eal", err) ||
        spec_get_number(&spec, "dpdk", "queue", 0, DPDK_QUEUES - 1, cfg->queue, &queue, err) ||
        spec_get_number(&spec, "dpdk", "queues", 1, DPDK_QUEUES, 1, &queues, err) ||
        spec_get_number(&spec, "dpdk", "mtu", 0, 9216, 0, &mtu, err))
        return NULL;
    if (!*spec.name) {
        netio_err_set(err, "dpdk: name a port, such as net_tap0 or 0000:03:00.0");
        return NULL;
    }
    if (dpdk_eal(spec.name, spec_get(&spec, "eal"), err))
        return NULL;
    d = lines_calloc(1, sizeof(*d));
    if (!d) {
        netio_err_set(err, "dpdk: out of memory");
        return NULL;
    }
    d->n.ops = &ops;
    d->n.fd = -1;
    d->queue = (uint16_t)queue;
    given = spec_get(&spec, "args");
    snprintf(devargs, sizeof(devargs), "%s", given ? given : "");
    dpdk_commas(devargs);
    how = (struct dpdk_how){devargs, d->queue, (uint16_t)queues, (uint32_t)mtu};
    d->port = dpdk_port_get(spec.name, &how, err);
    if (!d->port) {
        dpdk_close(&d->n);
        return NULL;
    }
    describe(d);
    return &d->n;
}

__attribute__((visibility("default")))
const struct dpdk_module toe_dpdk_module = {.abi = DPDK_MODULE_ABI, .open = open_port};
