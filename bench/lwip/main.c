/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - lwip_echo: an echo server on lwIP (Debian's liblwip) over a back end of netio, a row of
 * bench/peers.py.
 *
 *   lwip_echo SPEC IP PORT
 *
 * It polls and uses lwIP's raw API, the fastest there is, with the options that Debian has compiled
 * in (lwip/lwipopts.h: windows of 64 KiB, a mutex around the stack). It prints "ready" and ends at
 * SIGTERM. Exit codes: 0; 1 the back end cannot be opened or the port not be used; 2 usage.
 */
#include <arpa/inet.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <lwip/err.h>
#include <lwip/etharp.h>
#include <lwip/netif.h>
#include <lwip/tcp.h>
#include <lwip/tcpip.h>
#include <netif/ethernet.h>

#include <toe/number.h>

#include "toe/netio.h"

#define BATCH    64u
#define ERR_SIZE 512

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
    (void)number;
    ended = 1;
}

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the interface; every call has lwIP's lock ---- */

static err_t send_frame(struct netif *nif, struct pbuf *p)
{
    struct netio *n = nif->state;
    struct netio_frame out;

    if (netio_tx_alloc(n, &out) != 0)
        return ERR_MEM;
    if (p->tot_len > out.cap) {
        netio_tx_cancel(n, &out);
        return ERR_BUF;
    }
    out.len = pbuf_copy_partial(p, out.data, p->tot_len, 0);
    out.flags = 0; /* lwIP has computed the checksums */
    netio_tx_submit(n, &out, clock_ns());
    return ERR_OK;
}

static err_t begin_interface(struct netif *nif)
{
    struct netio_info info;

    netio_get_info(nif->state, &info);
    nif->name[0] = 't';
    nif->name[1] = 'h';
    nif->mtu = (u16_t)info.mtu;
    nif->hwaddr_len = sizeof(info.mac);
    memcpy(nif->hwaddr, info.mac, sizeof(info.mac));
    nif->flags =
        NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
    nif->output = etharp_output;
    nif->linkoutput = send_frame;
    return ERR_OK;
}

static void receive(struct netif *nif, const struct netio_frame *frames, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        struct pbuf *p = pbuf_alloc(PBUF_RAW, (u16_t)frames[i].len, PBUF_POOL);

        if (p && (pbuf_take(p, frames[i].data, (u16_t)frames[i].len) != ERR_OK ||
                  nif->input(p, nif) != ERR_OK))
            pbuf_free(p);
    }
}

/* The lock is held here, because lwIP's own thread sends when a timer expires. */
static unsigned serve(struct netif *nif)
{
    struct netio *n = nif->state;
    struct netio_frame frames[BATCH];
    uint64_t now = clock_ns();
    unsigned count;

    LOCK_TCPIP_CORE();
    count = netio_rx(n, frames, BATCH, now);
    receive(nif, frames, count);
    netio_rx_release(n, frames, count);
    netio_tx_flush(n, now);
    UNLOCK_TCPIP_CORE();
    return count;
}

/* ---- the application ---- */

/* Echoes p. Without room to send, lwIP keeps p and calls again. */
static err_t echo(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    struct pbuf *part;

    (void)arg;
    if (!p || err != ERR_OK) {
        if (p)
            pbuf_free(p);
        return tcp_close(pcb);
    }
    if (tcp_sndbuf(pcb) < p->tot_len || tcp_sndqueuelen(pcb) + pbuf_clen(p) > TCP_SND_QUEUELEN)
        return ERR_MEM;
    for (part = p; part; part = part->next) {
        if (tcp_write(pcb, part->payload, part->len, TCP_WRITE_FLAG_COPY) != ERR_OK) {
            tcp_abort(pcb); /* a part is queued, and the rest is lost */
            pbuf_free(p);
            return ERR_ABRT;
        }
    }
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    return ERR_OK;
}

static err_t accepted(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    if (err != ERR_OK || !pcb)
        return ERR_VAL;
    tcp_nagle_disable(pcb);
    tcp_recv(pcb, echo);
    return ERR_OK;
}

static int listen_on(uint16_t port)
{
    struct tcp_pcb *pcb = tcp_new(), *listener;

    if (!pcb || tcp_bind(pcb, IP_ADDR_ANY, port) != ERR_OK)
        return -1;
    listener = tcp_listen(pcb);
    if (!listener)
        return -1;
    tcp_accept(listener, accepted);
    return 0;
}

/* ---- start ---- */

static void is_up(void *sem)
{
    sem_post(sem);
}

/* Starts lwIP and its thread, and waits for it. */
static void start_stack(void)
{
    sem_t up;

    sem_init(&up, 0, 0);
    tcpip_init(is_up, &up);
    while (sem_wait(&up) != 0)
        ;
    sem_destroy(&up);
}

static int begin(struct netif *nif, struct netio *n, const uint8_t ip[4], uint16_t port)
{
    ip4_addr_t own, mask, none;
    int rc;

    start_stack();
    IP4_ADDR(&own, ip[0], ip[1], ip[2], ip[3]);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&none, 0, 0, 0, 0);
    LOCK_TCPIP_CORE();
    rc = netif_add(nif, &own, &mask, &none, n, begin_interface, ethernet_input) ? 0 : -1;
    if (rc == 0) {
        netif_set_default(nif);
        netif_set_up(nif);
        rc = listen_on(port);
    }
    UNLOCK_TCPIP_CORE();
    return rc;
}

int main(int argc, char **argv)
{
    static struct netif nif;
    struct netio_config cfg = {.seed = 1};
    struct netio *n;
    uint64_t port;
    char err[ERR_SIZE];

    if (argc != 4 || inet_pton(AF_INET, argv[2], cfg.ip) != 1 ||
        !toe_number(argv[3], 1, 65535, &port, NULL, 0)) {
        fputs("usage: lwip_echo SPEC IP PORT\n", stderr);
        return 2;
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    n = netio_open(argv[1], &cfg, err, sizeof(err));
    if (!n) {
        fprintf(stderr, "lwip_echo: %s\n", err);
        return 1;
    }
    (void)netio_set_features(n, 0); /* lwIP checks and computes the checksums */
    if (begin(&nif, n, cfg.ip, (uint16_t)port) != 0) {
        fprintf(stderr, "lwip_echo: lwIP cannot listen on port %u\n", (unsigned)port);
        return 1;
    }
    puts("ready");
    fflush(stdout);
    while (!ended) {
        if (!serve(&nif))
            sched_yield(); /* lwIP's thread may wait for the lock */
    }
    LOCK_TCPIP_CORE(); /* kept: lwIP's thread must not send any more */
    netio_close(n);
    return 0;
}
