/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_range.h - the ephemeral ports of this machine: net.ipv4.ip_local_port_range and
 * net.ipv4.ip_local_reserved_ports of the network namespace (ip-sysctl of the kernel's documents).
 */
#ifndef ENGINE_PORT_RANGE_H
#define ENGINE_PORT_RANGE_H

#include <stddef.h>
#include <stdint.h>

#define PORT_RANGE_SYS "/proc/sys/net/ipv4"

/* first, last 0: unknown, core/ has a default. */
struct port_range {
    uint16_t first, last;
    uint8_t reserved[65536 / 8]; /* toec_config.ports_reserved */
};

/* Reads both settings. sys: PORT_RANGE_SYS, or a test's replacement for it. What cannot be read is
 * left at its default. */
void port_range_read(const char *sys, struct port_range *r);

#endif
