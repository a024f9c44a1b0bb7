/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - see watch.h. */
#include "watch.h"

#include <sys/epoll.h>
#include <unistd.h>

int watch_open(struct watch *w, int fd)
{
    *w = (struct watch){.set = epoll_create1(EPOLL_CLOEXEC), .fd = fd};
    return w->set < 0 ? -1 : 0;
}

int watch_also(const struct watch *w, int fd)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

    return epoll_ctl(w->set, EPOLL_CTL_ADD, fd, &ev);
}

void watch_close(struct watch *w)
{
    if (w->set >= 0)
        close(w->set);
    w->set = -1;
    w->on = 0;
}

int watch_on(struct watch *w)
{
    w->frames = 0;
    if (w->on)
        return 0;
    if (watch_also(w, w->fd) != 0)
        return -1;
    w->on = 1;
    return 0;
}

void watch_off(struct watch *w)
{
    /* A failure leaves the socket in the set: sleepers are woken, at the cost of each frame. */
    if (epoll_ctl(w->set, EPOLL_CTL_DEL, w->fd, NULL) == 0)
        w->on = 0;
    w->frames = 0;
}
