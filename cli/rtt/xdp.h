/* SPDX-License-Identifier: Apache-2.0 */
/* xdp.h - the source "xdp", time stamps of XDP metadata. */
#ifndef TOE_CLI_XDP_H
#define TOE_CLI_XDP_H

#include <stdbool.h>
#include <stddef.h>

#include "measure.h"

/* Queries the XDP metadata of a driver (netdev generic netlink, Linux 6.3 and later). Returns 1;
 * 0: this kernel cannot report it; -1: errno. */
#define XDP_RX_TIMESTAMP 1u
#define XDP_TX_TIMESTAMP 2u
int device_xdp(const char *interface, unsigned *features);

/* Returns whether the interface's driver offers the time stamps. `why` describes what it offers in
 * either case. */
bool xdp_there(const char *interface, char *why, size_t size);
/* Measures until it is done. Returns false with the reason by rtt_fail(). */
bool xdp_run(struct rtt *r);

#endif
