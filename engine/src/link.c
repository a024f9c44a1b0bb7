/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - watches the network interface. Down, it may come up again, and connections last as long
 * as their timeouts; gone, or moved to another namespace, its sockets are of no use any more, and
 * one of the same name is another interface.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link.h"
#include "log.h"

#define NEWS 8192 /* bytes read at once */

/* Asks for the present state too: what has happened before is told as if it were news. */
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

static void note_state(struct link *l, int down)
{
    if (down == l->down)
        return;
    l->down = down;
    log_msg(down ? "the interface is down: nothing is sent or received until it is up again"
                 : "the interface is up again");
}

/* Not 0 when this message says that the interface is gone. */
static int read_message(struct link *l, const struct nlmsghdr *h)
{
    const struct ifinfomsg *i = NLMSG_DATA(h);

    if (h->nlmsg_type == NLMSG_ERROR)
        return ((const struct nlmsgerr *)NLMSG_DATA(h))->error == -ENODEV;
    if ((h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK) ||
        h->nlmsg_len < NLMSG_LENGTH(sizeof(*i)) || (unsigned)i->ifi_index != l->ifindex)
        return 0;
    /* bridges tell of their ports so, which says nothing about the port */
    if (i->ifi_family != AF_UNSPEC)
        return 0;
    if (h->nlmsg_type == RTM_DELLINK)
        return 1;
    note_state(l, !(i->ifi_flags & IFF_UP));
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
            continue; /* some were lost: the answer says how things are */
        if (n < 0)
            break;
        for (; NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n))
            gone |= read_message(l, h);
    }
    if (gone)
        log_msg("the interface is gone");
    return gone;
}

void link_close(struct link *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}
