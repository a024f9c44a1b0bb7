/* SPDX-License-Identifier: Apache-2.0 */
/* netlink.h - what the kernel reports about interfaces and routes, by netlink. Nothing is changed.
 */
#ifndef TOE_CLI_DOCTOR_NETLINK_H
#define TOE_CLI_DOCTOR_NETLINK_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct link {
    int index, master; /* master: index of the bridge or bond that it belongs to; 0: none */
    unsigned mtu;
    bool up, carrier, loopback;
    char name[IF_NAMESIZE];
    char kind[16];    /* "veth", "tun", ...; "": a device without a kind, such as a card */
    uint8_t xdp_mode; /* XDP_ATTACHED_* */
    uint32_t xdp_id;  /* of the attached program; 0: none */
};

/* Reads all interfaces of the network namespace. Returns how many; *links is the caller's to free.
 * -1: errno. */
int netlink_links(struct link **links);

/* Returns the interface that the kernel sends to the address by. 0: it has no route. -1: errno. */
int netlink_route(int family, const void *address);

/* Finds the router of an IPv4 default route by the interface, as text. */
bool netlink_default_router(int ifindex, char *text, size_t size);

/* The features that a driver reports for XDP (Linux 6.3). */
#define XDP_FEATURE_BASIC     1u
#define XDP_FEATURE_REDIRECT  2u
#define XDP_FEATURE_ZERO_COPY 8u

/* Returns false when the kernel does not report them. */
bool netlink_xdp_features(int ifindex, uint64_t *features);

#endif
