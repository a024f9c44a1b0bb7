/* SPDX-License-Identifier: Apache-2.0 */
/* rtnl.c - see rtnl.h. */
#include <errno.h>
#include <linux/if_addr.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "routes.h"
#include "rtnl.h"

int rtnl_open(uint32_t groups)
{
    const struct sockaddr_nl here = {.nl_family = AF_NETLINK, .nl_groups = groups};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&here, sizeof(here)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int rtnl_address(const struct rtattr *a, struct toec_addr *out)
{
    *out = (struct toec_addr){.b = {[10] = 0xff, [11] = 0xff}};
    if (RTA_PAYLOAD(a) == 4)
        memcpy(out->b + 12, RTA_DATA(a), 4);
    else if (RTA_PAYLOAD(a) == 16)
        memcpy(out->b, RTA_DATA(a), 16);
    else
        return -1;
    return 0;
}

static uint32_t number_in(const struct rtattr *a)
{
    uint32_t n = 0;

    memcpy(&n, RTA_DATA(a), RTA_PAYLOAD(a) < sizeof(n) ? RTA_PAYLOAD(a) : sizeof(n));
    return n;
}

/* Requests a dump and calls note for each message. Returns 0, or -1 with errno. */
static int dump(uint16_t type, int family, void (*note)(void *arg, const struct nlmsghdr *h),
                void *arg)
{
    struct {
        struct nlmsghdr h;
        union {
            struct rtmsg route;
            struct ifaddrmsg address;
        } m;
    } q = {.h = {.nlmsg_len = sizeof(q),
                 .nlmsg_type = type,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
    static union rtnl_news news;
    int fd = rtnl_open(0), done = 0;

    if (type == RTM_GETROUTE)
        q.m.route.rtm_family = (unsigned char)family;
    else
        q.m.address.ifa_family = (unsigned char)family;
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
            else
                note(arg, h);
        }
    }
    if (fd >= 0)
        close(fd);
    return done > 0 ? 0 : -1;
}

/* ---- routes ---- */

struct noting {
    unsigned ifindex;
    struct routes *routes;
    struct addresses6 *addresses;
};

/* Records the gateway, if this stack can use it for the route's family. */
static void note_gateway(const struct rtattr *a, struct route *r)
{
    if (a->rta_type == RTA_VIA || rtnl_address(a, &r->gateway) != 0)
        r->nowhere = 1; /* an IPv4 route with an IPv6 gateway */
    else
        r->has_gateway = 1;
}

/* Selects the first next hop (RTA_MULTIPATH) on our interface. Returns non-zero when there is
 * one. */
static int way_by(unsigned ifindex, const struct rtattr *many, struct route *r)
{
    const struct rtnexthop *w = RTA_DATA(many);
    size_t left = RTA_PAYLOAD(many);

    for (; RTNH_OK(w, (int)left); left -= RTNH_ALIGN(w->rtnh_len), w = RTNH_NEXT(w)) {
        const struct rtattr *a = RTNH_DATA(w);
        size_t n = w->rtnh_len - RTNH_LENGTH(0);

        if ((unsigned)w->rtnh_ifindex != ifindex || (w->rtnh_flags & RTNH_F_DEAD))
            continue;
        for (; RTA_OK(a, n); a = RTA_NEXT(a, n))
            if (a->rta_type == RTA_GATEWAY || a->rta_type == RTA_VIA)
                note_gateway(a, r);
        return 1;
    }
    return 0;
}

static void note_route(void *arg, const struct nlmsghdr *h)
{
    const struct noting *to = arg;
    const struct rtmsg *m = NLMSG_DATA(h);
    const struct rtattr *a = RTM_RTA(m);
    size_t left = RTM_PAYLOAD(h);
    struct route r = {.len = m->rtm_dst_len};
    uint32_t table = m->rtm_table;
    int ours = m->rtm_type != RTN_UNICAST;

    if (h->nlmsg_type != RTM_NEWROUTE || (m->rtm_flags & (RTNH_F_DEAD | RTM_F_CLONED)))
        return;
    r.nowhere = (uint8_t)ours;
    if (m->rtm_family == AF_INET) {
        r.len = (uint8_t)(r.len + 96); /* IPv4 addresses are IPv4-mapped */
        r.to.b[10] = r.to.b[11] = 0xff;
    }
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == RTA_DST)
            (void)rtnl_address(a, &r.to);
        else if (a->rta_type == RTA_GATEWAY || a->rta_type == RTA_VIA)
            note_gateway(a, &r);
        else if (a->rta_type == RTA_PRIORITY)
            r.metric = number_in(a);
        else if (a->rta_type == RTA_TABLE)
            table = number_in(a);
        else if (a->rta_type == RTA_OIF)
            ours |= number_in(a) == to->ifindex;
        else if (a->rta_type == RTA_MULTIPATH)
            ours |= way_by(to->ifindex, a, &r);
    }
    if (!ours || table != RT_TABLE_MAIN)
        return;
    if (to->routes->count < ROUTES_MAX)
        to->routes->route[to->routes->count] = r;
    to->routes->count++;
}

int rtnl_routes(unsigned ifindex, int ip6, struct routes *out)
{
    struct noting to = {.ifindex = ifindex, .routes = out};
    int rc;

    out->count = 0;
    rc = dump(RTM_GETROUTE, AF_INET, note_route, &to);
    if (rc == 0 && ip6)
        rc = dump(RTM_GETROUTE, AF_INET6, note_route, &to);
    if (out->count <= ROUTES_MAX)
        routes_sort(out);
    return rc;
}

/* ---- addresses ---- */

static void note_address(void *arg, const struct nlmsghdr *h)
{
    const struct noting *to = arg;
    const struct ifaddrmsg *m = NLMSG_DATA(h);
    const struct rtattr *a = IFA_RTA(m);
    size_t left = IFA_PAYLOAD(h);
    struct toec_given g = {.prefix_len = m->ifa_prefixlen};
    uint32_t flags = m->ifa_flags;
    int local = 0, has = 0;

    if (h->nlmsg_type != RTM_NEWADDR || m->ifa_family != AF_INET6 || m->ifa_index != to->ifindex)
        return;
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == IFA_FLAGS) {
            flags = number_in(a);
        } else if (a->rta_type == IFA_LOCAL || (a->rta_type == IFA_ADDRESS && !local)) {
            has = rtnl_address(a, &g.addr) == 0;
            local = a->rta_type == IFA_LOCAL; /* IFA_ADDRESS is the peer's then */
        }
    }
    /* RFC 4862 5.4: not before DAD has succeeded; optimistic ones may be used (RFC 4429) */
    if (!has || (flags & IFA_F_DADFAILED) ||
        ((flags & IFA_F_TENTATIVE) && !(flags & IFA_F_OPTIMISTIC)))
        return;
    g.deprecated = (flags & IFA_F_DEPRECATED) != 0;
    if (to->addresses->count < TOEC_GIVEN_MAX)
        to->addresses->given[to->addresses->count] = g;
    to->addresses->count++;
}

int rtnl_addresses6(unsigned ifindex, struct addresses6 *out)
{
    struct noting to = {.ifindex = ifindex, .addresses = out};

    memset(out, 0, sizeof(*out));
    return dump(RTM_GETADDR, AF_INET6, note_address, &to);
}
