/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ifctl.h - queries and settings of an interface in the kernel, in the network namespace of the
 * calling thread.
 */
#ifndef TOE_NETIO_IFCTL_H
#define TOE_NETIO_IFCTL_H

#include "backend.h"

/* Returns 0 when name can be an interface's name, else -1 and a sentence that begins with `who`. */
int ifctl_check_name(const char *who, const char *name, const struct netio_err *err);
/* Each returns 0, or -1 with errno set. */
int ifctl_get_mac(const char *name, uint8_t mac[6]);
int ifctl_get_mtu(const char *name, uint32_t *mtu);
int ifctl_is_up(const char *name, int *up);
int ifctl_set_up(const char *name);
int ifctl_set_address(const char *name, const uint8_t ip[4], unsigned prefix_len);
/* Returns the receive queues of the interface; 1 when the driver does not report them. */
uint32_t ifctl_get_queues(const char *name);
/* Returns how many receive queues it can have ('ethtool -L'), at least as many as it has. */
uint32_t ifctl_get_most_queues(const char *name);
/* Gets the name of its driver ("veth"). Returns 0, or -1 with errno set when the driver does not
 * report it. */
int ifctl_get_driver(const char *name, char *driver, size_t size);
/* Returns not 0 when the interface removes VLAN tags from received frames (rx-vlan-offload). */
int ifctl_strips_vlan(const char *name);

#endif
