/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rtnl.h - reads an interface's routes and addresses from the kernel by dumps (rtnetlink(7)).
 */
#ifndef ENGINE_RTNL_H
#define ENGINE_RTNL_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "routes.h"

#define RTNL_NEWS 32768 /* bytes read at once: the most the kernel puts into one message */

union rtnl_news {
    struct nlmsghdr h;
    char bytes[RTNL_NEWS];
};

/* Opens a socket subscribed to these groups (RTMGRP_*). Returns -1 with errno. */
int rtnl_open(uint32_t groups);
/* Reads an address of either family from the attribute. Returns -1 when its size is wrong. */
int rtnl_address(const struct rtattr *a, struct toec_addr *out);

/* Reads the interface's routes in the main table, for IPv4 and (ip6) IPv6, sorted. out->count is
 * the number of routes, even if it exceeds ROUTES_MAX. Returns 0, or -1 with errno. */
int rtnl_routes(unsigned ifindex, int ip6, struct routes *out);
/* Reads the interface's IPv6 addresses that have passed duplicate address detection. Returns 0, or
 * -1 with errno. */
int rtnl_addresses6(unsigned ifindex, struct addresses6 *out);

#endif
