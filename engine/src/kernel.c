/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.c - follows the kernel's addresses, routes and neighbours (kernel.h).
 *
 * Of routes and addresses no news is believed in part: whatever has changed, all is read anew.
 * Neighbours are told one by one. An engine's question is passed on to the kernel, which resolves
 * (NTF_USE) and verifies as for its own connections.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel.h"
#include "log.h"

#define NEWS      32768 /* bytes read at once: what the kernel puts into one message at most */
#define NUD_KNOWN (NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE)

union news {
    struct nlmsghdr h;
    char bytes[NEWS];
};

static int netlink(uint32_t groups)
{
    const struct sockaddr_nl here = {.nl_family = AF_NETLINK, .nl_groups = groups};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&here, sizeof(here)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- the interface ---- */

/* The name that stands in "af_xdp:IFNAME,...", whatever stands around it. */
static int name_of(const char *spec, char name[16])
{
    const char *at = strstr(spec, "af_xdp:");
    size_t n;

    if (!at)
        return -1;
    at += strlen("af_xdp:");
    n = strcspn(at, ",)");
    if (!n || n >= IFNAMSIZ)
        return -1;
    memcpy(name, at, n);
    name[n] = 0;
    return 0;
}

static uint8_t prefix_of(const struct sockaddr *mask)
{
    struct sockaddr_in m;

    if (!mask)
        return 32;
    memcpy(&m, mask, sizeof(m));
    return (uint8_t)__builtin_popcount(m.sin_addr.s_addr);
}

/* The interface's first address of IPv4, or this one of it; with its prefix. 0, or -1. */
static int find_address(const char *ifname, const uint8_t *this, uint8_t ip[4], uint8_t *prefix)
{
    struct ifaddrs *all, *a;
    struct sockaddr_in in;
    int rc = -1;

    if (getifaddrs(&all) != 0)
        return -1;
    for (a = all; a && rc != 0; a = a->ifa_next) {
        if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || strcmp(a->ifa_name, ifname) != 0)
            continue;
        memcpy(&in, a->ifa_addr, sizeof(in));
        if (this && memcmp(this, &in.sin_addr, 4) != 0)
            continue;
        memcpy(ip, &in.sin_addr, 4);
        *prefix = prefix_of(a->ifa_netmask);
        rc = 0;
    }
    freeifaddrs(all);
    return rc;
}

static int find_mac(const char *ifname, uint8_t mac[6])
{
    struct ifreq r = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

    snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", ifname);
    rc = fd < 0 ? -1 : ioctl(fd, SIOCGIFHWADDR, &r);
    if (fd >= 0)
        close(fd);
    if (rc == 0)
        memcpy(mac, r.ifr_hwaddr.sa_data, 6);
    return rc;
}

/* ---- routes ---- */

static uint32_t number_in(const struct rtattr *a)
{
    uint32_t n = 0;

    memcpy(&n, RTA_DATA(a), RTA_PAYLOAD(a) < sizeof(n) ? RTA_PAYLOAD(a) : sizeof(n));
    return n;
}

/* Of several ways (RTA_MULTIPATH) the first by our interface. Not 0 when there is one. */
static int way_by(const struct kernel *k, const struct rtattr *many, struct route *r)
{
    const struct rtnexthop *w = RTA_DATA(many);
    size_t left = RTA_PAYLOAD(many);

    for (; RTNH_OK(w, (int)left); left -= RTNH_ALIGN(w->rtnh_len), w = RTNH_NEXT(w)) {
        const struct rtattr *a = RTNH_DATA(w);
        size_t n = w->rtnh_len - RTNH_LENGTH(0);

        if ((unsigned)w->rtnh_ifindex != k->ifindex || (w->rtnh_flags & RTNH_F_DEAD))
            continue;
        for (; RTA_OK(a, n); a = RTA_NEXT(a, n))
            if (a->rta_type == RTA_GATEWAY)
                r->gateway = ntohl(number_in(a));
            else if (a->rta_type == RTA_VIA)
                r->nowhere = 1;
        return 1;
    }
    return 0;
}

static void note_route(struct kernel *k, const struct nlmsghdr *h)
{
    const struct rtmsg *m = NLMSG_DATA(h);
    const struct rtattr *a = RTM_RTA(m);
    size_t left = RTM_PAYLOAD(h);
    struct route r = {.len = m->rtm_dst_len};
    uint32_t table = m->rtm_table;
    int ours = m->rtm_type != RTN_UNICAST;

    if (m->rtm_family != AF_INET || (m->rtm_flags & RTNH_F_DEAD))
        return;
    r.nowhere = (uint8_t)ours;
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == RTA_DST)
            r.to = ntohl(number_in(a));
        else if (a->rta_type == RTA_GATEWAY)
            r.gateway = ntohl(number_in(a));
        else if (a->rta_type == RTA_VIA)
            r.nowhere = 1; /* a gateway of IPv6, which this stack does not reach IPv4 by */
        else if (a->rta_type == RTA_PRIORITY)
            r.metric = number_in(a);
        else if (a->rta_type == RTA_TABLE)
            table = number_in(a);
        else if (a->rta_type == RTA_OIF)
            ours |= number_in(a) == k->ifindex;
        else if (a->rta_type == RTA_MULTIPATH)
            ours |= way_by(k, a, &r);
    }
    if (!ours || table != RT_TABLE_MAIN)
        return;
    if (k->routes->count < ROUTES_MAX)
        k->routes->route[k->routes->count] = r;
    k->routes->count++;
}

/* All that stand in the main table for our interface. 0, or -1 with errno. */
static int read_routes(struct kernel *k)
{
    struct {
        struct nlmsghdr h;
        struct rtmsg m;
    } q = {.h = {.nlmsg_len = sizeof(q),
                 .nlmsg_type = RTM_GETROUTE,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
           .m = {.rtm_family = AF_INET}};
    static union news news;
    int fd = netlink(0), done = 0;

    k->routes->count = 0;
    if (fd < 0 || send(fd, &q, sizeof(q), 0) != (ssize_t)sizeof(q))
        done = -1;
    while (!done) {
        ssize_t n = recv(fd, &news, sizeof(news), 0);
        const struct nlmsghdr *h = &news.h;

        if (n <= 0)
            done = n < 0 && errno == EINTR ? 0 : -1;
        for (; n > 0 && !done && NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n)) {
            if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
                done = h->nlmsg_type == NLMSG_DONE ? 1 : -1;
            else if (h->nlmsg_type == RTM_NEWROUTE)
                note_route(k, h);
        }
    }
    if (fd >= 0)
        close(fd);
    if (k->routes->count > ROUTES_MAX) {
        log_msg("%u routes by %s: %u of them are used", k->routes->count, k->ifname, ROUTES_MAX);
        k->routes->count = ROUTES_MAX;
    }
    routes_sort(k->routes);
    return done > 0 ? 0 : -1;
}

static const struct route *default_route(const struct kernel *k)
{
    const struct route *r = k->routes->count ? &k->routes->route[k->routes->count - 1] : NULL;
    const struct route *best = NULL;

    while (r && r >= k->routes->route && r->len == 0)
        best = r--;
    return best && !best->nowhere ? best : NULL;
}

static void each_engine(struct kernel *k, engine_fn fn, void *arg)
{
    uint32_t i;

    for (i = 0; i < k->control->engine_count; i++)
        engine_call(k->control->engines[i], fn, arg);
}

/* ---- opening ---- */

static void take_port(void *arg, uint16_t port, unsigned how)
{
    struct kernel *k = arg;

    if (k->control->engine_count)
        netio_take_port(k->control->engines[0]->netio, port, how);
}

static int failed(int rc, char *err, size_t err_size, const char *what)
{
    snprintf(err, err_size, "--ip shared: %s: %s", what, strerror(errno));
    return rc;
}

static int make(struct kernel *k, char *err, size_t err_size)
{
    int ends[2];

    k->routes = calloc(1, sizeof(*k->routes));
    k->shared.ports = ports_new(k->ip, take_port, k);
    if (!k->routes || !k->shared.ports)
        return failed(EXIT_RUNTIME, err, err_size, "no memory");
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return failed(EXIT_RUNTIME, err, err_size, "no pipe");
    k->asked = ends[0];
    k->shared.ask_fd = ends[1];
    k->events = netlink(RTMGRP_LINK | RTMGRP_NEIGH | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE);
    if (k->events < 0 || fcntl(k->events, F_SETFL, O_NONBLOCK) != 0 || read_routes(k) != 0)
        return failed(EXIT_RUNTIME, err, err_size, "cannot ask the kernel (rtnetlink)");
    return -1;
}

/* The interface of the default route may be the only way to this machine. */
static int check_default(const struct kernel *k, struct options *o, char *err, size_t err_size)
{
    const struct route *r = default_route(k);

    if (!r)
        return -1;
    if (!o->force) {
        snprintf(err, err_size,
                 "--ip shared: %s carries the default route of this machine; a mistake there may "
                 "cut you off: --force if it is meant",
                 k->ifname);
        return EXIT_CONFIG;
    }
    log_msg("warning: %s carries the default route of this machine, and --force is given",
            k->ifname);
    toe_ip4_bytes(r->gateway, o->gateway);
    return -1;
}

int kernel_open(struct kernel *k, struct control *c, struct options *o, char *err, size_t err_size)
{
    int rc;

    k->events = k->asked = k->shared.ask_fd = -1;
    if (!o->shared)
        return -1;
    k->control = c;
    k->options = o;
    if (name_of(o->netif, k->ifname) != 0) {
        snprintf(err, err_size,
                 "--ip shared: want --netif af_xdp:IFNAME: no other back end can "
                 "share an address with the kernel");
        return EXIT_CONFIG;
    }
    k->ifindex = if_nametoindex(k->ifname);
    if (!k->ifindex) {
        snprintf(err, err_size, "--ip shared: there is no interface '%s'", k->ifname);
        return EXIT_CONFIG;
    }
    if (find_address(k->ifname, NULL, k->ip, &o->prefix_len) != 0) {
        snprintf(err, err_size,
                 "--ip shared: interface %s has no IPv4 address to share: give it "
                 "one ('ip address add'), or toed one of its own (--ip A.B.C.D/LEN)",
                 k->ifname);
        return EXIT_CONFIG;
    }
    if (k->ip[0] == IN_LOOPBACKNET) {
        snprintf(err, err_size,
                 "--ip shared: %s is the loopback interface: no other host reaches its "
                 "address: name the interface that the peers are behind",
                 k->ifname);
        return EXIT_CONFIG;
    }
    memcpy(o->ip, k->ip, sizeof(o->ip));
    if (find_mac(k->ifname, k->mac) != 0)
        return failed(EXIT_CONFIG, err, err_size, k->ifname);
    k->has_address = 1;
    rc = make(k, err, err_size);
    return rc >= 0 ? rc : check_default(k, o, err, err_size);
}

void kernel_start(struct kernel *k)
{
    if (k->events >= 0)
        each_engine(k, shared_set_routes, k->routes);
}

/* ---- neighbours ---- */

struct neighbour_message {
    struct nlmsghdr h;
    struct ndmsg m;
    struct rtattr a;
    uint8_t ip[4];
};

static void neighbour_say(const struct kernel *k, const uint8_t ip[4], unsigned type,
                          unsigned flags, unsigned ndm_flags)
{
    struct neighbour_message q = {.h = {.nlmsg_len = sizeof(q),
                                        .nlmsg_type = (uint16_t)type,
                                        .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)},
                                  .m = {.ndm_family = AF_INET,
                                        .ndm_ifindex = (int)k->ifindex,
                                        .ndm_flags = (uint8_t)ndm_flags},
                                  .a = {.rta_len = RTA_LENGTH(4), .rta_type = NDA_DST}};

    memcpy(q.ip, ip, 4);
    if (send(k->events, &q, sizeof(q), 0) < 0)
        log_msg("cannot ask the kernel about a neighbour: %s", strerror(errno));
}

void kernel_ask(struct kernel *k)
{
    uint8_t ips[64][4];
    ssize_t n = read(k->asked, ips, sizeof(ips)), i;

    for (i = 0; i < n / 4; i++) {
        neighbour_say(k, ips[i], RTM_NEWNEIGH, NLM_F_CREATE, NTF_USE);
        neighbour_say(k, ips[i], RTM_GETNEIGH, 0, 0);
    }
}

static void ask_all(const struct kernel *k)
{
    struct {
        struct nlmsghdr h;
        struct ndmsg m;
    } q = {.h = {.nlmsg_len = sizeof(q),
                 .nlmsg_type = RTM_GETNEIGH,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
           .m = {.ndm_family = AF_INET}};

    if (send(k->events, &q, sizeof(q), 0) < 0)
        log_msg("cannot ask the kernel about neighbours: %s", strerror(errno));
}

static void note_neighbour(struct kernel *k, const struct nlmsghdr *h)
{
    const struct ndmsg *m = NLMSG_DATA(h);
    const struct rtattr *a = (const void *)((const char *)m + NLMSG_ALIGN(sizeof(*m)));
    size_t left = h->nlmsg_len - NLMSG_LENGTH(sizeof(*m));
    struct shared_neighbour n = {.known = (m->ndm_state & NUD_KNOWN) != 0};
    int ip = 0, mac = 0;

    if (m->ndm_family != AF_INET || (unsigned)m->ndm_ifindex != k->ifindex)
        return;
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == NDA_DST && RTA_PAYLOAD(a) == 4) {
            memcpy(n.ip, RTA_DATA(a), 4);
            ip = 1;
        } else if (a->rta_type == NDA_LLADDR && RTA_PAYLOAD(a) == 6) {
            memcpy(n.mac, RTA_DATA(a), 6);
            mac = 1;
        }
    }
    if (ip && (n.known ? mac : (m->ndm_state & NUD_FAILED) != 0))
        each_engine(k, shared_set_neighbour, &n);
}

/* ---- news ---- */

/* Everything but neighbours, read anew. Not 0 when the interface has become another. */
static int look_again(struct kernel *k)
{
    uint8_t prefix = k->options->prefix_len, mac[6];
    int has = find_address(k->ifname, k->ip, k->ip, &prefix) == 0;
    char text[INET_ADDRSTRLEN];

    if (find_mac(k->ifname, mac) == 0 && memcmp(mac, k->mac, 6) != 0) {
        log_msg("the Ethernet address of %s is another now: start toed anew", k->ifname);
        return 1;
    }
    inet_ntop(AF_INET, k->ip, text, sizeof(text));
    if (!has && k->has_address) {
        log_msg("the kernel has %s no more: all connections are reset; nothing is served until "
                "it has it again",
                text);
        each_engine(k, shared_reset, NULL); /* before the routes go: peers are to hear of it */
    } else if (has && !k->has_address) {
        log_msg("the kernel has %s again", text);
    }
    k->has_address = has;
    if (prefix != k->options->prefix_len) {
        log_msg("the prefix of %s has %u bits now", text, prefix);
        k->options->prefix_len = prefix;
        each_engine(k, shared_set_prefix, &prefix);
    }
    if (read_routes(k) != 0) {
        log_msg("cannot read the kernel's routes: %s", strerror(errno));
        if (has)
            return 0; /* as they were */
    }
    if (!has)
        k->routes->count = 0; /* by another address of the interface, from which we do not send */
    each_engine(k, shared_set_routes, k->routes);
    return 0;
}

int kernel_news(struct kernel *k)
{
    static union news news;
    int again = 0, lost = 0;
    ssize_t n;

    while ((n = recv(k->events, &news, sizeof(news), 0)) > 0 || (n < 0 && errno == ENOBUFS)) {
        const struct nlmsghdr *h = &news.h;

        lost |= n < 0;
        for (; n > 0 && NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n)) {
            if (h->nlmsg_type == RTM_NEWNEIGH)
                note_neighbour(k, h);
            else if (h->nlmsg_type != RTM_DELNEIGH && h->nlmsg_type != NLMSG_ERROR &&
                     h->nlmsg_type != NLMSG_DONE)
                again = 1;
        }
    }
    if (lost)
        ask_all(k);
    return again || lost ? look_again(k) : 0;
}

void kernel_close(struct kernel *k)
{
    if (!k->control) /* nothing was opened */
        return;
    if (k->events >= 0)
        close(k->events);
    if (k->asked >= 0)
        close(k->asked);
    if (k->shared.ask_fd >= 0)
        close(k->shared.ask_fd);
    ports_free(k->shared.ports);
    free(k->routes);
}
