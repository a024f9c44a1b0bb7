/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - packet sockets beside AF_XDP, for what the kernel must have as well, so that the XDP
 * program leaves it there. One joins the groups of IPv6 on the interface, and brings router
 * advertisements, advertisements of neighbours to all nodes, and multicast listener queries; one
 * brings the ARP by which a neighbour of IPv4 says that its Ethernet address is another.
 */
#ifndef TOE_NETIO_GROUPS_H
#define TOE_NETIO_GROUPS_H

#include <stdint.h>

/* The socket, not blocking; -1 with errno. */
int groups_open(unsigned ifindex);
int announcements_open(unsigned ifindex);
/* Joins the solicited-node groups of these addresses; the interface leaves them with the socket. */
void groups_join(int fd, unsigned ifindex, const uint8_t addrs[][16], unsigned count);

#endif
