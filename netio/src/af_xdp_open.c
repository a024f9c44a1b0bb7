/* SPDX-License-Identifier: Apache-2.0 */
/*
 * af_xdp_open.c - opens af_xdp: queries the interface, attaches the XDP program, binds the socket,
 * and determines which offloads the kernel has.
 *
 * af_xdp:IFNAME[,queue=N][,mode=auto|native|generic][,copy=auto|copy|zero]
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "af_xdp.h"
#include "groups.h"
#include "ifctl.h"
#include "spec.h"

static int has_driver(const char *ifname, const char *name)
{
    char driver[32];

    return ifctl_get_driver(ifname, driver, sizeof(driver)) == 0 && strcmp(driver, name) == 0;
}

static int is_veth(const char *ifname)
{
    return has_driver(ifname, "veth");
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
    /* veth reports it, and does not: there the tag is missing if the peer has txvlan on */
    if (x->vlan && !is_veth(ifname) && ifctl_strips_vlan(ifname)) {
        netio_err_set(err,
                      "af_xdp: interface %s removes VLAN tags before XDP sees them: 'ethtool -K %s "
                      "rxvlan off' first",
                      ifname, ifname);
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

/* Sets the MTU, and allocates memory to build frames that exceed one buffer. */
static int set_sizes(struct af_xdp *x, const struct netio_err *err)
{
    uint32_t header = x->vlan ? ETH_TAGGED : ETH_HEADER, room = x->pool.frame_size - SEND_HEADROOM;
    uint32_t limit =
        x->sock.sg ? BIG_FRAME - ETH_TAGGED : x->pool.frame_size - XDP_HEADROOM - header;

    if (x->n.info.mtu > limit)
        x->n.info.mtu = limit;
    x->frame_max = x->n.info.mtu + ETH_TAGGED;
    x->send_max = x->n.info.mtu + header;
    x->send_pieces = (x->send_max + room - 1) / room;
    if (x->send_pieces == 1)
        return 0;
    x->scratch = lines_calloc(1, x->send_max);
    if (x->scratch)
        return 0;
    netio_err_set(err, "af_xdp: out of memory");
    return -1;
}

/*
 * Sets the offered features. In copy mode the kernel computes the checksums that metadata request,
 * if the device does not. In zero-copy only the driver could, and one that cannot ignores the
 * request. Between two veths a checksum may be omitted: nothing can damage the frame there. So it
 * is between a guest's virtio_net and its host (VIRTIO_NET_F_GUEST_CSUM), unless a native program
 * is attached: the driver then asks the host for checksums.
 */
static void offer(struct af_xdp *x, const char *ifname)
{
    int generic = steer_is_generic(x->steer);

    x->veth = is_veth(ifname);
    x->partial = x->veth || (generic && has_driver(ifname, "virtio_net"));
    if (x->sock.metadata && !x->sock.zero_copy)
        x->n.info.offered |= NETIO_O_TX_CSUM;
    if (x->sock.metadata && !x->sock.zero_copy && x->scratch)
        x->n.info.offered |= NETIO_O_SG;
    if (x->partial)
        x->n.info.offered |= NETIO_O_RX_CSUM | NETIO_O_PARTIAL;
    /* With a native program the peer's kernel segments frames; a generic one receives them
     * unsegmented. */
    if (x->partial && x->sock.sg && generic)
        x->n.info.offered |= NETIO_O_LRO;
}

static void describe(struct af_xdp *x, uint32_t asked)
{
    char mtu[48] = "", vlan[64] = "";

    if (asked != x->n.info.mtu)
        snprintf(mtu, sizeof(mtu), " (MTU %u taken as %u)", asked, x->n.info.mtu);
    if (x->vlan)
        snprintf(vlan, sizeof(vlan), " VLAN %u%s", x->vlan,
                 x->veth ? " (the peer needs txvlan off)" : "");
    snprintf(x->n.mode, sizeof(x->n.mode), "af_xdp %s %s%s%s", steer_mode_text(x->steer),
             x->sock.zero_copy ? "zero-copy" : "copy", mtu, vlan);
}

/* Opens the packet socket for the IPv6 frames that AF_XDP does not receive; netio_fd() signals
 * both.
 */
static int open_groups(struct af_xdp *x, const char *ifname, const struct netio_err *err)
{
    x->groups_fd = groups_open(x->ifindex, x->vlan);
    if (x->groups_fd >= 0 && watch_also(&x->watch, x->groups_fd) == 0)
        return 0;
    netio_err_set(err, "af_xdp: cannot open a packet socket on %s for IPv6: %s", ifname,
                  strerror(errno));
    return -1;
}

/* Opens the packet socket for ARP. Its frames wake no thread: they are read before the next frame
 * is sent. */
static int open_announcements(struct af_xdp *x, const char *ifname, const struct netio_err *err)
{
    x->announcements_fd = announcements_open(x->ifindex, x->vlan);
    if (x->announcements_fd >= 0)
        return 0;
    netio_err_set(err, "af_xdp: cannot open a packet socket on %s for ARP: %s", ifname,
                  strerror(errno));
    return -1;
}

static int make_pool(struct af_xdp *x, const struct netio_err *err)
{
    int small = x->n.info.mtu + ETH_TAGGED + XDP_HEADROOM <= SMALL_FRAME;
    uint32_t size = small && !steer_is_generic(x->steer) ? SMALL_FRAME : LARGE_FRAME;

    x->n.info.hold_max = FRAME_COUNT / HOLD_SHARE;
    x->n.info.flush_calls = 1;
    x->n.info.tended = 1;
    if (pool_init(&x->pool, size, FRAME_COUNT) == 0)
        return 0;
    netio_err_set(err, "af_xdp: no memory for %u frames of %u bytes", FRAME_COUNT, size);
    return -1;
}

/* Enters the socket into the program's map. From then on frames arrive. */
static int enter(struct af_xdp *x, const char *ifname, uint32_t queue, const struct netio_err *err)
{
    int result = steer_enter(x->steer, queue, x->sock.fd);

    if (result == 0)
        return 0;
    netio_err_set(err, "af_xdp: cannot enter queue %u of %s into the XDP program's map: %s", queue,
                  ifname, strerror(result));
    return -1;
}

/* Opens the socket. A standby is not bound to the queue yet. */
static int open_socket(struct af_xdp *x, uint32_t queue, unsigned copy, uint32_t standby,
                       const struct netio_err *err)
{
    if (standby)
        return xsock_prepare(&x->sock, &x->pool, standby - 1, err);
    return xsock_open(&x->sock, &x->pool, x->ifname, queue, (enum xsock_copy)copy, err);
}

/* What the packet sockets of a standby have received is old. */
int af_xdp_activate(struct netio *n, const struct netio_err *err)
{
    struct af_xdp *x = (struct af_xdp *)n;

    groups_drain(x->groups_fd);
    groups_drain(x->announcements_fd);
    if (xsock_bind(&x->sock, x->ifname, x->ifqueue, err))
        return -1;
    return enter(x, x->ifname, x->ifqueue, err);
}

static int bring_up(struct af_xdp *x, const char *ifname, uint32_t queue, unsigned mode,
                    unsigned copy, const struct netio_config *cfg, const struct netio_err *err)
{
    const int budget = (int)XSOCK_RING;
    uint32_t mtu;

    x->vlan = cfg->vlan;
    if (check_interface(x, ifname, queue, err))
        return -1;
    mtu = x->n.info.mtu;
    x->ifindex = if_nametoindex(ifname);
    x->ifqueue = queue;
    snprintf(x->ifname, sizeof(x->ifname), "%s", ifname);
    x->steer = steer_attach(ifname, cfg, (enum steer_mode)mode, err);
    if (!x->steer || make_pool(x, err) || open_socket(x, queue, copy, cfg->standby, err) ||
        set_sizes(x, err))
        return -1;
    if (watch_open(&x->watch, x->sock.fd)) {
        netio_err_set(err, "af_xdp: cannot make an epoll set: %s", strerror(errno));
        return -1;
    }
    x->n.fd = x->watch.set;
    /* An older kernel rejects the option and sends 32 frames per call; flush then calls more often.
     */
    (void)setsockopt(x->sock.fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &budget, sizeof(budget));
    af_xdp_refill(x);
    if (!cfg->standby && enter(x, ifname, queue, err))
        return -1;
    x->n.info.standby = 1 + x->sock.way;
    if (cfg->ip6 && queue == 0 && open_groups(x, ifname, err))
        return -1;
    if (!cfg->shared && queue == 0 && open_announcements(x, ifname, err))
        return -1;
    offer(x, ifname);
    describe(x, mtu);
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
        spec_get_number(&spec, "af_xdp", "queue", 0, 65535, cfg->queue, &queue, err) ||
        spec_get_choice(&spec, "af_xdp", "mode", "auto native generic", &mode, err) ||
        spec_get_choice(&spec, "af_xdp", "copy", "auto copy zero", &copy, err))
        return NULL;
    x = lines_calloc(1, sizeof(*x));
    if (!x) {
        netio_err_set(err, "af_xdp: out of memory");
        return NULL;
    }
    x->n.ops = &af_xdp_ops;
    x->n.fd = x->watch.set = x->sock.fd = x->groups_fd = x->announcements_fd = -1;
    if (bring_up(x, spec.name, (uint32_t)queue, mode, copy, cfg, err)) {
        af_xdp_ops.close(&x->n);
        return NULL;
    }
    return &x->n;
}
