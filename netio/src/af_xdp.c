/* SPDX-License-Identifier: Apache-2.0 */
/*
 * af_xdp.c - packets by AF_XDP: one socket, one memory area (UMEM) and its four rings per queue.
 *
 * af_xdp:IFNAME[,queue=N][,mode=auto|native|generic][,copy=auto|copy|zero]
 *
 * A frame is at any time in one place: the pool, the fill ring (the kernel receives into it), the
 * caller's hands (until released or unheld), or on its way out (transmit ring, driver, completion
 * ring).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "af_xdp.h"
#include "groups.h"
#include "partial.h"

/* How often a flush retries while the kernel sends nothing; then the next flush continues. */
#define FLUSH_STALLS 3u
#define FLUSH_RETRY  100000u  /* ns until the caller should flush again */
#define GROUPS_LOOK  1000000u /* ns between polls of the packet sockets */

static struct af_xdp *self(struct netio *n)
{
    return (struct af_xdp *)n;
}

/* Returns a buffer to the pool, given any address in it. Ignores addresses outside the area, and
 * buffers beyond the pool's count, as a buffer returned twice would be. */
static void put_chunk(struct af_xdp *x, uint64_t addr)
{
    if (addr < x->pool.mem_size && x->pool.top < x->pool.count)
        pool_put(&x->pool, (uint32_t)addr & ~(x->pool.frame_size - 1));
}

static void drain_completions(struct af_xdp *x)
{
    uint32_t index;
    uint32_t count = xsk_ring_cons__peek(&x->sock.completion, XSOCK_RING, &index);
    uint32_t i;

    for (i = 0; i < count; i++)
        put_chunk(x, *xsk_ring_cons__comp_addr(&x->sock.completion, index + i));
    if (count)
        xsk_ring_cons__release(&x->sock.completion, count);
}

/* Keeps the fill ring full, less the number of frames that the caller holds. The ring is half as
 * large as the pool, so sending cannot starve; and only half of that half may be held. */
void af_xdp_refill(struct af_xdp *x)
{
    uint32_t room = xsk_prod_nb_free(&x->sock.fill, XSOCK_RING);
    uint32_t offset = 0;
    uint32_t count;
    uint32_t index;
    uint32_t i;

    room = room > x->held ? room - x->held : 0;
    count = room < x->pool.top ? room : x->pool.top;

    if (!count || xsk_ring_prod__reserve(&x->sock.fill, count, &index) != count)
        return;
    for (i = 0; i < count; i++) {
        pool_get(&x->pool, &offset);
        *xsk_ring_prod__fill_addr(&x->sock.fill, index + i) = offset;
    }
    xsk_ring_prod__submit(&x->sock.fill, count);
}

/* Wakes a driver that found the fill ring empty and requests a call (need_wakeup). */
static void wake_receiver(struct af_xdp *x)
{
    if (xsk_ring_prod__needs_wakeup(&x->sock.fill))
        (void)recvfrom(x->sock.fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

static uint32_t tx_backlog(const struct af_xdp *x)
{
    return *x->sock.tx.producer - __atomic_load_n(x->sock.tx.consumer, __ATOMIC_ACQUIRE);
}

static void af_xdp_tx_flush(struct netio *n, uint64_t now_ns)
{
    struct af_xdp *x = self(n);
    uint32_t before = tx_backlog(x);
    unsigned stalls = 0;

    while (before && xsk_ring_prod__needs_wakeup(&x->sock.tx)) {
        ssize_t result = sendto(x->sock.fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
        uint32_t after = tx_backlog(x);

        /* EAGAIN: the budget of one call is used up. EBUSY, ENOBUFS: completions or the device's
         * queue are full for now. After any other error (interface down or removed) a retry is
         * useless: the frames wait for the next flush. */
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
    x->backlog_since = before && xsk_ring_prod__needs_wakeup(&x->sock.tx) ? now_ns | 1 : 0;
    drain_completions(x);
}

/* Receives a frame. The kernel has removed its tag, which is inserted again. */
static ssize_t others_recv(const struct af_xdp *x, uint8_t *to)
{
    const int fd[] = {x->groups_fd, x->announcements_fd};
    const uint32_t tag = x->vlan ? ETH_TAG : 0;
    ssize_t len = -1;
    unsigned i;

    for (i = 0; i < 2 && len <= 0; i++)
        if (fd[i] >= 0)
            len = recv(fd[i], to + tag, x->pool.frame_size - tag, MSG_DONTWAIT);
    if (!tag || len < (ssize_t)ETH_HEADER)
        return len;
    memmove(to, to + tag, ETH_HEADER - 2);
    to[ETH_HEADER - 2] = 0x81;
    to[ETH_HEADER - 1] = 0;
    to[ETH_HEADER] = (uint8_t)(x->vlan >> 8);
    to[ETH_HEADER + 1] = (uint8_t)x->vlan;
    return len + (ssize_t)tag;
}

/* Receives one frame from the packet sockets, which are polled seldom: their frames are not urgent.
 */
static unsigned groups_rx(struct af_xdp *x, struct netio_frame *frame, uint64_t now_ns)
{
    uint32_t offset;
    ssize_t len;

    if ((x->groups_fd < 0 && x->announcements_fd < 0) || now_ns - x->groups_at < GROUPS_LOOK ||
        pool_get(&x->pool, &offset))
        return 0;
    x->groups_at = now_ns;
    len = others_recv(x, x->pool.mem + offset);
    if (len <= 0) {
        pool_put(&x->pool, offset);
        return 0;
    }
    x->groups_at = 0; /* there may be more frames */
    *frame = (struct netio_frame){.data = x->pool.mem + offset,
                                  .len = (uint32_t)len,
                                  .cap = x->pool.frame_size,
                                  .token = offset};
    x->n.stats.rx_frames++;
    x->n.stats.rx_bytes += (uint64_t)len;
    return 1;
}

/* Adds one buffer to a frame of several buffers. Returns 1 when the frame is complete. The kernel's
 * buffer returns to the pool at once. */
static unsigned join(struct af_xdp *x, const struct xdp_desc *d, struct netio_frame *f)
{
    int last = !(d->options & XDP_PKT_CONTD);

    if (!x->joined.begun) {
        x->joined.begun = 1;
        x->joined.len = 0;
        x->joined.lost = big_get(&x->big, &x->joined.token, &x->joined.data) != 0;
    }
    if (!x->joined.lost && d->len > x->frame_max - x->joined.len) {
        x->joined.lost = 1;
        big_put(&x->big, &x->pool, x->joined.token);
    }
    if (!x->joined.lost) {
        memcpy(x->joined.data + x->joined.len, x->pool.mem + d->addr, d->len);
        x->joined.len += d->len;
    }
    put_chunk(x, d->addr);
    if (!last)
        return 0;
    x->joined.begun = 0;
    if (x->joined.lost) {
        x->n.stats.rx_dropped++;
        return 0;
    }
    *f = (struct netio_frame){
        .data = x->joined.data, .len = x->joined.len, .cap = BIG_SIZE, .token = x->joined.token};
    return 1;
}

/* Takes one descriptor. Returns 1 when it is, or completes, a frame. */
static unsigned take(struct af_xdp *x, const struct xdp_desc *d, struct netio_frame *f)
{
    uint32_t offset = (uint32_t)d->addr & (x->pool.frame_size - 1);

    if (d->addr >= x->pool.mem_size || d->len > x->pool.frame_size - offset) {
        x->n.stats.rx_dropped++;
        put_chunk(x, d->addr);
        return 0;
    }
    if (d->options & XDP_PKT_CONTD || x->joined.begun)
        return join(x, d, f);
    if (d->len > x->frame_max) { /* larger than the MTU, and LRO is off */
        x->n.stats.rx_dropped++;
        put_chunk(x, d->addr);
        return 0;
    }
    *f = (struct netio_frame){
        .data = x->pool.mem + d->addr,
        .len = d->len,
        .cap = x->pool.frame_size - offset,
        .token = (uint32_t)d->addr - offset,
    };
    return 1;
}

/* Handles a frame from a peer on this machine, whose kernel may have left the checksum to a device
 * that does not exist. */
static void settle_checksum(const struct af_xdp *x, struct netio_frame *f)
{
    struct partial p;
    uint32_t mtu_frame;

    if (!partial_find(f->data, f->len, &p))
        return;
    if (!(x->n.features & NETIO_O_PARTIAL)) {
        partial_complete(f->data, &p);
        return;
    }
    f->flags = NETIO_F_L4_CSUM_OK;
    mtu_frame = p.l3 + x->n.info.mtu;
    if (f->len > mtu_frame && p.payload < mtu_frame)
        f->gso_size = (uint16_t)(mtu_frame - p.payload);
}

static unsigned af_xdp_rx(struct netio *n, struct netio_frame *frames, unsigned max,
                          uint64_t now_ns)
{
    struct af_xdp *x = self(n);
    /* first, and also under load: router advertisements must not wait until the queue is idle */
    unsigned others = max ? groups_rx(x, frames, now_ns) : 0, got = 0;
    uint32_t index = 0;
    uint32_t count = xsk_ring_cons__peek(&x->sock.rx, max - others, &index);
    uint32_t i;

    if (x->backlog_since && now_ns >= x->backlog_since + FLUSH_RETRY)
        af_xdp_tx_flush(n, now_ns);
    if (!count) {
        wake_receiver(x);
        return others;
    }
    frames += others;
    for (i = 0; i < count; i++) {
        struct netio_frame *f = &frames[got];

        if (!take(x, xsk_ring_cons__rx_desc(&x->sock.rx, index + i), f))
            continue;
        if (x->partial)
            settle_checksum(x, f);
        n->stats.rx_bytes += f->len;
        got++;
    }
    xsk_ring_cons__release(&x->sock.rx, count);
    n->stats.rx_frames += got;
    watch_frames(&x->watch, count);
    if (!got) /* the caller releases nothing, so refill here */
        af_xdp_refill(x);
    return others + got;
}

static void af_xdp_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    struct af_xdp *x = self(n);
    unsigned i;

    for (i = 0; i < count; i++)
        big_put(&x->big, &x->pool, frames[i].token);
    af_xdp_refill(x);
}

/* Does not hold a frame of several buffers: it was copied into one of the few large buffers. */
static int af_xdp_rx_hold(struct netio *n, const struct netio_frame *frame)
{
    struct af_xdp *x = self(n);

    if ((frame->token & BIG_TOKEN) || x->held >= x->n.info.hold_max)
        return -1;
    x->held++;
    return 0;
}

static void af_xdp_rx_unhold(struct netio *n, uintptr_t token)
{
    struct af_xdp *x = self(n);

    x->held--;
    pool_put(&x->pool, (uint32_t)token);
}

static int af_xdp_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    struct af_xdp *x = self(n);
    uint32_t offset = 0;

    if (xsk_prod_nb_free(&x->sock.tx, x->send_pieces) < x->send_pieces ||
        x->pool.top < x->send_pieces) {
        af_xdp_tx_flush(n, x->backlog_since);
        if (xsk_prod_nb_free(&x->sock.tx, x->send_pieces) < x->send_pieces ||
            x->pool.top < x->send_pieces)
            return -1;
    }
    (void)pool_get(&x->pool, &offset);
    *frame = (struct netio_frame){
        .data = x->pool.mem + offset + SEND_HEADROOM,
        .cap = x->pool.frame_size - SEND_HEADROOM,
        .flags = x->tx_flags,
        .token = offset,
    };
    if (x->scratch) {
        frame->data = x->scratch;
        frame->cap = x->send_max;
    }
    return 0;
}

/* A frame to send: its buffers, and the number of bytes in the last one. */
struct pieces {
    uint32_t chunk[PIECES_MAX];
    uint32_t count, used;
};

/* Adds bytes to the frame, and further buffers when one is full. Returns 0, or -1 when there is no
 * buffer. */
static int append(struct af_xdp *x, struct pieces *p, const uint8_t *from, uint32_t len)
{
    const uint32_t room = x->pool.frame_size - SEND_HEADROOM;

    while (len) {
        uint32_t part = len < room - p->used ? len : room - p->used;

        memcpy(x->pool.mem + p->chunk[p->count - 1] + SEND_HEADROOM + p->used, from, part);
        p->used += part;
        from += part;
        len -= part;
        if (!len)
            break;
        if (p->count == PIECES_MAX || pool_get(&x->pool, &p->chunk[p->count]))
            return -1;
        p->count++;
        p->used = 0;
    }
    return 0;
}

/* Copies the frame's bytes into buffers of the memory area. Returns 0, or -1 with the buffers
 * allocated so far in p. */
static int gather(struct af_xdp *x, const struct netio_frame *f, struct pieces *p)
{
    uint32_t i;

    p->chunk[0] = (uint32_t)f->token;
    p->count = 1;
    p->used = 0;
    if (!x->scratch && !f->ref_count) { /* it was built in its buffer */
        p->used = f->len;
        return 0;
    }
    if (append(x, p, f->data, f->len))
        return -1;
    for (i = 0; i < f->ref_count; i++)
        if (append(x, p, f->refs[i].data, f->refs[i].len))
            return -1;
    return 0;
}

/* Requests the checksum from the kernel or the device (xsk-tx-metadata.rst). Returns the
 * descriptor's options. */
static uint32_t put_metadata(uint8_t *data, const struct netio_frame *f)
{
    struct tx_metadata *m = (void *)(data - XSOCK_TX_METADATA);

    if (!(f->flags & NETIO_F_CSUM_PARTIAL))
        return 0;
    m->flags = XDP_TXMD_FLAGS_CHECKSUM;
    m->csum_start = f->csum_start;
    m->csum_offset = f->csum_offset;
    return XDP_TX_METADATA;
}

static void af_xdp_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    struct af_xdp *x = self(n);
    struct pieces p;
    uint32_t index = 0, i;

    (void)now_ns;
    if (gather(x, frame, &p) || xsk_ring_prod__reserve(&x->sock.tx, p.count, &index) != p.count) {
        while (p.count) /* the caller has allocated more than one frame */
            pool_put(&x->pool, p.chunk[--p.count]);
        n->stats.tx_dropped++;
        return;
    }
    for (i = 0; i < p.count; i++) {
        struct xdp_desc *d = xsk_ring_prod__tx_desc(&x->sock.tx, index + i);

        d->addr = p.chunk[i] + SEND_HEADROOM;
        d->len = i + 1 < p.count ? x->pool.frame_size - SEND_HEADROOM : p.used;
        d->options = i + 1 < p.count ? XDP_PKT_CONTD : 0;
        if (i == 0)
            d->options |= put_metadata(x->pool.mem + d->addr, frame);
    }
    xsk_ring_prod__submit(&x->sock.tx, p.count);
    n->stats.tx_frames++;
    n->stats.tx_bytes += frame_total(frame);
}

static void af_xdp_tx_cancel(struct netio *n, const struct netio_frame *frame)
{
    pool_put(&self(n)->pool, (uint32_t)frame->token);
}

static int af_xdp_prepare_sleep(struct netio *n)
{
    struct af_xdp *x = self(n);
    int watched = watch_on(&x->watch);

    drain_completions(x);
    af_xdp_refill(x);
    wake_receiver(x);
    /* The set is level-triggered on the receive ring, which is checked after the socket has joined
     * the set: no arrival can be missed. If it could not join, the caller continues to poll. */
    return watched != 0 || xsk_cons_nb_avail(&x->sock.rx, 1) > 0;
}

static void af_xdp_keep_waking(struct netio *n, int on)
{
    self(n)->watch.keep = on;
}

static uint64_t af_xdp_next_event(const struct netio *n)
{
    const struct af_xdp *x = (const struct af_xdp *)n;

    return x->backlog_since ? x->backlog_since + FLUSH_RETRY : UINT64_MAX;
}

static void af_xdp_add_stats(const struct netio *n, struct netio_stats *out)
{
    const struct af_xdp *x = (const struct af_xdp *)n;
    struct xdp_statistics s;
    socklen_t len = sizeof(s);

    memset(&s, 0, sizeof(s));
    if (getsockopt(x->sock.fd, SOL_XDP, XDP_STATISTICS, &s, &len))
        return;
    out->rx_dropped += s.rx_dropped + s.rx_invalid_descs + s.rx_ring_full;
    if (x->ifqueue == 0) /* the interface's counter, reported once */
        out->rx_dropped += steer_dropped(x->steer);
    out->tx_dropped += s.tx_invalid_descs;
}

static void af_xdp_close(struct netio *n)
{
    struct af_xdp *x = self(n);

    watch_close(&x->watch);
    if (x->groups_fd >= 0)
        close(x->groups_fd);
    if (x->announcements_fd >= 0)
        close(x->announcements_fd);
    xsock_close(&x->sock);
    if (x->steer) {
        steer_drop_ip6(x->steer, (const uint8_t(*)[16])x->ip6, x->ip6_count);
        steer_detach(x->steer);
    }
    pool_free(&x->pool);
    pool_free(&x->big);
    free(x->scratch);
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

static void af_xdp_take_port(struct netio *n, int ip6, uint16_t port, unsigned how)
{
    steer_take_port(self(n)->steer, ip6, port, how);
}

static int af_xdp_take_place(struct netio *n, const uint8_t addr[16], uint16_t port, int on)
{
    return steer_take_place(self(n)->steer, addr, port, on);
}

static int af_xdp_heir(const struct netio *n)
{
    return steer_link(((const struct af_xdp *)n)->steer);
}

static int af_xdp_settle(struct netio *n, const struct netio_err *err)
{
    return steer_settle(self(n)->steer, err);
}

static int af_xdp_tend(struct netio *n, const struct netio_err *text)
{
    return steer_tend(self(n)->steer, text);
}

static void af_xdp_set_features(struct netio *n)
{
    struct af_xdp *x = self(n);

    x->frame_max = n->features & NETIO_O_LRO ? BIG_FRAME : n->info.mtu + ETH_TAGGED;
    x->tx_flags = 0;
    if (n->features & NETIO_O_TX_CSUM)
        x->tx_flags = NETIO_F_CSUM_PARTIAL | (n->features & NETIO_O_SG ? NETIO_F_SG : 0);
}

const struct netio_ops af_xdp_ops = {
    .close = af_xdp_close,
    .rx = af_xdp_rx,
    .rx_release = af_xdp_rx_release,
    .rx_hold = af_xdp_rx_hold,
    .rx_unhold = af_xdp_rx_unhold,
    .tx_alloc = af_xdp_tx_alloc,
    .tx_submit = af_xdp_tx_submit,
    .tx_cancel = af_xdp_tx_cancel,
    .tx_flush = af_xdp_tx_flush,
    .prepare_sleep = af_xdp_prepare_sleep,
    .keep_waking = af_xdp_keep_waking,
    .next_event = af_xdp_next_event,
    .add_stats = af_xdp_add_stats,
    .set_ip6 = af_xdp_set_ip6,
    .take_port = af_xdp_take_port,
    .take_place = af_xdp_take_place,
    .heir = af_xdp_heir,
    .settle = af_xdp_settle,
    .tend = af_xdp_tend,
    .activate = af_xdp_activate,
    .set_features = af_xdp_set_features,
};
