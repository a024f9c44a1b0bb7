/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.c - the kernel's route to an address: one request over rtnetlink(7) and its answer.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "internal.h"
#include "route.h"

static int netlink_fd = -1;

void troute_forget(void)
{
    tfd_internal_close(netlink_fd);
    netlink_fd = -1;
}

/* Asks for a route. interface: the outgoing one, or 0. */
static bool ask(int family, const void *ip, unsigned size, uint32_t interface)
{
    struct {
        struct nlmsghdr h;
        struct rtmsg r;
        struct rtattr oif;
        uint32_t interface;
        struct rtattr a;
        uint8_t ip[16];
    } q = {.h = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST},
           .r = {.rtm_family = (unsigned char)family, .rtm_dst_len = (unsigned char)(size * 8)},
           .oif = {.rta_len = (unsigned short)RTA_LENGTH(4), .rta_type = RTA_OIF},
           .interface = interface,
           .a = {.rta_len = (unsigned short)RTA_LENGTH(size), .rta_type = RTA_DST}};
    size_t len = offsetof(__typeof__(q), ip) + size;

    memcpy(q.ip, ip, size);
    q.h.nlmsg_len = (uint32_t)len;
    if (netlink_fd < 0)
        netlink_fd = tfd_internal(sys_socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    return netlink_fd >= 0 && sys_sendto(netlink_fd, &q, len, 0, NULL, 0) == (ssize_t)len;
}

static enum troute read_route(const struct nlmsghdr *h, size_t n, struct tway *out)
{
    enum troute way = TROUTE_ON_LINK;

    const struct rtmsg *r = NLMSG_DATA(h);
    const struct rtattr *a = RTM_RTA(r);
    size_t left = h->nlmsg_len > n ? 0 : h->nlmsg_len - NLMSG_LENGTH(sizeof(*r));

    if (r->rtm_type == RTN_LOCAL)
        return TROUTE_LOCAL;
    if (r->rtm_type != RTN_UNICAST)
        return TROUTE_NONE;
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == RTA_GATEWAY || a->rta_type == RTA_VIA)
            way = TROUTE_GATEWAY;
        out->via6 |= a->rta_type == RTA_VIA;
        if (a->rta_type == RTA_PREFSRC && RTA_PAYLOAD(a) == sizeof(out->source))
            memcpy(&out->source, RTA_DATA(a), sizeof(out->source));
        else if (a->rta_type == RTA_PREFSRC && RTA_PAYLOAD(a) == sizeof(out->source6))
            memcpy(&out->source6, RTA_DATA(a), sizeof(out->source6));
        else if (a->rta_type == RTA_OIF && RTA_PAYLOAD(a) == sizeof(out->interface))
            memcpy(&out->interface, RTA_DATA(a), sizeof(out->interface));
    }
    return way;
}

static enum troute answer_of(int family, const void *ip, unsigned size, uint32_t interface,
                             struct tway *out)
{
    union {
        struct nlmsghdr h;
        char bytes[4096];
    } answer;
    ssize_t n;

    *out = (struct tway){0};
    if (!ask(family, ip, size, interface))
        return TROUTE_NONE;
    do
        n = sys_recvfrom(netlink_fd, &answer, sizeof(answer), 0, NULL, NULL);
    while (n < 0 && errno == EINTR);
    if (n < (ssize_t)NLMSG_LENGTH(sizeof(struct rtmsg)) || answer.h.nlmsg_type != RTM_NEWROUTE)
        return TROUTE_NONE;
    return read_route(&answer.h, (size_t)n, out);
}

enum troute troute_ask(uint32_t ip, struct tway *way)
{
    return answer_of(AF_INET, &ip, sizeof(ip), 0, way);
}

enum troute troute_ask6(const struct in6_addr *ip, uint32_t scope, struct tway *way)
{
    return answer_of(AF_INET6, ip, sizeof(*ip), scope, way);
}
