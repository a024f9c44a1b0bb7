/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stamps.h - time stamps, by the kernel or the device, of what a socket sends and receives
 * (Documentation/networking/timestamping.rst).
 */
#ifndef TOE_CLI_STAMPS_H
#define TOE_CLI_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Enables stamps of a socket. Returns false with errno. Stamps of the kernel begin when a work item
 * of it has run (net_enable_timestamp()): call stamps_settle() before the first message. */
bool stamps_enable(int fd, bool hardware);
/* Waits until the kernel stamps received packets, a second at most. For that it sends datagrams
 * over the loopback interface; without one it waits 50 ms. */
void stamps_settle(void);
/* Restarts the numbering of sent messages at 0. Returns false with errno. */
bool stamps_renumber(int fd, bool hardware);

/* Receives one message with its stamp, by the device when `hardware`, else by the kernel; 0: it has
 * none. Returns the bytes, or -1 with errno. */
ssize_t stamps_receive(int fd, void *data, size_t size, bool hardware, uint64_t *stamp,
                       struct sockaddr_storage *from);
/* Reads one stamp of a sent message, and the message's number. Returns 1; 0: none is pending; -1: a
 * network error in errno, such as ECONNREFUSED. */
int stamps_sent(int fd, bool hardware, uint32_t *number, uint64_t *stamp);

#endif
