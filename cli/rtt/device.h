/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - time stamps that an interface's driver supports. */
#ifndef TOE_CLI_DEVICE_H
#define TOE_CLI_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* The driver's answer to ETHTOOL_GET_TS_INFO. */
struct device_stamps {
    bool known, tx_hardware, rx_hardware, tx_software, rx_software, raw, rx_all, tx_on;
    int clock; /* /dev/ptpN; -1: none */
};
/* Queries the driver. Returns false with errno. */
bool device_stamps(const char *interface, struct device_stamps *d);
/* Enables stamps of all packets and stores the previous state in `was`. Returns false with errno.
 */
struct hwtstamp_config;
bool device_enable(const char *interface, struct hwtstamp_config *was);
/* Restores the state that device_enable() stored. */
void device_restore(const char *interface, const struct hwtstamp_config *was);

/* Finds the interface that packets for an address leave by: the one with their source address.
 * Returns false when there is none. */
bool device_towards(const struct sockaddr_storage *to, socklen_t len, char *name, size_t size);

#endif
