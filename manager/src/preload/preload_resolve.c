/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_resolve.c - getaddrinfo() with AI_ADDRCONFIG: the C library returns no addresses of a
 * family of which the kernel has none, as no connection would succeed. With addresses of the TOE it
 * does, so they count too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "policy.h"
#include "preload.h"

typedef int getaddrinfo_fn(const char *name, const char *service, const struct addrinfo *hints,
                           struct addrinfo **out);

/* Adds the families of the kernel's addresses, as the C library counts them: without its loopback
 * addresses, with link-local ones. */
static void add_kernels(struct tfamilies *f)
{
    struct ifaddrs *all, *i;

    if (getifaddrs(&all) < 0)
        return;
    for (i = all; i; i = i->ifa_next) {
        const struct sockaddr_in *a4 = (const void *)i->ifa_addr;
        const struct sockaddr_in6 *a6 = (const void *)i->ifa_addr;

        if (!i->ifa_addr)
            continue;
        if (i->ifa_addr->sa_family == AF_INET)
            f->ip4 |= a4->sin_addr.s_addr != htonl(INADDR_LOOPBACK);
        else if (i->ifa_addr->sa_family == AF_INET6)
            f->ip6 |= !IN6_IS_ADDR_LOOPBACK(&a6->sin6_addr);
    }
    freeifaddrs(all);
}

/* Returns whether hints must be changed for addresses of the TOE; *changed has them then. */
static bool widen(const struct addrinfo *hints, struct addrinfo *changed)
{
    struct tfamilies kernels = {0}, all;

    add_kernels(&kernels);
    if (kernels.ip4 && kernels.ip6)
        return false;
    all = kernels;
    tpolicy_families(&all);
    if (all.ip4 == kernels.ip4 && all.ip6 == kernels.ip6)
        return false;
    *changed = *hints;
    if (hints->ai_family == AF_UNSPEC && all.ip4 != all.ip6)
        changed->ai_family = all.ip4 ? AF_INET : AF_INET6;
    if ((changed->ai_family == AF_INET && !all.ip4) || (changed->ai_family == AF_INET6 && !all.ip6))
        return false;
    changed->ai_flags &= ~AI_ADDRCONFIG;
    return true;
}

EXPORT(int, getaddrinfo,
       (const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **out))
{
    void *found = dlsym(RTLD_NEXT, "getaddrinfo");
    struct addrinfo changed;
    getaddrinfo_fn *next;
    int before = errno;

    if (!found)
        return EAI_SYSTEM;
    memcpy(&next, &found, sizeof(next));
    if (hints && (hints->ai_flags & AI_ADDRCONFIG) && widen(hints, &changed))
        hints = &changed;
    errno = before;
    return next(name, service, hints, out);
}
