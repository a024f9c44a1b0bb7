/* SPDX-License-Identifier: Apache-2.0 */
/*
 * af_xdp.c - packets by AF_XDP: one socket, one memory area (UMEM) and its four rings per queue.
 *
 * af_xdp:IFNAME[,queue=N][,mode=auto|native|generic][,copy=auto|copy|zero]
 *
 * A frame is at any time in one place: the pool, the fill ring (the kernel's, to receive into), the
 * caller's hands, or on its way out (transmit ring, driver, completion ring).
 */
#include <errno.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <xdp/xsk.h>

#include "groups.h"
#include "ifctl.h"
#include "pool.h"
#include "spec.h"
#include "steer.h"

#define RING_SIZE    2048u
#define FRAME_COUNT  4096u /* half of them can wait in the fill ring, half on the way out */
#define XDP_HEADROOM 256u  /* what the kernel keeps free before a received frame */
#define SMALL_FRAME  2048u
#define LARGE_FRAME  4096u
/* How often a flush calls again while the kernel sends nothing; then the next flush goes on. */
#define FLUSH_STALLS 3u
#define FLUSH_RETRY  100000u  /* ns until the caller should flush again */
#define GROUPS_LOOK  1000000u /* ns between looks at the packet socket */

/* Linux 6.16: frames sent per call in copy mode. Older headers do not have it. */
#ifndef XDP_MAX_TX_SKB_BUDGET
#define XDP_MAX_TX_SKB_BUDGET 9
#endif

struct af_xdp {
    struct netio n;
    struct steer *steer;
    struct xsk_umem *umem;
    struct xsk_socket *socket;
    struct xsk_ring_prod fill;
    struct xsk_ring_cons completion;
    struct xsk_ring_cons rx;
    struct xsk_ring_prod tx;
    struct pool pool;
    unsigned ifindex;
    int xsk_fd;                     /* of socket; n.fd is it, or an epoll of it and groups_fd */
    int groups_fd;                  /* groups.h; -1: no IPv6, or another queue has it */
    uint64_t groups_at;             /* when it was last looked at */
    uint8_t ip6[NETIO_IP6_MAX][16]; /* addresses asked for */
    unsigned ip6_count;
    uint64_t backlog_since; /* the time of the flush that could not send all; 0: none */
};

static struct af_xdp *self(struct netio *n)
{
    return (struct af_xdp *)n;
}

static void drain_completions(struct af_xdp *x)
{
    uint32_t index;
    uint32_t count = xsk_ring_cons__peek(&x->completion, RING_SIZE, &index);
    uint32_t i;

    for (i = 0; i < count; i++)
        pool_put(&x->pool, (uint32_t)*xsk_ring_cons__comp_addr(&x->completion, index + i));
    if (count)
        xsk_ring_cons__release(&x->completion, count);
}

/* Keeps the fill ring full. The ring is half as large as the pool, so sending cannot starve. */
static void refill(struct af_xdp *x)
{
    uint32_t room = xsk_prod_nb_free(&x->fill, RING_SIZE);
    uint32_t count = room < x->pool.top ? room : x->pool.top;
    uint32_t offset = 0;
    uint32_t index;
    uint32_t i;

    if (!count || xsk_ring_prod__reserve(&x->fill, count, &index) != count)
        return;
    for (i = 0; i < count; i++) {
        pool_get(&x->pool, &offset);
        *xsk_ring_prod__fill_addr(&x->fill, index + i) = offset;
    }
    xsk_ring_prod__submit(&x->fill, count);
}

/* A driver that found the fill ring empty says that it wants to be called (need_wakeup). */
static void wake_receiver(struct af_xdp *x)
{
    if (xsk_ring_prod__needs_wakeup(&x->fill))
        (void)recvfrom(x->xsk_fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

static uint32_t tx_backlog(const struct af_xdp *x)
{
    return *x->tx.producer - __atomic_load_n(x->tx.consumer, __ATOMIC_ACQUIRE);
}

static void af_xdp_tx_flush(struct netio *n, uint64_t now_ns)
{
    struct af_xdp *x = self(n);
    uint32_t before = tx_backlog(x);
    unsigned stalls = 0;

    while (before && xsk_ring_prod__needs_wakeup(&x->tx)) {
        ssize_t result = sendto(x->xsk_fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
        uint32_t after = tx_backlog(x);

        /* EAGAIN: the budget of one call is used up. EBUSY, ENOBUFS: completions or the device's
         * queue are full for now. Anything else (interface down or gone) will not get better by
         * calling again: the frames wait for the next ones. */
        if (result < 0 && errno != EAGAIN && errno != EBUSY && errno != ENOBUFS && errno != EINTR) {
            before = 0;
            break;
        }
        drain_completions(x);
        if (after == before && ++stalls == FLUSH_STALLS)
            break;
        before = after;
    }
    /* Zero-copy without wake-up: the driver sends at its own pace and needs no further call. */
    x->backlog_since = before && xsk_ring_prod__needs_wakeup(&x->tx) ? now_ns | 1 : 0;
    drain_completions(x);
}

/* One frame of the packet socket, seldom looked for: what comes there is not in a hurry. */
static unsigned groups_rx(struct af_xdp *x, struct netio_frame *frame, uint64_t now_ns)
{
    uint32_t offset;
    ssize_t len;

    if (x->groups_fd < 0 || now_ns - x->groups_at < GROUPS_LOOK || pool_get(&x->pool, &offset))
        return 0;
    x->groups_at = now_ns;
    len = recv(x->groups_fd, x->pool.mem + offset, x->pool.frame_size, MSG_DONTWAIT);
    if (len <= 0) {
        pool_put(&x->pool, offset);
        return 0;
    }
    x->groups_at = 0; /* there may be more */
    *frame = (struct netio_frame){.data = x->pool.mem + offset,
                                  .len = (uint32_t)len,
                                  .cap = x->pool.frame_size,
                                  .token = offset};
    x->n.stats.rx_frames++;
    x->n.stats.rx_bytes += (uint64_t)len;
    return 1;
}

static unsigned af_xdp_rx(struct netio *n, struct netio_frame *frames, unsigned max,
                          uint64_t now_ns)
{
    struct af_xdp *x = self(n);
    /* first, and under load too: routers' advertisements must not wait for a quiet time */
    unsigned others = max ? groups_rx(x, frames, now_ns) : 0;
    uint32_t index = 0;
    uint32_t count = xsk_ring_cons__peek(&x->rx, max - others, &index);
    uint64_t bytes = 0;
    uint32_t i;

    if (x->backlog_since && now_ns >= x->backlog_since + FLUSH_RETRY)
        af_xdp_tx_flush(n, now_ns);
    if (!count) {
        wake_receiver(x);
        return others;
    }
    frames += others;
    for (i = 0; i < count; i++) {
        const struct xdp_desc *desc = xsk_ring_cons__rx_desc(&x->rx, index + i);
        uint32_t offset = (uint32_t)desc->addr & (x->pool.frame_size - 1);

        frames[i] = (struct netio_frame){
            .data = x->pool.mem + desc->addr,
            .len = desc->len,
            .cap = x->pool.frame_size - offset,
            .token = (uint32_t)desc->addr - offset,
        };
        bytes += desc->len;
    }
    xsk_ring_cons__release(&x->rx, count);
    n->stats.rx_frames += count;
    n->stats.rx_bytes += bytes;
    return others + count;
}

static void af_xdp_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    struct af_xdp *x = self(n);
    unsigned i;

    for (i = 0; i < count; i++)
        pool_put(&x->pool, (uint32_t)frames[i].token);
    refill(x);
}

static int af_xdp_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    struct af_xdp *x = self(n);
    uint32_t offset;

    if (!xsk_prod_nb_free(&x->tx, 1) || !x->pool.top) {
        af_xdp_tx_flush(n, x->backlog_since);
        if (!xsk_prod_nb_free(&x->tx, 1))
            return -1;
    }
    if (pool_get(&x->pool, &offset))
        return -1;
    *frame = (struct netio_frame){
        .data = x->pool.mem + offset,
        .cap = x->pool.frame_size,
        .token = offset,
    };
    return 0;
}

static void af_xdp_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    struct af_xdp *x = self(n);
    struct xdp_desc *desc;
    uint32_t index;

    (void)now_ns;
    if (xsk_ring_prod__reserve(&x->tx, 1, &index) != 1) { /* more than one buffer was out */
        pool_put(&x->pool, (uint32_t)frame->token);
        n->stats.tx_dropped++;
        return;
    }
    desc = xsk_ring_prod__tx_desc(&x->tx, index);
    desc->addr = frame->token + (uint64_t)(frame->data - (x->pool.mem + frame->token));
    desc->len = frame->len;
    desc->options = 0;
    xsk_ring_prod__submit(&x->tx, 1);
    n->stats.tx_frames++;
    n->stats.tx_bytes += frame->len;
}

static void af_xdp_tx_cancel(struct netio *n, const struct netio_frame *frame)
{
    pool_put(&self(n)->pool, (uint32_t)frame->token);
}

static int af_xdp_prepare_sleep(struct netio *n)
{
    struct af_xdp *x = self(n);

    drain_completions(x);
    refill(x);
    wake_receiver(x);
    /* poll() on the socket is level-triggered on the receive ring: no arrival can be missed. */
    return xsk_cons_nb_avail(&x->rx, 1) > 0;
}

static uint64_t af_xdp_next_event(const struct netio *n)
{
    const struct af_xdp *x = (const struct af_xdp *)n;

    return x->backlog_since ? x->backlog_since + FLUSH_RETRY : UINT64_MAX;
}

static void af_xdp_add_stats(const struct netio *n, struct netio_stats *out)
{
    struct xdp_statistics s;
    socklen_t len = sizeof(s);

    memset(&s, 0, sizeof(s));
    if (getsockopt(((const struct af_xdp *)n)->xsk_fd, SOL_XDP, XDP_STATISTICS, &s, &len))
        return;
    out->rx_dropped += s.rx_dropped + s.rx_invalid_descs + s.rx_ring_full;
    out->tx_dropped += s.tx_invalid_descs;
}

static void af_xdp_close(struct netio *n)
{
    struct af_xdp *x = self(n);

    if (x->n.fd >= 0 && x->n.fd != x->xsk_fd)
        close(x->n.fd);
    if (x->groups_fd >= 0)
        close(x->groups_fd);
    if (x->socket)
        xsk_socket__delete(x->socket);
    if (x->umem)
        xsk_umem__delete(x->umem);
    if (x->steer) {
        steer_set_ip6(x->steer, (const uint8_t(*)[16])x->ip6, x->ip6_count, NULL, 0);
        steer_detach(x->steer);
    }
    pool_free(&x->pool);
    free(x);
}

static void af_xdp_set_ip6(struct netio *n, const uint8_t addrs[][16], unsigned count)
{
    struct af_xdp *x = self(n);

    steer_set_ip6(x->steer, (const uint8_t(*)[16])x->ip6, x->ip6_count, addrs, count);
    memcpy(x->ip6, addrs, (size_t)count * 16);
    x->ip6_count = count;
    if (x->groups_fd >= 0)
        groups_join(x->groups_fd, x->ifindex, addrs, count);
}

static const struct netio_ops ops = {
    .close = af_xdp_close,
    .rx = af_xdp_rx,
    .rx_release = af_xdp_rx_release,
    .tx_alloc = af_xdp_tx_alloc,
    .tx_submit = af_xdp_tx_submit,
    .tx_cancel = af_xdp_tx_cancel,
    .tx_flush = af_xdp_tx_flush,
    .prepare_sleep = af_xdp_prepare_sleep,
    .next_event = af_xdp_next_event,
    .add_stats = af_xdp_add_stats,
    .set_ip6 = af_xdp_set_ip6,
};

static int create_umem(struct af_xdp *x, const struct netio_err *err)
{
    const struct xsk_umem_config config = {
        .fill_size = RING_SIZE,
        .comp_size = RING_SIZE,
        .frame_size = x->pool.frame_size,
    };
    int result = xsk_umem__create(&x->umem, x->pool.mem, x->pool.mem_size, &x->fill, &x->completion,
                                  &config);

    if (result == 0)
        return 0;
    if (result == -EPERM)
        netio_err_set(err, "af_xdp: no right to open an AF_XDP socket: run as root (CAP_NET_RAW)");
    else if (result == -ENOBUFS)
        netio_err_set(err,
                      "af_xdp: %zu bytes of locked memory are over the limit: raise it "
                      "(ulimit -l unlimited) or run as root",
                      x->pool.mem_size);
    else if (result == -EAFNOSUPPORT)
        netio_err_set(err, "af_xdp: this kernel has no AF_XDP (CONFIG_XDP_SOCKETS): use "
                           "tap:IFNAME instead");
    else
        netio_err_set(err, "af_xdp: cannot register the frames' memory: %s", strerror(-result));
    return -1;
}

static int create_socket(struct af_xdp *x, const char *ifname, uint32_t queue, unsigned copy,
                         const struct netio_err *err)
{
    static const uint16_t copy_flags[] = {0, XDP_COPY, XDP_ZEROCOPY};
    const struct xsk_socket_config config = {
        .rx_size = RING_SIZE,
        .tx_size = RING_SIZE,
        .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
        .bind_flags = (uint16_t)(XDP_USE_NEED_WAKEUP | copy_flags[copy]),
    };
    unsigned waited_ms = 0;
    int result;

    do {
        result = xsk_socket__create(&x->socket, ifname, queue, x->umem, &x->rx, &x->tx, &config);
    } while (result == -EBUSY && steer_wait_busy(&waited_ms));
    if (result == 0)
        return 0;
    x->socket = NULL;
    if (result == -EBUSY)
        netio_err_set(err, "af_xdp: queue %u of %s is in use by another AF_XDP socket: end it",
                      queue, ifname);
    else if (copy == 2)
        netio_err_set(err,
                      "af_xdp: queue %u of %s has no zero-copy (%s): use copy=auto or copy=copy",
                      queue, ifname, strerror(-result));
    else
        netio_err_set(err, "af_xdp: cannot bind to queue %u of %s: %s", queue, ifname,
                      strerror(-result));
    return -1;
}

static int check_interface(struct af_xdp *x, const char *ifname, uint32_t queue,
                           const struct netio_err *err)
{
    int up = 0;

    if (ifctl_check_name("af_xdp", ifname, err))
        return -1;
    x->n.info.ifindex = if_nametoindex(ifname);
    if (!x->n.info.ifindex) {
        netio_err_set(err, "af_xdp: there is no interface '%s': see 'ip link' for those there are",
                      ifname);
        return -1;
    }
    if (ifctl_get_mac(ifname, x->n.info.mac) || ifctl_get_mtu(ifname, &x->n.info.mtu) ||
        ifctl_is_up(ifname, &up)) {
        netio_err_set(err, "af_xdp: cannot ask about interface %s: %s", ifname, strerror(errno));
        return -1;
    }
    if (!up) {
        netio_err_set(err, "af_xdp: interface %s is down: 'ip link set %s up' first", ifname,
                      ifname);
        return -1;
    }
    x->n.info.queues = ifctl_get_queues(ifname);
    if (queue >= x->n.info.queues) {
        netio_err_set(err, "af_xdp: interface %s has no queue %u: it has %u, counted from 0",
                      ifname, queue, x->n.info.queues);
        return -1;
    }
    return 0;
}

static void describe(struct af_xdp *x)
{
    struct xdp_options options = {0};
    socklen_t len = sizeof(options);
    uint32_t limit = x->pool.frame_size - XDP_HEADROOM - ETH_HEADER;
    char mtu[48] = "";

    (void)getsockopt(x->xsk_fd, SOL_XDP, XDP_OPTIONS, &options, &len);
    if (x->n.info.mtu > limit) {
        snprintf(mtu, sizeof(mtu), " (MTU %u taken as %u)", x->n.info.mtu, limit);
        x->n.info.mtu = limit;
    }
    snprintf(x->n.mode, sizeof(x->n.mode), "af_xdp %s %s%s", steer_mode_text(x->steer),
             options.flags & XDP_OPTIONS_ZEROCOPY ? "zero-copy" : "copy", mtu);
}

/* What AF_XDP does not bring of IPv6, and one descriptor to sleep on for both. */
static int open_groups(struct af_xdp *x, const char *ifname, const struct netio_err *err)
{
    struct epoll_event ev = {.events = EPOLLIN};
    int both;

    x->groups_fd = groups_open(x->ifindex);
    both = epoll_create1(EPOLL_CLOEXEC);
    if (x->groups_fd < 0 || both < 0 || epoll_ctl(both, EPOLL_CTL_ADD, x->xsk_fd, &ev) ||
        epoll_ctl(both, EPOLL_CTL_ADD, x->groups_fd, &ev)) {
        netio_err_set(err, "af_xdp: cannot open a packet socket on %s for IPv6: %s", ifname,
                      strerror(errno));
        if (both >= 0)
            close(both);
        return -1;
    }
    x->n.fd = both;
    return 0;
}

static int bring_up(struct af_xdp *x, const char *ifname, uint32_t queue, unsigned mode,
                    unsigned copy, const uint8_t ip[4], int ip6, const struct netio_err *err)
{
    const int budget = (int)RING_SIZE;
    uint32_t frame_size;
    int result;

    if (check_interface(x, ifname, queue, err))
        return -1;
    frame_size =
        x->n.info.mtu + ETH_HEADER + XDP_HEADROOM <= SMALL_FRAME ? SMALL_FRAME : LARGE_FRAME;
    if (pool_init(&x->pool, frame_size, FRAME_COUNT)) {
        netio_err_set(err, "af_xdp: no memory for %u frames of %u bytes", FRAME_COUNT, frame_size);
        return -1;
    }
    x->steer = steer_attach(ifname, ip, (enum steer_mode)mode, err);
    if (!x->steer || create_umem(x, err) || create_socket(x, ifname, queue, copy, err))
        return -1;
    x->n.fd = x->xsk_fd = xsk_socket__fd(x->socket);
    /* An older kernel refuses it and sends 32 frames a call; flush then calls more often. */
    (void)setsockopt(x->xsk_fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &budget, sizeof(budget));
    refill(x);
    result = xsk_socket__update_xskmap(x->socket, steer_map_fd(x->steer));
    if (result) {
        netio_err_set(err, "af_xdp: cannot enter queue %u of %s into the XDP program's map: %s",
                      queue, ifname, strerror(-result));
        return -1;
    }
    x->ifindex = if_nametoindex(ifname);
    if (ip6 && queue == 0 && open_groups(x, ifname, err))
        return -1;
    describe(x);
    return 0;
}

struct netio *af_xdp_open(const char *args, const struct netio_config *cfg,
                          const struct netio_err *err)
{
    struct spec spec;
    uint64_t queue;
    unsigned mode, copy;
    struct af_xdp *x;

    if (spec_parse(&spec, "af_xdp", args, "queue mode copy", err) ||
        spec_get_number(&spec, "af_xdp", "queue", 65535, cfg->queue, &queue, err) ||
        spec_get_choice(&spec, "af_xdp", "mode", "auto native generic", &mode, err) ||
        spec_get_choice(&spec, "af_xdp", "copy", "auto copy zero", &copy, err))
        return NULL;
    x = calloc(1, sizeof(*x));
    if (!x) {
        netio_err_set(err, "af_xdp: out of memory");
        return NULL;
    }
    x->n.ops = &ops;
    x->n.fd = x->xsk_fd = x->groups_fd = -1;
    if (bring_up(x, spec.name, (uint32_t)queue, mode, copy, cfg->ip, cfg->ip6, err)) {
        af_xdp_close(&x->n);
        return NULL;
    }
    return &x->n;
}
