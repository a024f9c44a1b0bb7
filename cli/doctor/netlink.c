/* SPDX-License-Identifier: Apache-2.0 */
/* netlink.c - see netlink.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>

#include "netlink.h"

/* linux/netdev.h, which the headers of Linux 6.1 do not have. */
#define NETDEV_FAMILY         "netdev"
#define NETDEV_DEV_GET        1
#define NETDEV_A_IFINDEX      1
#define NETDEV_A_XDP_FEATURES 3

#define BUFFER 65536

/* Sends a request and passes each answer to take(). Returns 0, or -1 with errno. */
static int transact(int bus, struct nlmsghdr *request, mnl_cb_t take, void *arg)
{
    struct mnl_socket *s = mnl_socket_open(bus);
    char *buffer = malloc(BUFFER);
    int rc = s && buffer ? 1 : -1, e;

    request->nlmsg_seq = 1;
    if (rc > 0 && (mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) < 0 ||
                   mnl_socket_sendto(s, request, request->nlmsg_len) < 0))
        rc = -1;
    while (rc > 0) {
        ssize_t n = mnl_socket_recvfrom(s, buffer, BUFFER);

        rc = n < 0 ? -1 : mnl_cb_run(buffer, (size_t)n, 1, mnl_socket_get_portid(s), take, arg);
        if (rc > 0 && !(request->nlmsg_flags & (NLM_F_DUMP | NLM_F_ACK)))
            rc = 0; /* one answer */
    }
    e = errno;
    free(buffer);
    if (s)
        mnl_socket_close(s);
    errno = e;
    return rc < 0 ? -1 : 0;
}

/* ---- interfaces ---- */

struct list {
    struct link *links;
    int count, room;
};

static void take_xdp(const struct nlattr *nest, struct link *l)
{
    const struct nlattr *a;

    mnl_attr_for_each_nested(a, nest)
    {
        if (mnl_attr_get_type(a) == IFLA_XDP_ATTACHED)
            l->xdp_mode = mnl_attr_get_u8(a);
        if (mnl_attr_get_type(a) == IFLA_XDP_PROG_ID)
            l->xdp_id = mnl_attr_get_u32(a);
    }
}

static void take_kind(const struct nlattr *nest, struct link *l)
{
    const struct nlattr *a;

    mnl_attr_for_each_nested(a, nest)
    {
        if (mnl_attr_get_type(a) == IFLA_INFO_KIND)
            snprintf(l->kind, sizeof l->kind, "%s", mnl_attr_get_str(a));
    }
}

static int take_link(const struct nlmsghdr *h, void *arg)
{
    const struct ifinfomsg *info = mnl_nlmsg_get_payload(h);
    struct list *list = arg;
    struct nlattr *a;
    struct link *l;

    if (h->nlmsg_type != RTM_NEWLINK)
        return MNL_CB_OK;
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 16;
        struct link *more = realloc(list->links, (size_t)room * sizeof *more);

        if (!more)
            return MNL_CB_ERROR;
        list->links = more;
        list->room = room;
    }
    l = &list->links[list->count++];
    *l = (struct link){.index = info->ifi_index,
                       .up = info->ifi_flags & IFF_UP,
                       .loopback = info->ifi_flags & IFF_LOOPBACK};
    mnl_attr_for_each(a, h, sizeof *info)
    {
        switch (mnl_attr_get_type(a)) {
        case IFLA_IFNAME:
            snprintf(l->name, sizeof l->name, "%s", mnl_attr_get_str(a));
            break;
        case IFLA_CARRIER: /* IFF_RUNNING follows it with a delay */
            l->carrier = mnl_attr_get_u8(a);
            break;
        case IFLA_MTU:
            l->mtu = mnl_attr_get_u32(a);
            break;
        case IFLA_MASTER:
            l->master = (int)mnl_attr_get_u32(a);
            break;
        case IFLA_LINKINFO:
            take_kind(a, l);
            break;
        case IFLA_XDP:
            take_xdp(a, l);
            break;
        default:
            break;
        }
    }
    return MNL_CB_OK;
}

int netlink_links(struct link **links)
{
    char room[256];
    struct nlmsghdr *h = mnl_nlmsg_put_header(room);
    struct ifinfomsg *info;
    struct list list = {0};

    h->nlmsg_type = RTM_GETLINK;
    h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    info = mnl_nlmsg_put_extra_header(h, sizeof *info);
    info->ifi_family = AF_UNSPEC;
    if (transact(NETLINK_ROUTE, h, take_link, &list) != 0) {
        free(list.links);
        return -1;
    }
    *links = list.links;
    return list.count;
}

/* ---- routes ---- */

static int take_route(const struct nlmsghdr *h, void *arg)
{
    struct nlattr *a;

    mnl_attr_for_each(a, h, sizeof(struct rtmsg))
    {
        if (mnl_attr_get_type(a) == RTA_OIF)
            *(int *)arg = (int)mnl_attr_get_u32(a);
    }
    return MNL_CB_OK;
}

int netlink_route(int family, const void *address)
{
    size_t size = family == AF_INET ? 4 : 16;
    char room[256];
    struct nlmsghdr *h = mnl_nlmsg_put_header(room);
    struct rtmsg *r;
    int oif = 0;

    h->nlmsg_type = RTM_GETROUTE;
    h->nlmsg_flags = NLM_F_REQUEST;
    r = mnl_nlmsg_put_extra_header(h, sizeof *r);
    r->rtm_family = (unsigned char)family;
    r->rtm_dst_len = (unsigned char)(8 * size);
    mnl_attr_put(h, RTA_DST, size, address);
    if (transact(NETLINK_ROUTE, h, take_route, &oif) == 0)
        return oif;
    return errno == ENETUNREACH || errno == EHOSTUNREACH ? 0 : -1;
}

struct router {
    int ifindex;
    bool found;
    struct in_addr address;
};

static int take_default(const struct nlmsghdr *h, void *arg)
{
    const struct rtmsg *r = mnl_nlmsg_get_payload(h);
    struct router *router = arg;
    struct in_addr via = {0};
    struct nlattr *a;
    int oif = 0;

    if (h->nlmsg_type != RTM_NEWROUTE || r->rtm_dst_len || r->rtm_type != RTN_UNICAST ||
        router->found)
        return MNL_CB_OK;
    mnl_attr_for_each(a, h, sizeof *r)
    {
        if (mnl_attr_get_type(a) == RTA_OIF)
            oif = (int)mnl_attr_get_u32(a);
        if (mnl_attr_get_type(a) == RTA_GATEWAY && mnl_attr_get_payload_len(a) == sizeof via)
            memcpy(&via, mnl_attr_get_payload(a), sizeof via);
    }
    router->found = oif == router->ifindex && via.s_addr;
    if (router->found)
        router->address = via;
    return MNL_CB_OK;
}

bool netlink_default_router(int ifindex, char *text, size_t size)
{
    struct router router = {.ifindex = ifindex};
    char room[256];
    struct nlmsghdr *h = mnl_nlmsg_put_header(room);
    struct rtmsg *r;

    h->nlmsg_type = RTM_GETROUTE;
    h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    r = mnl_nlmsg_put_extra_header(h, sizeof *r);
    r->rtm_family = AF_INET;
    return transact(NETLINK_ROUTE, h, take_default, &router) == 0 && router.found &&
           inet_ntop(AF_INET, &router.address, text, (socklen_t)size);
}

/* ---- the features of drivers for XDP ---- */

static int take_family(const struct nlmsghdr *h, void *arg)
{
    struct nlattr *a;

    mnl_attr_for_each(a, h, sizeof(struct genlmsghdr))
    {
        if (mnl_attr_get_type(a) == CTRL_ATTR_FAMILY_ID)
            *(uint16_t *)arg = mnl_attr_get_u16(a);
    }
    return MNL_CB_OK;
}

static struct nlmsghdr *generic(void *room, uint16_t family, uint8_t command)
{
    struct nlmsghdr *h = mnl_nlmsg_put_header(room);
    struct genlmsghdr *g;

    h->nlmsg_type = family;
    h->nlmsg_flags = NLM_F_REQUEST;
    g = mnl_nlmsg_put_extra_header(h, sizeof *g);
    g->cmd = command;
    g->version = 1;
    return h;
}

struct features {
    uint64_t value;
    bool found;
};

static int take_features(const struct nlmsghdr *h, void *arg)
{
    struct features *f = arg;
    struct nlattr *a;

    mnl_attr_for_each(a, h, sizeof(struct genlmsghdr))
    {
        if (mnl_attr_get_type(a) != NETDEV_A_XDP_FEATURES)
            continue;
        f->value = mnl_attr_get_u64(a);
        f->found = true;
    }
    return MNL_CB_OK;
}

bool netlink_xdp_features(int ifindex, uint64_t *features)
{
    struct features f = {0};
    uint16_t family = 0;
    char room[256];
    struct nlmsghdr *h = generic(room, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);

    mnl_attr_put_strz(h, CTRL_ATTR_FAMILY_NAME, NETDEV_FAMILY);
    if (transact(NETLINK_GENERIC, h, take_family, &family) != 0 || !family)
        return false;
    h = generic(room, family, NETDEV_DEV_GET);
    mnl_attr_put_u32(h, NETDEV_A_IFINDEX, (uint32_t)ifindex);
    if (transact(NETLINK_GENERIC, h, take_features, &f) != 0 || !f.found)
        return false;
    *features = f.value;
    return true;
}
