/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tap.c - packets by a TAP device: the kernel is the peer.
 *
 * tap:IFNAME[,host=A.B.C.D/LEN]
 *
 * The device is created when absent and disappears with its last queue. A virtio header (struct
 * virtio_net_hdr of linux/virtio_net.h) precedes each frame and describes its offloads. The kernel
 * completes the checksums of our frames and segments our large ones. TUNSETOFFLOAD (linux/if_tun.h)
 * sets which offloads the kernel may use for frames to us; large UDP frames are not among them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <toe/number.h>

#include "big.h"
#include "ifctl.h"
#include "spec.h"

#define FRAME_COUNT 1024u

struct tap {
    struct netio n;
    struct pool pool, big; /* big: to receive into while NETIO_O_LRO is on */
    uint32_t tx_flags;     /* of frames to fill */
    uint32_t multi;        /* the device may have several queues */
};

static struct tap *self(struct netio *n)
{
    return (struct tap *)n;
}

/* Allocates a buffer for any frame: the size of the next one is not known before it is read. */
static int rx_buffer(struct tap *t, struct netio_frame *f)
{
    uint32_t offset;

    memset(f, 0, sizeof(*f));
    f->cap = BIG_SIZE;
    if (t->n.features & NETIO_O_LRO)
        return big_get(&t->big, &f->token, &f->data);
    f->cap = t->pool.frame_size;
    if (pool_get(&t->pool, &offset))
        return -1;
    f->data = t->pool.mem + offset;
    f->token = offset;
    return 0;
}

static unsigned tap_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns)
{
    struct tap *t = self(n);
    unsigned count = 0;

    (void)now_ns;
    while (count < max && rx_buffer(t, &frames[count]) == 0) {
        struct netio_frame *f = &frames[count];
        struct virtio_net_hdr h;
        struct iovec iov[2] = {{&h, sizeof(h)}, {f->data, f->cap}};
        ssize_t len = readv(n->fd, iov, 2);

        if (len <=
            (ssize_t)sizeof(h)) { /* EAGAIN: the queue is empty; EIO: the interface is down */
            big_put(&t->big, &t->pool, f->token);
            break;
        }
        f->len = (uint32_t)len - (uint32_t)sizeof(h);
        if (f->len > f->cap) { /* large, sent before NETIO_O_LRO was disabled */
            big_put(&t->big, &t->pool, f->token);
            n->stats.rx_dropped++;
            continue;
        }
        if (h.flags & (VIRTIO_NET_HDR_F_NEEDS_CSUM | VIRTIO_NET_HDR_F_DATA_VALID))
            f->flags = NETIO_F_L4_CSUM_OK;
        f->gso_size = h.gso_type == VIRTIO_NET_HDR_GSO_NONE ? 0 : h.gso_size;
        n->stats.rx_frames++;
        n->stats.rx_bytes += f->len;
        count++;
    }
    return count;
}

static void tap_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++)
        big_put(&self(n)->big, &self(n)->pool, frames[i].token);
}

static int tap_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    struct tap *t = self(n);
    uint32_t offset;

    if (pool_get(&t->pool, &offset))
        return -1;
    *frame = (struct netio_frame){
        .data = t->pool.mem + offset,
        .cap = t->pool.frame_size,
        .flags = t->tx_flags,
        .token = offset,
    };
    return 0;
}

static void describe_frame(struct virtio_net_hdr *h, const struct netio_frame *f)
{
    memset(h, 0, sizeof(*h));
    if (f->flags & NETIO_F_CSUM_PARTIAL) {
        h->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
        h->csum_start = f->csum_start;
        h->csum_offset = f->csum_offset;
    }
    if (f->flags & NETIO_F_TSO) {
        h->gso_type = frame_is_ip4(f) ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6;
        h->gso_size = f->gso_size;
        h->hdr_len = f->hdr_len;
    }
}

/* Writes the frame at once: each write passes one frame to the kernel, so waiting for the flush
 * gains nothing. */
static void tap_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    struct tap *t = self(n);
    struct virtio_net_hdr h;
    struct iovec iov[2 + NETIO_REFS_MAX] = {{&h, sizeof(h)}, {frame->data, frame->len}};
    uint32_t total = frame_total(frame), i;

    (void)now_ns;
    describe_frame(&h, frame);
    for (i = 0; i < frame->ref_count; i++)
        /* writev() does not modify this memory */
        iov[2 + i] = (struct iovec){(void *)(uintptr_t)frame->refs[i].data, frame->refs[i].len};
    if (writev(n->fd, iov, (int)(2 + i)) == (ssize_t)(sizeof(h) + total)) {
        n->stats.tx_frames++;
        n->stats.tx_bytes += total;
    } else {
        n->stats.tx_dropped++;
    }
    pool_put(&t->pool, (uint32_t)frame->token);
}

static void tap_tx_cancel(struct netio *n, const struct netio_frame *frame)
{
    pool_put(&self(n)->pool, (uint32_t)frame->token);
}

static void tap_tx_flush(struct netio *n, uint64_t now_ns)
{
    (void)n;
    (void)now_ns;
}

/* The descriptor is level-triggered: waiting frames make it readable at once. */
static int tap_prepare_sleep(struct netio *n)
{
    (void)n;
    return 0;
}

static int tap_heir(const struct netio *n)
{
    return n->fd;
}

static void tap_close(struct netio *n)
{
    struct tap *t = self(n);

    if (n->fd >= 0)
        close(n->fd);
    pool_free(&t->pool);
    pool_free(&t->big);
    free(t);
}

static void tap_set_features(struct netio *n)
{
    struct tap *t = self(n);
    unsigned leave = 0; /* offloads of frames to us */

    if (n->features & NETIO_O_PARTIAL)
        leave = TUN_F_CSUM;
    if (n->features & NETIO_O_LRO)
        leave |= TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
    (void)ioctl(n->fd, TUNSETOFFLOAD, leave); /* was accepted once, at the open */
    t->tx_flags = (n->features & NETIO_O_TX_CSUM ? NETIO_F_CSUM_PARTIAL : 0) |
                  (n->features & NETIO_O_SG ? NETIO_F_SG : 0) |
                  (n->features & NETIO_O_TSO ? NETIO_F_TSO : 0);
}

/* Sets the offered features. Every kernel accepts offloads in our frames; it may reject those of
 * frames to us. */
static void offer(struct tap *t)
{
    unsigned most = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;

    t->n.info.offered = NETIO_O_TX_CSUM | NETIO_O_SG | NETIO_O_TSO;
    t->n.info.tso_max = BIG_PAYLOAD;
    if (ioctl(t->n.fd, TUNSETOFFLOAD, most) == 0)
        t->n.info.offered |= NETIO_O_RX_CSUM | NETIO_O_PARTIAL | NETIO_O_LRO;
    tap_set_features(&t->n); /* all off at first */
}

/* Takes the queue out of the device or puts it back; the descriptor keeps the right to do so. */
static int use_queue(const struct tap *t, int on)
{
    struct ifreq ifr;

    memset(&ifr, 0, sizeof(ifr));
    ifr.ifr_flags = on ? IFF_ATTACH_QUEUE : IFF_DETACH_QUEUE;
    return ioctl(t->n.fd, TUNSETQUEUE, &ifr);
}

static int tap_activate(struct netio *n, const struct netio_err *err)
{
    if (use_queue(self(n), 1) == 0)
        return 0;
    netio_err_set(err, "tap: cannot attach the standby queue: %s", strerror(errno));
    return -1;
}

static const struct netio_ops ops = {
    .close = tap_close,
    .rx = tap_rx,
    .rx_release = tap_rx_release,
    .tx_alloc = tap_tx_alloc,
    .tx_submit = tap_tx_submit,
    .tx_cancel = tap_tx_cancel,
    .tx_flush = tap_tx_flush,
    .prepare_sleep = tap_prepare_sleep,
    .heir = tap_heir,
    .activate = tap_activate,
    .set_features = tap_set_features,
};

static void set_attach_error(const char *ifname, const struct netio_err *err)
{
    switch (errno) {
    case EPERM:
    case EACCES:
        netio_err_set(err, "tap: no right to make or attach to %s: run as root (CAP_NET_ADMIN)",
                      ifname);
        break;
    case EBUSY:
        netio_err_set(err, "tap: %s is in use by another process: end it or use another name",
                      ifname);
        break;
    case EINVAL:
        netio_err_set(err, "tap: %s exists and is not a TAP device: use another name", ifname);
        break;
    default:
        netio_err_set(err, "tap: cannot attach to %s: %s", ifname, strerror(errno));
    }
}

/* Attaches a queue, with several queues if the device allows: a persistent device created without
 * them has one. */
static int attach(struct tap *t, const char *ifname, int heir, const struct netio_err *err)
{
    struct ifreq ifr;

    t->n.fd = heir; /* attached already */
    if (heir >= 0)
        return 0;

    t->n.fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (t->n.fd < 0) {
        netio_err_set(err, "tap: cannot open /dev/net/tun: %s: load the module tun and run as root",
                      strerror(errno));
        return -1;
    }
    memset(&ifr, 0, sizeof(ifr));
    snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
    ifr.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_MULTI_QUEUE;
    t->multi = ioctl(t->n.fd, TUNSETIFF, &ifr) == 0;
    if (t->multi)
        return 0;
    if (errno == EINVAL) {
        ifr.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
        if (ioctl(t->n.fd, TUNSETIFF, &ifr) == 0)
            return 0;
    }
    set_attach_error(ifname, err);
    return -1;
}

static int parse_host(const char *text, uint8_t ip[4], unsigned *prefix_len)
{
    char address[INET_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    uint64_t len;

    if (!slash || (size_t)(slash - text) >= sizeof(address))
        return -1;
    memcpy(address, text, (size_t)(slash - text));
    address[slash - text] = '\0';
    if (!toe_number(slash + 1, 0, 32, &len, NULL, 0) || inet_pton(AF_INET, address, ip) != 1)
        return -1;
    *prefix_len = (unsigned)len;
    return 0;
}

/* Returns whether both addresses are in one subnet of this prefix length. */
static int same_subnet(const uint8_t a[4], const uint8_t b[4], unsigned prefix_len)
{
    unsigned i;

    for (i = 0; i < prefix_len; i++)
        if ((a[i / 8] ^ b[i / 8]) >> (7 - i % 8) & 1)
            return 0;
    return 1;
}

/* Returns whether an address is the first or the last one of its subnet, which no host can have;
 * with prefix lengths of 31 and 32 each can be a host's (RFC 3021). */
static int is_no_host(const uint8_t ip[4], unsigned prefix_len)
{
    uint32_t host = prefix_len > 30 ? 0 : UINT32_MAX >> prefix_len;
    uint32_t bits =
        ((uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3]) & host;

    return host && (bits == 0 || bits == host);
}

/* toe: the TOE's IPv4 address, 0.0.0.0 when it has none. */
static int set_host(const char *ifname, const char *host, const uint8_t toe[4],
                    const struct netio_err *err)
{
    static const uint8_t none[4];
    unsigned prefix_len;
    uint8_t ip[4];

    if (parse_host(host, ip, &prefix_len)) {
        netio_err_set(err,
                      "tap: host=%s is not an IPv4 address with a prefix length from 0 to 32: "
                      "write host=A.B.C.D/LEN",
                      host);
        return -1;
    }
    if (is_no_host(ip, prefix_len)) {
        netio_err_set(err,
                      "tap: host=%s is the network or broadcast address of its subnet: name one "
                      "between them",
                      host);
        return -1;
    }
    if (memcmp(toe, none, 4) != 0 && memcmp(toe, ip, 4) == 0) {
        netio_err_set(err, "tap: host=%s is the TOE's address: give the kernel's side another one",
                      host);
        return -1;
    }
    if (memcmp(toe, none, 4) != 0 && !same_subnet(toe, ip, prefix_len)) {
        netio_err_set(err,
                      "tap: host=%s: the TOE's address %u.%u.%u.%u is outside this subnet, so the "
                      "kernel would not reach it: name an address of the same subnet",
                      host, toe[0], toe[1], toe[2], toe[3]);
        return -1;
    }
    if (ifctl_set_address(ifname, ip, prefix_len)) {
        netio_err_set(err, "tap: cannot give %s the address %s: %s", ifname, host, strerror(errno));
        return -1;
    }
    return 0;
}

/*
 * Derives the TOE's MAC address from the kernel's, which is random in a device created here. It
 * differs from the kernel's, is locally administered, and is the same for all queues of the device,
 * which are one TOE to its peers.
 */
static void make_mac(uint8_t mac[6])
{
    mac[0] = (uint8_t)((mac[0] | 0x02) & ~0x01);
    mac[3] ^= 0x54;
    mac[4] ^= 0x4f;
    mac[5] ^= 0x45;
}

static int bring_up(struct tap *t, const struct spec *spec, const struct netio_config *cfg,
                    const struct netio_err *err)
{
    const char *ifname = spec->name;
    const char *host = spec_get(spec, "host");
    uint32_t frame_size;

    if (ifctl_check_name("tap", ifname, err) || attach(t, ifname, cfg->heir - 1, err))
        return -1;
    if (ifctl_set_up(ifname)) {
        netio_err_set(err, "tap: cannot bring %s up: %s", ifname, strerror(errno));
        return -1;
    }
    if (host && set_host(ifname, host, cfg->ip, err))
        return -1;
    if (ifctl_get_mac(ifname, t->n.info.mac) || ifctl_get_mtu(ifname, &t->n.info.mtu)) {
        netio_err_set(err, "tap: cannot ask about interface %s: %s", ifname, strerror(errno));
        return -1;
    }
    make_mac(t->n.info.mac);
    t->n.info.ifindex = if_nametoindex(ifname);
    t->n.info.queues = 1;
    frame_size = (t->n.info.mtu + ETH_TAGGED + 2047) / 2048 * 2048;
    if (pool_init(&t->pool, frame_size, FRAME_COUNT)) {
        netio_err_set(err, "tap: no memory for %u frames of %u bytes", FRAME_COUNT, frame_size);
        return -1;
    }
    offer(t);
    snprintf(t->n.mode, sizeof(t->n.mode), "tap");
    t->n.info.standby = t->multi;
    if (!cfg->standby || use_queue(t, 0) == 0)
        return 0;
    netio_err_set(err, "tap: cannot detach a queue of %s: %s", ifname, strerror(errno));
    return -1;
}

struct netio *tap_open(const char *args, const struct netio_config *cfg,
                       const struct netio_err *err)
{
    struct spec spec;
    struct tap *t;

    if (spec_parse(&spec, "tap", args, "host", err))
        return NULL;
    t = lines_calloc(1, sizeof(*t));
    if (!t) {
        netio_err_set(err, "tap: out of memory");
        return NULL;
    }
    t->n.ops = &ops;
    t->n.fd = -1;
    if (bring_up(t, &spec, cfg, err)) {
        tap_close(&t->n);
        return NULL;
    }
    return &t->n;
}
