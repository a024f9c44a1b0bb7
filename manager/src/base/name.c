/* SPDX-License-Identifier: Apache-2.0 */
/* name.c - addresses of sockets: conversion from and to sockaddr. */
#include <string.h>

#include "name.h"
#include "tsock.h"

int tname_read(const struct sockaddr *addr, socklen_t len, struct tname *out)
{
    memset(out, 0, sizeof(*out));
    if (!addr || len < sizeof(sa_family_t))
        return EINVAL;
    if (addr->sa_family == AF_INET) {
        struct sockaddr_in a;

        if (len < sizeof(a))
            return EINVAL;
        memcpy(&a, addr, sizeof(a));
        out->ip = a.sin_addr.s_addr;
        out->port = a.sin_port;
        out->v4 = true;
        out->wildcard = out->ip == htonl(INADDR_ANY);
        return 0;
    }
    if (addr->sa_family == AF_INET6) {
        struct sockaddr_in6 a;

        if (len < sizeof(a))
            return EINVAL;
        memcpy(&a, addr, sizeof(a));
        out->port = a.sin6_port;
        out->v4 = IN6_IS_ADDR_V4MAPPED(&a.sin6_addr);
        out->wildcard = IN6_IS_ADDR_UNSPECIFIED(&a.sin6_addr);
        if (out->v4) {
            memcpy(&out->ip, &a.sin6_addr.s6_addr[12], 4);
            out->wildcard = out->ip == htonl(INADDR_ANY); /* ::ffff:0.0.0.0 */
        } else {
            out->ip6 = a.sin6_addr;
        }
        out->scope = a.sin6_scope_id;
        return 0;
    }
    return EAFNOSUPPORT;
}

void tname_set_port(struct sockaddr *addr, uint16_t port)
{
    if (addr->sa_family == AF_INET6)
        ((struct sockaddr_in6 *)addr)->sin6_port = port;
    else
        ((struct sockaddr_in *)addr)->sin_port = port;
}

int tsock_name(const struct tsock *s, bool peer, struct sockaddr *addr, socklen_t *len)
{
    uint32_t ip = peer ? s->remote_ip : s->local_ip;
    uint16_t port = peer ? s->remote_port : s->local_port;
    struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_port = port, .sin_addr = {ip}};
    struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_port = port};
    const void *a = s->v6 ? (const void *)&a6 : (const void *)&a4;
    socklen_t size = s->v6 ? sizeof(a6) : sizeof(a4), room;

    if (!addr || !len)
        return terr(EFAULT);
    if ((int)*len < 0)
        return terr(EINVAL);
    if (s->v6 && s->ip6) {
        a6.sin6_addr = peer ? s->remote6 : s->local6;
        if (IN6_IS_ADDR_LINKLOCAL(&a6.sin6_addr))
            a6.sin6_scope_id = s->scope;
    } else if (s->v6 && ip) {
        memset(&a6.sin6_addr.s6_addr[10], 0xff, 2);
        memcpy(&a6.sin6_addr.s6_addr[12], &ip, 4);
    }
    room = *len < size ? *len : size;
    memcpy(addr, a, room);
    *len = size;
    return 0;
}

int tsock_kernel_name(int fd, struct tname *out)
{
    struct sockaddr_storage a;
    socklen_t len = sizeof(a);

    if (sys_getsockname(fd, (struct sockaddr *)&a, &len) < 0)
        return -1;
    return tname_read((struct sockaddr *)&a, len, out) ? -1 : 0;
}
