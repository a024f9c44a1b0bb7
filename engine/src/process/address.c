/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.c - claims the addresses of a TOE (address.h). As for interfaces (interlock.c), a claim
 * is an abstract Unix socket: it belongs to the network namespace and ends with the process. It
 * does not listen, so nothing needs to serve it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "address.h"
#include "interlock.h"

/* An address of the TOE as an option names it. */
struct own {
    int family;
    uint8_t bytes[16];
    const char *option;
    char text[INET6_ADDRSTRLEN];
};

static int is_of(const struct own *own, const struct sockaddr *a)
{
    if (!a || a->sa_family != own->family)
        return 0;
    if (own->family == AF_INET)
        return memcmp(&((const struct sockaddr_in *)(const void *)a)->sin_addr, own->bytes, 4) == 0;
    return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, own->bytes, 16) == 0;
}

static int check_kernel(const struct own *own, char *err, size_t err_size)
{
    struct ifaddrs *all, *i;
    int rc = -1;

    if (getifaddrs(&all) != 0)
        return -1; /* without netlink: nothing is known, and the claim still holds */
    for (i = all; i && rc < 0; i = i->ifa_next)
        if (is_of(own, i->ifa_addr)) {
            snprintf(err, err_size,
                     "--%s %s: the kernel has this address on %s: give the TOE another one, or "
                     "remove it ('ip address del %s dev %s')%s",
                     own->option, own->text, i->ifa_name, own->text, i->ifa_name,
                     own->family == AF_INET ? ", or share it (--ip shared)" : "");
            rc = EXIT_CONFIG;
        }
    freeifaddrs(all);
    return rc;
}

static int name_of(const struct own *own, uint32_t vlan, char *name, size_t size)
{
    return snprintf(name, size, "toehold/ip/%u/%s", vlan, own->text);
}

static int claim(const struct own *own, uint32_t vlan, int *fd, char *err, size_t err_size)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int n, rc = check_kernel(own, err, err_size);

    if (rc >= 0)
        return rc;
    /* sun_path[0] stays 0: abstract */
    n = name_of(own, vlan, addr.sun_path + 1, sizeof(addr.sun_path) - 1);
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd >= 0 &&
        bind(*fd, (struct sockaddr *)&addr,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) + (socklen_t)n) == 0)
        return -1;
    if (errno == EADDRINUSE)
        snprintf(err, err_size,
                 "--%s %s: another TOE of this network namespace has this address: give each its "
                 "own, or end the other",
                 own->option, own->text);
    else
        snprintf(err, err_size, "--%s %s: cannot claim it: %s", own->option, own->text,
                 strerror(errno));
    return EXIT_CONFIG;
}

/* Reads the addresses of the options. Returns 0 when they need no claim. */
static int read_own(const struct options *o, struct own *ip, struct own *ip6)
{
    *ip = (struct own){.family = AF_INET, .option = "ip"};
    *ip6 = (struct own){.family = AF_INET6, .option = "ip6"};
    memcpy(ip->bytes, o->ip, sizeof(o->ip));
    memcpy(ip6->bytes, o->ip6, sizeof(o->ip6));
    inet_ntop(AF_INET, ip->bytes, ip->text, sizeof(ip->text));
    inet_ntop(AF_INET6, ip6->bytes, ip6->text, sizeof(ip6->text));
    return !o->shared && !interlock_is_private(o->netif);
}

int address_names(const struct options *o, char names[2][ADDRESS_NAME], char *err, size_t err_size)
{
    struct own ip, ip6;
    int rc = -1;

    names[0][0] = names[1][0] = 0;
    if (!read_own(o, &ip, &ip6))
        return -1;
    if (o->prefix_len) {
        rc = check_kernel(&ip, err, err_size);
        name_of(&ip, o->vlan, names[0], sizeof(names[0]));
    }
    if (rc < 0 && o->prefix_len6) {
        rc = check_kernel(&ip6, err, err_size);
        name_of(&ip6, o->vlan, names[1], sizeof(names[1]));
    }
    return rc;
}

int address_hold(const struct options *o, struct address_claims *c, char *err, size_t err_size)
{
    struct own ip, ip6;
    int rc = -1;

    c->fd[0] = c->fd[1] = -1;
    if (!read_own(o, &ip, &ip6))
        return -1;
    if (o->prefix_len)
        rc = claim(&ip, o->vlan, &c->fd[0], err, err_size);
    if (rc < 0 && o->prefix_len6)
        rc = claim(&ip6, o->vlan, &c->fd[1], err, err_size);
    if (rc >= 0)
        address_release(c);
    return rc;
}

void address_release(struct address_claims *c)
{
    int i;

    for (i = 0; i < 2; i++) {
        if (c->fd[i] >= 0)
            close(c->fd[i]);
        c->fd[i] = -1;
    }
}
