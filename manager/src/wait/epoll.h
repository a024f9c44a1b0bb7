/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoll.h - an epoll instance: the kernel's, plus what the TOE carries (SEEDS S1.14).
 *
 * Kernel descriptors are registered in the kernel alone, with the application's data. A TOE socket
 * has a tepitem here, and none in the kernel. An undecided socket has both (the item is dormant); a
 * listener that the kernel serves too has both, and its kernel event carries a mark of ours.
 */
#ifndef LIBTOE_EPOLL_H
#define LIBTOE_EPOLL_H

#include "tsock.h"

/* All that notify_pending events touches lies in the first cache line. */
struct tepitem {
    struct tepoll *ep;
    struct tobj *obj;
    struct tepitem *next_of_obj;
    struct tepitem *prev_ready, *next_ready;
    uint64_t data;
    uint32_t events;      /* as registered, with EPOLLET and so on */
    bool ready;           /* on the ready list */
    bool dormant;         /* the socket is undecided: the kernel serves it */
    bool disabled;        /* one-shot, and shot */
    bool kernel_reported; /* its kernel half was reported in this very wait */
    uint32_t mark;        /* number in kernel events of a dual listener, 0 none (epoll.c) */
    int fd;
    struct tepitem *prev, *next; /* all of the instance */
};
_Static_assert(offsetof(struct tepitem, prev) <= 64, "one cache line");

struct tepoll {
    struct tobj obj; /* first */
    int fd;          /* a descriptor of it, for epoll_ctl */
    int kick_fd;     /* wakes sleepers in the kernel's epoll_wait */
    uint32_t sleepers;
    bool kicked;       /* kick_fd written and no sleeper awake yet */
    bool kernel_used;  /* has or had kernel descriptors */
    bool unasked;      /* in a fork child: its connections may have to be asked for (share.h) */
    uint8_t turns;     /* waits answered without asking the kernel */
    uint64_t asked_at; /* when it was, by tctx_now() */
    uint32_t wired;    /* the tctx.generation whose interrupts are registered here, 0 none */
    struct tepitem *all;
    struct tepitem *ready_head, *ready_tail;
};

/* Our own events in a kernel epoll are distinguished from the application's by the upper half of
 * their data: a number drawn at random per process that no pointer has. */
TOE_HIDDEN uint64_t tepoll_mark_data(uint32_t number);
TOE_HIDDEN bool tepoll_is_mark(uint64_t data);
/* Before the first of ours: the kernel's instances have marks of the program that we were. */
TOE_HIDDEN void tepoll_use_secret(uint64_t of);
#define TEPOLL_MARK_WAKE 1u /* kick or interrupt */
#define TEPOLL_MARK_GONE 2u /* a control socket: the TOE has ended */
#define TEPOLL_MARK_ITEM 3u /* and up: dual listeners */
TOE_HIDDEN struct tepitem *tepoll_marked_item(uint32_t number);

/* An instance for a descriptor of the kernel's that has none of ours; NULL: no memory. */
TOE_HIDDEN struct tepoll *tepoll_new(int fd);
/* A registration as it was before an exec, its mark too; the kernel's half, if it has one, is
 * there. False: no memory. */
TOE_HIDDEN bool tepoll_restore(struct tepoll *ep, struct tobj *o, const struct tepitem *as);

/* Registers kick and interrupts in the kernel's epoll when that has not been done. */
TOE_HIDDEN void tepoll_wire(struct tepoll *ep, int epfd);
TOE_HIDDEN void tepoll_wake(struct tepoll *ep);
TOE_HIDDEN void tepoll_ask(struct tepoll *ep);
TOE_HIDDEN void tepoll_ready_add(struct tepitem *i);
TOE_HIDDEN void tepoll_ready_del(struct tepitem *i);
/* The events of the item to report now; 0 none. */
TOE_HIDDEN uint32_t tepoll_item_events(const struct tepitem *i);

TOE_HIDDEN void tepoll_mark(struct tobj *o, uint32_t events);
TOE_HIDDEN void tepoll_forget_object(struct tobj *o);
/* A descriptor of the instance was closed, others remain. */
TOE_HIDDEN void tepoll_fd_closed(struct tepoll *ep, int fd);
/* In a fork child: what was wired is the parent's. */
TOE_HIDDEN void tepoll_fork_child(struct tepoll *ep);
/* s was the TOE's and is now the kernel's, and so are its registrations. */
TOE_HIDDEN void tepoll_to_kernel(struct tsock *s);
/* s was undecided and is now the TOE's (or the kernel's): moves its registrations. */
TOE_HIDDEN void tepoll_adopt(struct tsock *s);
TOE_HIDDEN void tepoll_abandon(struct tsock *s);
TOE_HIDDEN void tepoll_end(struct tepoll *ep);
/* Is fd an epoll instance with sockets of ours? Takes the lock. */
TOE_HIDDEN bool tepoll_watches(int fd);
TOE_HIDDEN bool tepoll_ready(struct tepoll *ep);

#endif
