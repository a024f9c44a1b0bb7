/* SPDX-License-Identifier: Apache-2.0 */
/* stamps.c - enables and reads SO_TIMESTAMPING (stamps.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>

#include "stamps.h"

static unsigned flags_for(bool hardware)
{
    /* TX stamps return the number of the message, not the packet. */
    unsigned flags = SOF_TIMESTAMPING_OPT_TSONLY | SOF_TIMESTAMPING_OPT_ID;

    if (hardware)
        return flags | SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
               SOF_TIMESTAMPING_RAW_HARDWARE;
    return flags | SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE |
           SOF_TIMESTAMPING_SOFTWARE;
}

bool stamps_enable(int fd, bool hardware)
{
    unsigned flags = flags_for(hardware);

    return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) == 0;
}

bool stamps_renumber(int fd, bool hardware)
{
    unsigned flags = flags_for(hardware) & ~(unsigned)SOF_TIMESTAMPING_OPT_ID;

    return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) == 0 &&
           stamps_enable(fd, hardware);
}

static uint64_t stamp_of(const struct cmsghdr *cm, bool hardware)
{
    struct scm_timestamping t;
    const struct timespec *ts = hardware ? &t.ts[2] : &t.ts[0];

    memcpy(&t, CMSG_DATA(cm), sizeof t);
    return (uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec;
}

static bool is_stamp(const struct cmsghdr *cm)
{
    return cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SCM_TIMESTAMPING;
}

static bool is_error(const struct cmsghdr *cm)
{
    return (cm->cmsg_level == SOL_IP && cm->cmsg_type == IP_RECVERR) ||
           (cm->cmsg_level == SOL_IPV6 && cm->cmsg_type == IPV6_RECVERR);
}

union control {
    struct cmsghdr align;
    char room[512];
};

ssize_t stamps_receive(int fd, void *data, size_t size, bool hardware, uint64_t *stamp,
                       struct sockaddr_storage *from)
{
    union control control;
    struct iovec iov = {data, size};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_name = from,
                         .msg_namelen = sizeof *from,
                         .msg_control = control.room,
                         .msg_controllen = sizeof control.room};
    ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT);
    struct cmsghdr *cm;

    *stamp = 0;
    for (cm = n >= 0 ? CMSG_FIRSTHDR(&msg) : NULL; cm; cm = CMSG_NXTHDR(&msg, cm))
        if (is_stamp(cm))
            *stamp = stamp_of(cm, hardware);
    return n;
}

int stamps_sent(int fd, bool hardware, uint32_t *number, uint64_t *stamp)
{
    union control control;
    struct msghdr msg = {.msg_control = control.room, .msg_controllen = sizeof control.room};
    struct sock_extended_err err = {0};
    struct cmsghdr *cm;

    if (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
    *stamp = 0;
    for (cm = CMSG_FIRSTHDR(&msg); cm; cm = CMSG_NXTHDR(&msg, cm)) {
        if (is_stamp(cm))
            *stamp = stamp_of(cm, hardware);
        else if (is_error(cm))
            memcpy(&err, CMSG_DATA(cm), sizeof err);
    }
    if (err.ee_origin != SO_EE_ORIGIN_TIMESTAMPING) {
        errno = err.ee_errno ? (int)err.ee_errno : EIO;
        return -1;
    }
    *number = err.ee_data;
    return 1;
}

#define MS 1000000L

/* A datagram socket of the loopback interface, connected to itself, or -1. */
static int open_loop(void)
{
    struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof self;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&self, size) == 0 &&
        getsockname(fd, (struct sockaddr *)&self, &size) == 0 &&
        connect(fd, (struct sockaddr *)&self, size) == 0 && stamps_enable(fd, false))
        return fd;
    close(fd);
    return -1;
}

/* Sends one datagram over the loop: 1 it returned with a stamp, 0 without, -1 not at all. */
static int try_loop(int fd)
{
    struct sockaddr_storage from;
    uint64_t stamp;
    char byte = 0;

    /* the loopback interface delivers before send() returns */
    if (send(fd, &byte, 1, 0) != 1 || stamps_receive(fd, &byte, 1, false, &stamp, &from) != 1)
        return -1;
    return stamp != 0;
}

void stamps_settle(void)
{
    const struct timespec step = {0, MS}, blind = {0, 50 * MS};
    int fd = open_loop(), tries, got = -1;

    for (tries = 0; fd >= 0 && tries < 1000; tries++) {
        if ((got = try_loop(fd)) != 0)
            break;
        nanosleep(&step, NULL);
    }
    if (got < 0)
        nanosleep(&blind, NULL);
    if (fd >= 0)
        close(fd);
}
