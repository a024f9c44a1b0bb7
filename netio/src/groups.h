/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - a packet socket beside AF_XDP: it joins the groups of IPv6 on the interface, and
 * brings what the kernel must have as well, so that the XDP program leaves it there: router
 * advertisements, advertisements of neighbours to all nodes, and multicast listener queries.
 */
#ifndef TOE_NETIO_GROUPS_H
#define TOE_NETIO_GROUPS_H

#include <stdint.h>

/* The socket, not blocking; -1 with errno. */
int groups_open(unsigned ifindex);
/* Joins the solicited-node groups of these addresses; the interface leaves them with the socket. */
void groups_join(int fd, unsigned ifindex, const uint8_t addrs[][16], unsigned count);

#endif
