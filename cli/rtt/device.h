/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - what an interface's driver can stamp. */
#ifndef TOE_CLI_DEVICE_H
#define TOE_CLI_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* What a device's driver says of its stamps (ETHTOOL_GET_TS_INFO). */
struct device_stamps {
    bool known, tx_hardware, rx_hardware, tx_software, rx_software, raw, rx_all, tx_on;
    int clock; /* /dev/ptpN; -1: none */
};
bool device_stamps(const char *interface, struct device_stamps *d);
/* Lets the device stamp all that it receives and sends; what it did before into was. False: errno.
 */
struct hwtstamp_config;
bool device_enable(const char *interface, struct hwtstamp_config *was);
void device_restore(const char *interface, const struct hwtstamp_config *was);

/* The interface that packets for an address leave by: the one that has the address they come from.
 * False: none. */
bool device_towards(const struct sockaddr_storage *to, socklen_t len, char *name, size_t size);

#endif
