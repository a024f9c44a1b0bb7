/* SPDX-License-Identifier: Apache-2.0 */
/* alone.h - a network namespace of a test program's own, in which no other program has ports and
 * the settings are the kernel's defaults. For engine/, manager/ and tests/. */
#ifndef TOE_TEST_ALONE_H
#define TOE_TEST_ALONE_H

#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Moves the process there, with `flags` of unshare(2) in addition. Returns whether it moved: 0
 * without the right to. */
static inline int move_alone(int flags)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd, rc;

    if (unshare(CLONE_NEWNET | flags) != 0)
        return 0;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    rc = ioctl(fd, SIOCSIFFLAGS, &lo);
    close(fd);
    if (rc != 0) {
        perror("lo of a new network namespace");
        exit(1);
    }
    return 1;
}

/* The same also for a user without the right to, where the machine has user namespaces: the process
 * then has another user number. */
static inline int move_alone_as_any_user(void)
{
    return move_alone(0) || move_alone(CLONE_NEWUSER);
}

#endif
