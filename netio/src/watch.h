/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - the epoll set behind netio_fd() of AF_XDP, which the socket leaves while its user
 * polls.
 *
 * For each arriving frame the kernel calls the wait entry of every epoll set that holds the socket,
 * within the sender's system call, whether or not a thread sleeps. So the socket is in the set only
 * while a thread may sleep: watch_on() before the sleep, and watch_frames() takes it out once so
 * many frames were received since then that the two system calls are cheaper.
 */
#ifndef TOE_NETIO_WATCH_H
#define TOE_NETIO_WATCH_H

#include <stdint.h>

#define WATCH_FRAMES 64u

struct watch {
    int set;         /* the epoll set; -1: none */
    int fd;          /* the socket */
    int on;          /* the socket is in the set */
    int keep;        /* other threads sleep while the user polls: it stays in the set */
    uint32_t frames; /* received since watch_on(), while it is in the set */
};

/* Makes the set, without the socket. Returns 0, or -1 with errno. */
int watch_open(struct watch *w, int fd);
/* Adds another descriptor, which stays in the set. Returns 0, or -1 with errno. */
int watch_also(const struct watch *w, int fd);
void watch_close(struct watch *w);
/* Call it before sleeping, and check the receive ring afterwards. Returns 0: an arrival from now on
 * makes the set readable; -1 with errno: it does not. */
int watch_on(struct watch *w);
void watch_off(struct watch *w);

/* Notes received frames. */
static inline void watch_frames(struct watch *w, uint32_t count)
{
    if (!w->on || w->keep)
        return;
    w->frames += count;
    if (w->frames >= WATCH_FRAMES)
        watch_off(w);
}

#endif
