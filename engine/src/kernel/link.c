/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - watches the network interface. If it is down or has no carrier, it may come up again,
 * and connections survive until their timeouts. If it is removed or moved to another namespace, its
 * sockets are useless, and a new interface of the same name is a different one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "link.h"

#define NEWS 8192 /* bytes per read */

/* Requests the current state, so that earlier changes are reported like new events. */
static int ask(const struct link *l)
{
    struct {
        struct nlmsghdr h;
        struct ifinfomsg i;
    } m = {.h = {.nlmsg_len = sizeof(m), .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST},
           .i = {.ifi_index = (int)l->ifindex}};

    return send(l->fd, &m, sizeof(m), 0) == (ssize_t)sizeof(m) ? 0 : -1;
}

int link_open(struct link *l, unsigned ifindex)
{
    const struct sockaddr_nl here = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};

    *l = (struct link){.fd = -1, .ifindex = ifindex};
    if (!ifindex)
        return 0;
    l->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (l->fd >= 0 && bind(l->fd, (const struct sockaddr *)&here, sizeof(here)) == 0 && ask(l) == 0)
        return 0;
    link_close(l);
    return -1;
}

static void note_state(struct link *l, unsigned flags)
{
    static const char *const messages[] = {
        [LINK_UP] = "the interface is up again",
        [LINK_NO_CARRIER] =
            "the interface has no carrier: nothing is sent or received until it is up again",
        [LINK_DOWN] = "the interface is down: nothing is sent or received until it is up again"};
    enum link_state state = LINK_UP;

    if (!(flags & IFF_UP))
        state = LINK_DOWN;
    else if (!(flags & IFF_LOWER_UP))
        state = LINK_NO_CARRIER;
    if (state == l->state)
        return;
    l->state = state;
    log_msg("%s", messages[state]);
}

/* Logs a changed MAC address. toed keeps its own, since neighbours have cached it. */
static void note_mac(struct link *l, const uint8_t mac[6])
{
    static const uint8_t none[6];

    if (memcmp(l->mac, mac, 6) != 0 && memcmp(l->mac, none, 6) != 0)
        log_msg(
            "the Ethernet address of the interface has changed: toed keeps the one of its start; "
            "restart it if peers no longer reach it");
    memcpy(l->mac, mac, 6);
}

static void note_attributes(struct link *l, const struct nlmsghdr *h)
{
    const struct rtattr *a = IFLA_RTA(NLMSG_DATA(h));
    size_t left = IFLA_PAYLOAD(h);

    for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == IFLA_MTU && RTA_PAYLOAD(a) == sizeof(l->mtu))
            memcpy(&l->mtu, RTA_DATA(a), sizeof(l->mtu));
        else if (a->rta_type == IFLA_ADDRESS && RTA_PAYLOAD(a) == sizeof(l->mac))
            note_mac(l, RTA_DATA(a));
    }
}

/* Returns non-zero when this message reports that the interface is gone. */
static int read_message(struct link *l, const struct nlmsghdr *h)
{
    const struct ifinfomsg *i = NLMSG_DATA(h);

    if (h->nlmsg_type == NLMSG_ERROR)
        return ((const struct nlmsgerr *)NLMSG_DATA(h))->error == -ENODEV;
    if ((h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK) ||
        h->nlmsg_len < NLMSG_LENGTH(sizeof(*i)) || (unsigned)i->ifi_index != l->ifindex)
        return 0;
    /* messages of bridges about their ports do not describe the interface */
    if (i->ifi_family != AF_UNSPEC)
        return 0;
    if (h->nlmsg_type == RTM_DELLINK)
        return 1;
    note_state(l, i->ifi_flags);
    note_attributes(l, h);
    return 0;
}

int link_gone(struct link *l)
{
    _Alignas(struct nlmsghdr) char news[NEWS];
    int gone = 0;
    ssize_t n;

    while ((n = recv(l->fd, news, sizeof(news), 0)) != 0) {
        const struct nlmsghdr *h = (const struct nlmsghdr *)(const void *)news;

        if (n < 0 && errno == ENOBUFS && ask(l) == 0)
            continue; /* events were lost: the reply has the current state */
        if (n < 0)
            break;
        for (; NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n))
            gone |= read_message(l, h);
    }
    if (gone)
        log_error("the interface is gone");
    return gone;
}

void link_close(struct link *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}
