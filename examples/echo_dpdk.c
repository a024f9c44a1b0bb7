/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo_dpdk.c - an echo server over DPDK: the functions of toe/port.h on rte_mbuf, including
 * chains, with checksum offload if the card has it. See echo_tap.c for the same over a descriptor.
 *
 *   echo_dpdk EAL-OPTIONS -- ADDRESS/LENGTH [PORT]
 *   echo_dpdk --no-huge --no-pci -m 128 --vdev=net_tap0,iface=dtap0 -- 192.0.2.10/24 7 &
 *   ip link set dtap0 address 02:00:00:00:00:01 && ip addr add 192.0.2.1/24 dev dtap0
 *   nc 192.0.2.10 7
 *
 * net_tap gives the kernel's end the card's own MAC address; the kernel would not answer itself.
 */
#include <toe/core.h>

#include <arpa/inet.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "echo.h"

#define BURST 32
#define NIC   0 /* the first port of the EAL */

static struct rte_mempool *pool;
static struct rte_mbuf *out[BURST]; /* sent in one burst */
static uint16_t out_n;
static int card_sums;

/* ---- sending ---- */

static void flush(void)
{
    uint16_t sent = out_n ? rte_eth_tx_burst(NIC, 0, out, out_n) : 0;

    out_n = (uint16_t)(out_n - sent);
    memmove(out, out + sent, out_n * sizeof(out[0]));
}

/* Translates the offloads of toec_tx for the card, which needs the length of each header. */
static void ask_card_for_sum(struct rte_mbuf *m, const struct toec_tx *tx)
{
    m->l2_len = RTE_ETHER_HDR_LEN;
    m->l3_len = tx->csum_start - RTE_ETHER_HDR_LEN;
    m->l4_len = tx->hdr_len - tx->csum_start;
    m->ol_flags |= RTE_MBUF_F_TX_TCP_CKSUM;
    m->ol_flags |= tx->hdr[12] == 0x08 ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6;
}

/* Copies n bytes of a packet from offset off: from the mbuf, or from a reassembled datagram. */
static void take(void *to, const struct toec_packet *p, uint32_t off, uint32_t n)
{
    const void *at = p->opaque ? rte_pktmbuf_read(p->opaque, off, n, to) : p->data + off;

    if (at != to) /* it is contiguous */
        memcpy(to, at, n);
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    struct rte_mbuf *m;
    uint8_t *to;

    (void)user;
    if (out_n == BURST)
        flush();
    m = out_n < BURST ? rte_pktmbuf_alloc(pool) : NULL;
    if (!m)
        return -1;
    to = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(tx->hdr_len + tx->len));
    memcpy(to, tx->hdr, tx->hdr_len);
    if (tx->src) /* the answer to a ping */
        take(to + tx->hdr_len, tx->src, tx->off, tx->len);
    else if (tx->len)
        ring_get(to + tx->hdr_len, tx->owner, tx->off, tx->len);
    if (card_sums && tx->csum_start && tx->csum_offset == 16) /* TCP only; ICMP is ours */
        ask_card_for_sum(m, tx);
    else
        toec_tx_finish(tx, to, tx->hdr_len + tx->len);
    out[out_n++] = m;
    return 0;
}

/* ---- receiving ---- */

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    struct conn *c = owner;
    uint32_t at = off % RING, first = before_end(at, len);

    (void)user;
    take(c->ring + at, p, p_off, first);
    if (len > first)
        take(c->ring, p, p_off + first, len - first);
}

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    uint16_t sum;

    (void)user;
    if (rte_raw_cksum_mbuf(p->opaque, p_off, len, &sum))
        return 0;
    return sum;
}

void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len)
{
    (void)user;
    take(dst, p, p_off, len);
}

/* ---- the loop ---- */

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void run(struct toec_stack *stack)
{
    for (;;) {
        struct rte_mbuf *in[BURST];
        uint16_t i, n = rte_eth_rx_burst(NIC, 0, in, BURST);
        uint64_t now = clock_ns();

        for (i = 0; i < n; i++) {
            uint64_t verdict = in[i]->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
            struct toec_packet p = {
                .data = rte_pktmbuf_mtod(in[i], const uint8_t *),
                .head_len = rte_pktmbuf_data_len(in[i]),
                .len = rte_pktmbuf_pkt_len(in[i]),
                .flags = verdict == RTE_MBUF_F_RX_L4_CKSUM_GOOD ? TOEC_RX_L4_CSUM_OK : 0,
                .opaque = in[i],
            };

            toec_input(stack, &p, now);
            rte_pktmbuf_free(in[i]);
        }
        serve(stack, now);
        toec_poll(stack, now);
        serve(stack, now);
        flush();
        if (n == 0) /* remove this on a dedicated core */
            rte_delay_us_sleep(50);
    }
}

static int start_card(struct toec_config *cfg)
{
    const uint64_t wanted = RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
    struct rte_eth_conf conf = {0};
    struct rte_eth_dev_info info;
    struct rte_ether_addr mac;

    if (rte_eth_dev_info_get(NIC, &info) || rte_eth_macaddr_get(NIC, &mac))
        return -1;
    card_sums = (info.tx_offload_capa & wanted) == wanted;
    conf.txmode.offloads = card_sums ? wanted : 0;
    conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
    memcpy(cfg->mac, mac.addr_bytes, 6);
    if (rte_eth_dev_configure(NIC, 1, 1, &conf) ||
        rte_eth_rx_queue_setup(NIC, 0, 512, SOCKET_ID_ANY, NULL, pool) ||
        rte_eth_tx_queue_setup(NIC, 0, 512, SOCKET_ID_ANY, NULL))
        return -1;
    return rte_eth_dev_start(NIC);
}

int main(int argc, char **argv)
{
    struct toec_config cfg = {.max_flows = CONNS};
    struct toec_stack *stack;
    unsigned long size;
    char more;
    int i = rte_eal_init(argc, argv);

    if (i < 0)
        rte_exit(1, "DPDK does not start\n");
    argc -= i;
    argv += i;
    if (argc < 2 || sscanf(argv[1], "%*[0-9.]/%2hhu%c", &cfg.prefix_len, &more) != 1 ||
        inet_pton(AF_INET, strtok(argv[1], "/"), cfg.ip) != 1)
        rte_exit(2, "usage: echo_dpdk EAL-OPTIONS -- ADDRESS/LENGTH [PORT]\n");
    pool = rte_pktmbuf_pool_create("mbufs", 4095, 128, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (!pool || start_card(&cfg))
        rte_exit(1, "port 0 does not start (is there a device or --vdev?)\n");
    if (getrandom(cfg.secret, sizeof(cfg.secret), 0) < 0)
        rte_exit(1, "no random bytes\n");
    size = toec_size(&cfg);
    stack = start(rte_zmalloc("stack", size, 64), &cfg, argc > 2 ? atoi(argv[2]) : 7, clock_ns());
    printf("listening; checksums by %s\n", card_sums ? "the card" : "core/");
    fflush(stdout);
    run(stack);
}
