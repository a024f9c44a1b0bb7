/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - packet sockets next to AF_XDP, for frames that the kernel needs too, so the XDP
 * program passes them to it. One joins the IPv6 groups on the interface and receives router
 * advertisements, neighbour advertisements to all nodes, and multicast listener queries. The other
 * receives the ARP with which an IPv4 neighbour announces a new Ethernet address. Both receive
 * frames of one VLAN, whose tag the kernel has removed, or untagged traffic.
 */
#ifndef TOE_NETIO_GROUPS_H
#define TOE_NETIO_GROUPS_H

#include <stdint.h>

/* Both return a non-blocking socket, or -1 with errno. vlan: the VLAN ID, 0: untagged traffic. */
int groups_open(unsigned ifindex, uint16_t vlan);
int announcements_open(unsigned ifindex, uint16_t vlan);
/* Drops what has arrived so far. */
void groups_drain(int fd);
/* Joins the solicited-node groups of these addresses; the interface leaves them with the socket. */
void groups_join(int fd, unsigned ifindex, const uint8_t addrs[][16], unsigned count);

#endif
