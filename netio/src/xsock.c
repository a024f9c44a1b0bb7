/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xsock.c - opens an AF_XDP socket (Linux: Documentation/networking/af_xdp.rst and
 * xsk-tx-metadata.rst). Features are requested once, and omitted if the kernel or driver rejects
 * them.
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "steer.h"
#include "xsock.h"

static int set_option(int fd, int name, const void *value, size_t size)
{
    return setsockopt(fd, SOL_XDP, name, value, (socklen_t)size) ? -errno : 0;
}

/* Registers the memory area with room for metadata, or without if the kernel rejects the flag. */
static int register_umem(struct xsock *s, const struct pool *pool)
{
    struct umem_reg reg = {
        .addr = (uintptr_t)pool->mem,
        .len = pool->mem_size,
        .chunk_size = pool->frame_size,
        .flags = XDP_UMEM_TX_METADATA_LEN,
        .tx_metadata_len = XSOCK_TX_METADATA,
    };
    int result = set_option(s->fd, XDP_UMEM_REG, &reg, sizeof(reg));

    s->metadata = result == 0;
    if (result != -EINVAL)
        return result;
    reg.flags = reg.tx_metadata_len = 0;
    return set_option(s->fd, XDP_UMEM_REG, &reg, offsetof(struct umem_reg, tx_metadata_len));
}

static uint8_t *map_ring(struct xsock *s, unsigned i, const struct xdp_ring_offset *off,
                         size_t entry, off_t where)
{
    size_t size = (size_t)off->desc + XSOCK_RING * entry;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, s->fd, where);

    if (at == MAP_FAILED)
        return NULL;
    s->maps[i].at = at;
    s->maps[i].size = size;
    return at;
}

/* Sets the fields of libxdp's rings, as its own set-up does. */
#define SET_RING(r, at, off)                                                                       \
    do {                                                                                           \
        (r)->mask = XSOCK_RING - 1;                                                                \
        (r)->size = XSOCK_RING;                                                                    \
        (r)->producer = (void *)((at) + (off)->producer);                                          \
        (r)->consumer = (void *)((at) + (off)->consumer);                                          \
        (r)->flags = (void *)((at) + (off)->flags);                                                \
        (r)->ring = (at) + (off)->desc;                                                            \
        (r)->cached_prod = *(r)->producer;                                                         \
        (r)->cached_cons = *(r)->consumer;                                                         \
    } while (0)

static int produce(struct xsock *s, unsigned i, struct xsk_ring_prod *r,
                   const struct xdp_ring_offset *off, size_t entry, off_t where)
{
    uint8_t *at = map_ring(s, i, off, entry, where);

    if (!at)
        return -errno;
    SET_RING(r, at, off);
    r->cached_cons += XSOCK_RING; /* for a producer: the position up to which there is room */
    return 0;
}

static int consume(struct xsock *s, unsigned i, struct xsk_ring_cons *r,
                   const struct xdp_ring_offset *off, size_t entry, off_t where)
{
    uint8_t *at = map_ring(s, i, off, entry, where);

    if (!at)
        return -errno;
    SET_RING(r, at, off);
    return 0;
}

static int make_rings(struct xsock *s)
{
    static const int names[] = {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING,
                                XDP_TX_RING};
    const int entries = (int)XSOCK_RING;
    struct xdp_mmap_offsets off;
    socklen_t len = sizeof(off);
    int result;
    unsigned i;

    for (i = 0; i < 4; i++) {
        result = set_option(s->fd, names[i], &entries, sizeof(entries));
        if (result)
            return result;
    }
    if (getsockopt(s->fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &len))
        return -errno;
    result = produce(s, 0, &s->fill, &off.fr, sizeof(uint64_t), XDP_UMEM_PGOFF_FILL_RING);
    if (!result)
        result = consume(s, 1, &s->completion, &off.cr, sizeof(uint64_t),
                         (off_t)XDP_UMEM_PGOFF_COMPLETION_RING);
    if (!result)
        result = consume(s, 2, &s->rx, &off.rx, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING);
    if (!result)
        result = produce(s, 3, &s->tx, &off.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING);
    return result;
}

static int make(struct xsock *s, const struct pool *pool, const struct netio_err *err)
{
    int result;

    memset(s, 0, sizeof(*s));
    s->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    result = s->fd < 0 ? -errno : register_umem(s, pool);
    if (result == 0)
        result = make_rings(s);
    if (result == 0)
        return 0;
    if (result == -EPERM)
        netio_err_set(err, "af_xdp: no right to open an AF_XDP socket: run as root (CAP_NET_RAW)");
    else if (result == -ENOBUFS)
        netio_err_set(err,
                      "af_xdp: %zu bytes of locked memory are over the limit: raise it "
                      "(ulimit -l unlimited) or run as root",
                      pool->mem_size);
    else if (result == -EAFNOSUPPORT)
        netio_err_set(err, "af_xdp: this kernel has no AF_XDP (CONFIG_XDP_SOCKETS): use "
                           "tap:IFNAME instead");
    else
        netio_err_set(err, "af_xdp: cannot register the frames' memory: %s", strerror(-result));
    return -1;
}

/* Binds to the queue; waits while a predecessor still holds it. */
static int bind_queue(struct xsock *s, unsigned ifindex, uint32_t queue, unsigned flags,
                      unsigned *waited_ms)
{
    struct sockaddr_xdp to = {
        .sxdp_family = AF_XDP,
        .sxdp_flags = (uint16_t)(XDP_USE_NEED_WAKEUP | flags),
        .sxdp_ifindex = ifindex,
        .sxdp_queue_id = queue,
    };
    int result;

    do {
        result = bind(s->fd, (struct sockaddr *)&to, sizeof(to)) ? -errno : 0;
    } while (result == -EBUSY && steer_wait_busy(waited_ms));
    return result;
}

static void set_bind_error(const char *ifname, uint32_t queue, enum xsock_copy copy, int result,
                           const struct netio_err *err)
{
    if (result == -EBUSY)
        netio_err_set(err, "af_xdp: queue %u of %s is in use by another AF_XDP socket: end it",
                      queue, ifname);
    else if (copy == XSOCK_ZERO_COPY)
        netio_err_set(err,
                      "af_xdp: queue %u of %s has no zero-copy (%s): use copy=auto or copy=copy",
                      queue, ifname, strerror(-result));
    else
        netio_err_set(err, "af_xdp: cannot bind to queue %u of %s: %s", queue, ifname,
                      strerror(-result));
}

/* The best first. The kernel's own choice would give up zero-copy to get XDP_USE_SG. */
static const unsigned ways[] = {XDP_ZEROCOPY | XDP_USE_SG, XDP_ZEROCOPY, XDP_COPY | XDP_USE_SG,
                                XDP_COPY};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void set_way(struct xsock *s, unsigned way)
{
    s->way = way;
    s->sg = (ways[way] & XDP_USE_SG) != 0;
    s->zero_copy = (ways[way] & XDP_ZEROCOPY) != 0;
}

int xsock_open(struct xsock *s, const struct pool *pool, const char *ifname, uint32_t queue,
               enum xsock_copy copy, const struct netio_err *err)
{
    unsigned i = copy == XSOCK_COPY ? 2 : 0, end = copy == XSOCK_ZERO_COPY ? 2 : WAYS;
    unsigned waited_ms = 0, ifindex = if_nametoindex(ifname);
    int result = 0;

    s->fd = -1;
    for (; i < end; i++) {
        /* each attempt needs a new socket: the memory area keeps the flags of an earlier one */
        if (make(s, pool, err))
            return -1;
        result = bind_queue(s, ifindex, queue, ways[i], &waited_ms);
        if (result == 0) {
            set_way(s, i);
            return 0;
        }
        xsock_close(s);
        if (result == -EBUSY)
            break;
    }
    set_bind_error(ifname, queue, copy, result, err);
    return -1;
}

int xsock_prepare(struct xsock *s, const struct pool *pool, unsigned way,
                  const struct netio_err *err)
{
    s->fd = -1;
    if (make(s, pool, err))
        return -1;
    set_way(s, way < WAYS ? way : WAYS - 1);
    return 0;
}

int xsock_bind(struct xsock *s, const char *ifname, uint32_t queue, const struct netio_err *err)
{
    unsigned waited_ms = 0;
    int result = bind_queue(s, if_nametoindex(ifname), queue, ways[s->way], &waited_ms);

    if (result == 0)
        return 0;
    set_bind_error(ifname, queue, XSOCK_COPY_AUTO, result, err);
    return -1;
}

void xsock_close(struct xsock *s)
{
    unsigned i;

    for (i = 0; i < 4; i++)
        if (s->maps[i].at)
            munmap(s->maps[i].at, s->maps[i].size);
    if (s->fd >= 0)
        close(s->fd);
    memset(s, 0, sizeof(*s));
    s->fd = -1;
}
