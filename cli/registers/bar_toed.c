/* SPDX-License-Identifier: Apache-2.0 */
/* bar_toed.c - the register page of a running toed (toe/attach.h, TOEDEV_HELLO_REGISTERS). */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <toe/attach.h>

#include "../common/daemon.h"
#include "bar_kinds.h"
#include "bar_map.h"

#define ANSWER_SECONDS 5

/* Returns the descriptor in the answer, or -1. */
static int take_fd(int from)
{
    struct toedev_welcome w;
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec iov = {&w, sizeof w};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.room,
                         .msg_controllen = sizeof control.room};
    struct cmsghdr *cm;
    int fd = -1;

    if (recvmsg(from, &msg, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof w || w.reason != 0)
        return -1;
    cm = CMSG_FIRSTHDR(&msg);
    if (cm && cm->cmsg_type == SCM_RIGHTS && cm->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(cm), sizeof fd);
    return fd;
}

static bool open_toed(struct bar *bar, const char *name)
{
    struct toedev_hello hello = {.magic = TOEDEV_MAGIC,
                                 .version = TOEDEV_CONTRACT_VERSION,
                                 .kind = TOEDEV_HELLO_REGISTERS,
                                 .name = "toehold"};
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    int fd = cli_connect(cli_socket_path(name[0] ? name : NULL), bar->why, sizeof bar->why);

    bar->no_daemon = fd < 0;
    if (fd < 0)
        return false;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        send(fd, &hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello)
        bar->fd = take_fd(fd);
    close(fd);
    if (bar->fd < 0)
        return bar_fail(
            bar, "this toed does not share its registers; use toehold and toed of one release");
    bar->size = TOEDEV_PAGE;
    bar->write = false; /* the page is sealed */
    return bar_map(bar, 0, TOEDEV_PAGE);
}

const struct bar_ops bar_toed = {.kind = "toed",
                                 .what = "software TOE",
                                 .open = open_toed,
                                 .read = bar_map_read,
                                 .close = bar_map_close};
