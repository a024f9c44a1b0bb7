/* SPDX-License-Identifier: Apache-2.0 */
/* name.h - addresses of sockets (name.c). */
#ifndef LIBTOE_NAME_H
#define LIBTOE_NAME_H

#include "tsock.h"

struct tname {
    uint32_t ip;         /* of IPv4, network order */
    struct in6_addr ip6; /* of IPv6 */
    uint32_t scope;      /* of a link-local address: index of the interface, or 0 */
    uint16_t port;
    struct in6_addr from; /* the kernel's source address, found by tpolicy_connect(); or :: */
    bool v4;              /* an IPv4 address, plain or v4-mapped; else IPv6 */
    bool wildcard;        /* 0.0.0.0, or :: of a socket that takes IPv4 too */
};

/* Reads an address. Returns 0, or an errno (EAFNOSUPPORT, EINVAL). */
TOE_HIDDEN int tname_read(const struct sockaddr *addr, socklen_t len, struct tname *out);
/* Sets the port, in network byte order, of a name that tname_read() accepts. */
TOE_HIDDEN void tname_set_port(struct sockaddr *addr, uint16_t port);
/* Reads the kernel's name of the placeholder fd. 0 or -1. */
TOE_HIDDEN int tsock_kernel_name(int fd, struct tname *out);
/* Fills a sockaddr of the socket's family (v4-mapped when s->v6), truncated as by the kernel. */
TOE_HIDDEN int tsock_name(const struct tsock *s, bool peer, struct sockaddr *addr, socklen_t *len);

#endif
