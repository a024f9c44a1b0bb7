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

#endif
