/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.c - follows the kernel's addresses, routes and neighbours, of both families (kernel.h).
 *
 * On any change of routes or addresses, all of them are read again. Neighbours are followed one by
 * one. An engine's request for a neighbour is passed to the kernel, which resolves it (NTF_USE) and
 * verifies it as for its own connections.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/neighbour.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "frames/engine_state.h"
#include "kernel.h"
#include "kernel/routes.h"
#include "kernel/rtnl.h"
#include "round/thread.h"

#define NUD_KNOWN (NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE)

/* ---- the interface ---- */

/* Finds the name in "af_xdp:IFNAME,...", inside any wrappers. */
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

/* Finds the interface's first IPv4 address, or checks for the address `this`; with its prefix.
 * Returns 0 or -1. */
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

/* Reads the routes of our interface in the main table. Returns 0, or -1 with errno. */
static int read_routes(struct kernel *k)
{
    int rc = rtnl_routes(k->ifindex, k->shared.ports[1] != NULL, k->routes);

    if (k->routes->count > ROUTES_MAX) {
        log_warning("%u routes by %s: %u of them are used", k->routes->count, k->ifname,
                    ROUTES_MAX);
        k->routes->count = ROUTES_MAX;
        routes_sort(k->routes);
    }
    return rc;
}

static int read_addresses6(const struct kernel *k, struct addresses6 *out)
{
    memset(out, 0, sizeof(*out));
    return k->shared.ports[1] ? rtnl_addresses6(k->ifindex, out) : 0;
}

/* Returns the best default route of the family. */
static const struct route *default_route(const struct kernel *k, int ip6)
{
    const uint8_t len = ip6 ? 0 : 96;
    uint32_t i;

    for (i = 0; i < k->routes->count; i++) {
        const struct route *r = &k->routes->route[i];

        if (r->len == len && routes_is4(&r->to) == !ip6)
            return r->nowhere ? NULL : r;
    }
    return NULL;
}

static void each_engine(struct kernel *k, engine_fn fn, void *arg)
{
    uint32_t i;

    for (i = 0; i < k->control->engine_count; i++)
        engine_call(k->control->engines[i], fn, arg);
}

/* ---- opening ---- */

static void take_port(void *arg, int ip6, uint16_t port, unsigned how)
{
    struct kernel *k = arg;

    if (k->control->engine_count)
        netio_take_port(k->control->engines[0]->netio, ip6, port, how);
}

static int take_place(void *arg, const uint8_t addr[16], uint16_t port, int on)
{
    struct kernel *k = arg;

    return k->control->engine_count
               ? netio_take_place(k->control->engines[0]->netio, addr, port, on)
               : 0;
}

static const struct ports_ops ports_ops = {take_port, take_place};

void kernel_announce_ports(struct kernel *k)
{
    ports_announce(k->shared.ports[0]);
    if (k->shared.ports[1])
        ports_announce(k->shared.ports[1]);
}

void kernel_save_ports(const struct kernel *k, struct toec_image_out *o, struct takeover *t)
{
    ports_save(k->shared.ports[0], o, t);
    if (k->shared.ports[1])
        ports_save(k->shared.ports[1], o, t);
}

int kernel_restore_port(struct kernel *k, const struct toec_image_in *in, struct takeover *t)
{
    struct ports *p = k->shared.ports[ports_is_ip6(in)];

    return p ? ports_restore(p, in, t) : -1;
}

int kernel_tidy(struct kernel *k, uint64_t now)
{
    int left = ports_tidy(k->shared.ports[0], now);

    return (k->shared.ports[1] && ports_tidy(k->shared.ports[1], now)) || left;
}

void kernel_set_range(struct kernel *k, const struct port_range *r)
{
    ports_set_range(k->shared.ports[0], r);
    if (k->shared.ports[1])
        ports_set_range(k->shared.ports[1], r);
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
    k->shared.ports[0] = ports_new(k->ip, k->ifindex, &ports_ops, k);
    if (!k->routes || !k->shared.ports[0])
        return failed(EXIT_RUNTIME, err, err_size, "no memory");
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return failed(EXIT_RUNTIME, err, err_size, "no pipe");
    /* A kernel without IPv6 has nothing to share. */
    k->shared.ports[1] = ports_new(NULL, k->ifindex, &ports_ops, k);
    k->options->shared6 = k->shared.ports[1] != NULL;
    k->asked = ends[0];
    k->shared.ask_fd = ends[1];
    k->events = rtnl_open(RTMGRP_LINK | RTMGRP_NEIGH | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE |
                          RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE);
    if (k->events < 0 || fcntl(k->events, F_SETFL, O_NONBLOCK) != 0 || read_routes(k) != 0 ||
        read_addresses6(k, &k->addresses) != 0)
        return failed(EXIT_RUNTIME, err, err_size, "cannot ask the kernel (rtnetlink)");
    return -1;
}

/* Refuses the interface of the default route, which may be the only access to this machine. */
static int check_default(const struct kernel *k, struct options *o, char *err, size_t err_size)
{
    const struct route *r = default_route(k, 0);

    if (!r && !default_route(k, 1))
        return -1;
    if (!o->force) {
        snprintf(err, err_size,
                 "--ip shared: %s carries the default route of this machine; a mistake there may "
                 "cut you off: --force if it is meant",
                 k->ifname);
        return EXIT_CONFIG;
    }
    log_warning("warning: %s carries the default route of this machine, and --force is given",
                k->ifname);
    if (r)
        memcpy(o->gateway, r->gateway.b + 12, sizeof(o->gateway));
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

static void log_addresses6(struct kernel *k)
{
    if (k->addresses.count > TOEC_GIVEN_MAX)
        log_warning("%u addresses of IPv6 at %s: %u of them are used", k->addresses.count,
                    k->ifname, TOEC_GIVEN_MAX);
    each_engine(k, shared_set_addresses6, &k->addresses);
}

void kernel_start(struct kernel *k)
{
    if (k->events < 0)
        return;
    log_addresses6(k);
    each_engine(k, shared_set_routes, k->routes);
}

void kernel_resume(struct kernel *k)
{
    struct addresses6 now;

    if (read_addresses6(k, &now) == 0)
        k->addresses = now;
    kernel_start(k);
    kernel_announce_ports(k);
}

/* ---- neighbours ---- */

/* Has room for an IPv6 address. */
struct neighbour_message {
    struct nlmsghdr h;
    struct ndmsg m;
    struct rtattr a;
    uint8_t addr[16];
};

static void neighbour_request(const struct kernel *k, const struct toec_addr *addr, unsigned type,
                              unsigned flags, unsigned ndm_flags)
{
    int is4 = routes_is4(addr);
    unsigned size = is4 ? 4 : 16;
    struct neighbour_message q = {
        .h = {.nlmsg_type = (uint16_t)type, .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)},
        .m = {.ndm_family = is4 ? AF_INET : AF_INET6,
              .ndm_ifindex = (int)k->ifindex,
              .ndm_flags = (uint8_t)ndm_flags},
        .a = {.rta_type = NDA_DST}};

    q.a.rta_len = (uint16_t)RTA_LENGTH(size);
    q.h.nlmsg_len = (uint32_t)(offsetof(struct neighbour_message, addr) + size);
    memcpy(q.addr, addr->b + 16 - size, size);
    if (send(k->events, &q, q.h.nlmsg_len, 0) < 0)
        log_warning("cannot ask the kernel about a neighbour: %s", strerror(errno));
}

void kernel_ask(struct kernel *k)
{
    struct toec_addr addrs[64];
    ssize_t n = read(k->asked, addrs, sizeof(addrs)), i;

    for (i = 0; i < n / (ssize_t)sizeof(addrs[0]); i++) {
        neighbour_request(k, &addrs[i], RTM_NEWNEIGH, NLM_F_CREATE, NTF_USE);
        neighbour_request(k, &addrs[i], RTM_GETNEIGH, 0, 0);
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
           .m = {.ndm_family = AF_UNSPEC}};

    if (send(k->events, &q, sizeof(q), 0) < 0)
        log_warning("cannot ask the kernel about neighbours: %s", strerror(errno));
}

static void note_neighbour(struct kernel *k, const struct nlmsghdr *h)
{
    const struct ndmsg *m = NLMSG_DATA(h);
    const struct rtattr *a = (const void *)((const char *)m + NLMSG_ALIGN(sizeof(*m)));
    size_t left = h->nlmsg_len - NLMSG_LENGTH(sizeof(*m));
    struct shared_neighbour n = {.known = (m->ndm_state & NUD_KNOWN) != 0};
    int ip = 0, mac = 0;

    if ((m->ndm_family != AF_INET && m->ndm_family != AF_INET6) ||
        (unsigned)m->ndm_ifindex != k->ifindex)
        return;
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == NDA_DST) {
            ip = rtnl_address(a, &n.addr) == 0;
        } else if (a->rta_type == NDA_LLADDR && RTA_PAYLOAD(a) == 6) {
            memcpy(n.mac, RTA_DATA(a), 6);
            mac = 1;
        }
    }
    if (ip && (n.known ? mac : (m->ndm_state & NUD_FAILED) != 0))
        each_engine(k, shared_set_neighbour, &n);
}

/* ---- events ---- */

static void without_ip4(struct routes *r)
{
    uint32_t i, n = 0;

    for (i = 0; i < r->count; i++)
        if (!routes_is4(&r->route[i].to))
            r->route[n++] = r->route[i];
    r->count = n;
}

/* Reads the interface's IPv6 addresses, and which of them are not for new connections. */
static void look_at_addresses6(struct kernel *k)
{
    struct addresses6 now;

    if (read_addresses6(k, &now) != 0) {
        log_warning("cannot read the kernel's addresses: %s", strerror(errno));
        return; /* unchanged */
    }
    if (memcmp(&now, &k->addresses, sizeof(now)) == 0)
        return;
    k->addresses = now;
    log_addresses6(k); /* before the routes go: RSTs need them */
}

/* Reads everything except neighbours again. Returns non-zero when the interface has been replaced
 * by another. */
static int look_again(struct kernel *k)
{
    uint8_t prefix = k->options->prefix_len, mac[6];
    int has = find_address(k->ifname, k->ip, k->ip, &prefix) == 0;
    char text[INET_ADDRSTRLEN];

    if (find_mac(k->ifname, mac) == 0 && memcmp(mac, k->mac, 6) != 0) {
        log_warning("the Ethernet address of %s has changed: restart toed", k->ifname);
        return 1;
    }
    look_at_addresses6(k);
    inet_ntop(AF_INET, k->ip, text, sizeof(text));
    if (!has && k->has_address) {
        log_error("the kernel has %s no more: all connections are reset; nothing is served until "
                  "it has it again",
                  text);
        each_engine(k, shared_reset, NULL); /* before the routes go: RSTs need them */
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
        log_warning("cannot read the kernel's routes: %s", strerror(errno));
        if (has)
            return 0; /* unchanged */
    }
    if (!has)
        without_ip4(k->routes); /* through an address of the interface that is not the TOE's */
    each_engine(k, shared_set_routes, k->routes);
    return 0;
}

int kernel_news(struct kernel *k)
{
    static union rtnl_news news;
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
    if (!k->control) /* not opened */
        return;
    if (k->events >= 0)
        close(k->events);
    if (k->asked >= 0)
        close(k->asked);
    if (k->shared.ask_fd >= 0)
        close(k->shared.ask_fd);
    ports_free(k->shared.ports[0]);
    ports_free(k->shared.ports[1]);
    free(k->routes);
}
