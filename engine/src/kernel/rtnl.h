/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rtnl.h - what the kernel has of an interface's routes and addresses (rtnetlink(7)), read whole.
 */
#ifndef ENGINE_RTNL_H
#define ENGINE_RTNL_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "routes.h"

#define RTNL_NEWS 32768 /* bytes read at once: what the kernel puts into one message at most */

union rtnl_news {
    struct nlmsghdr h;
    char bytes[RTNL_NEWS];
};

/* A socket that hears of these groups (RTMGRP_*). -1 with errno. */
int rtnl_open(uint32_t groups);
/* The address of either family that stands in the attribute. -1: it has another size. */
int rtnl_address(const struct rtattr *a, struct toec_addr *out);

/* All that stand in the main table for the interface, of IPv4 and (ip6) of IPv6, sorted; count says
 * how many there are, also beyond ROUTES_MAX. 0, or -1 with errno. */
int rtnl_routes(unsigned ifindex, int ip6, struct routes *out);
/* The addresses of IPv6 that it has and has tested. 0, or -1 with errno. */
int rtnl_addresses6(unsigned ifindex, struct addresses6 *out);

#endif
