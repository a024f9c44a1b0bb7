/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_early.c - a library whose constructor uses descriptors. Preloaded after
 * libtoe_preload.so, it runs before that library's constructor: calls must work already.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

__attribute__((constructor)) static void early(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int ends[2], ep = epoll_create1(EPOLL_CLOEXEC), fd = socket(AF_INET, SOCK_STREAM, 0);
    char text[3];

    if (ep < 0 || fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 ||
        epoll_ctl(ep, EPOLL_CTL_ADD, ends[1], &event) < 0 || write(ends[0], "abc", 3) != 3 ||
        epoll_wait(ep, &event, 1, -1) != 1 || read(ends[1], text, 3) != 3 ||
        memcmp(text, "abc", 3) != 0)
        abort();
    close(ep);
    close(fd);
    close(ends[0]);
    close(ends[1]);
}
