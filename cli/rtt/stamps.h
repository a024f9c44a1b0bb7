/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stamps.h - time stamps of the kernel and of the device for what a socket sends and receives
 * (Documentation/networking/timestamping.rst).
 */
#ifndef TOE_CLI_STAMPS_H
#define TOE_CLI_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Asks for stamps of a socket. False: errno. */
bool stamps_ask(int fd, bool hardware);
/* The number of the next message sent is 0 again. */
bool stamps_renumber(int fd, bool hardware);

/* Takes one message with its stamp: of the device with hardware, else of the kernel; *stamp 0: it
 * has none. Bytes, -1: errno. */
ssize_t stamps_receive(int fd, void *data, size_t size, bool hardware, uint64_t *stamp,
                       struct sockaddr_storage *from);
/* Takes one stamp of what was sent: the message's number. 1, 0: there is none now; -1: an error of
 * the network, in errno, such as ECONNREFUSED. */
int stamps_sent(int fd, bool hardware, uint32_t *number, uint64_t *stamp);

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

/* XDP metadata that a device's driver has for programs and AF_XDP (netdev generic netlink,
 * Linux 6.3 and later). 1: asked; 0: this kernel does not tell; -1: errno. */
#define XDP_RX_TIMESTAMP 1u
#define XDP_TX_TIMESTAMP 2u
int device_xdp(const char *interface, unsigned *features);

/* The interface that packets for an address leave by: the one that has the address they come from.
 * False: none. */
bool device_towards(const struct sockaddr_storage *to, socklen_t len, char *name, size_t size);

#endif
