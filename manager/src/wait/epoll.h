/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoll.h - an epoll instance: the kernel's, plus the sockets that the TOE carries (SEEDS S1.14).
 *
 * Kernel descriptors are registered in the kernel alone, with the application's data. A TOE socket
 * has a tepitem here, and none in the kernel. An undecided socket has both (the item is dormant); a
 * listener that the kernel serves too has both, and its kernel event carries a mark of ours.
 */
#ifndef LIBTOE_EPOLL_H
#define LIBTOE_EPOLL_H

#include "tsock.h"

/* Notifying pending events touches the first cache line only. */
struct tepitem {
    struct tepoll *ep;
    struct tobj *obj;
    struct tepitem *next_of_obj;
    struct tepitem *prev_ready, *next_ready;
    uint64_t data;
    uint32_t events;      /* as registered, with EPOLLET and so on */
    bool ready;           /* on the ready list */
    bool dormant;         /* the socket is undecided: the kernel serves it */
    bool disabled;        /* one-shot, and already reported */
    bool kernel_reported; /* its kernel half was reported in this wait */
    uint32_t mark;        /* number in kernel events of a dual listener, 0: none (epoll.c) */
    int fd;
    struct tepitem *prev, *next; /* all items of the instance */
};
_Static_assert(offsetof(struct tepitem, prev) <= 64, "one cache line");

struct tepoll {
    struct tobj obj; /* first */
    int fd;          /* a descriptor of it, for epoll_ctl */
    int kick_fd;     /* wakes sleepers in the kernel's epoll_wait */
    uint32_t sleepers;
    bool kicked;       /* kick_fd is written and no sleeper is awake yet */
    bool kernel_used;  /* has or had kernel descriptors */
    bool unasked;      /* in a fork child: its connections may need an ask (share.h) */
    uint8_t turns;     /* waits answered without asking the kernel */
    uint64_t asked_at; /* when the kernel was last asked, by tctx_now() */
    uint32_t wired;    /* the tctx.generation whose interrupts are registered here, 0: none */
    struct tepitem *all;
    struct tepitem *ready_head, *ready_tail;
};

/* The upper half of their data distinguishes our own events in a kernel epoll from the
 * application's: a random number per process that is in no pointer. */
TOE_HIDDEN uint64_t tepoll_mark_data(uint32_t number);
TOE_HIDDEN bool tepoll_is_mark(uint64_t data);
/* After an exec, before the first mark: uses the number of the old program, whose marks are in the
 * kernel's instances. */
TOE_HIDDEN void tepoll_use_secret(uint64_t of);
#define TEPOLL_MARK_WAKE 1u /* kick or interrupt */
#define TEPOLL_MARK_GONE 2u /* a control socket: the TOE has ended */
#define TEPOLL_MARK_ITEM 3u /* and up: dual listeners */
TOE_HIDDEN struct tepitem *tepoll_marked_item(uint32_t number);

/* Allocates an instance for an epoll descriptor of the kernel's that has none. NULL: no memory. */
TOE_HIDDEN struct tepoll *tepoll_new(int fd);
/* Restores a registration from before an exec, its mark included. The kernel's half, if any, still
 * exists. False: no memory. */
TOE_HIDDEN bool tepoll_restore(struct tepoll *ep, struct tobj *o, const struct tepitem *as);

/* Registers kick and interrupts in the kernel's epoll unless that is done. */
TOE_HIDDEN void tepoll_wire(struct tepoll *ep, int epfd);
TOE_HIDDEN void tepoll_wake(struct tepoll *ep);
TOE_HIDDEN void tepoll_ask(struct tepoll *ep);
TOE_HIDDEN void tepoll_ready_add(struct tepitem *i);
TOE_HIDDEN void tepoll_ready_del(struct tepitem *i);
/* Returns the events of the item to report now; 0: none. */
TOE_HIDDEN uint32_t tepoll_item_events(const struct tepitem *i);

TOE_HIDDEN void tepoll_mark(struct tobj *o, uint32_t events);
TOE_HIDDEN void tepoll_forget_object(struct tobj *o);
/* Handles the close of a descriptor of the instance while others remain. */
TOE_HIDDEN void tepoll_fd_closed(struct tepoll *ep, int fd);
/* In a fork child: forgets the wired descriptors, which are the parent's. */
TOE_HIDDEN void tepoll_fork_child(struct tepoll *ep);
/* Moves the registrations of s, which was the TOE's, to the kernel. */
TOE_HIDDEN void tepoll_to_kernel(struct tsock *s);
/* Move the registrations of s, which was undecided, to the TOE; or leave them to the kernel. */
TOE_HIDDEN void tepoll_adopt(struct tsock *s);
TOE_HIDDEN void tepoll_abandon(struct tsock *s);
TOE_HIDDEN void tepoll_end(struct tepoll *ep);
/* Returns whether fd is an epoll instance with sockets of ours. Takes the lock. */
TOE_HIDDEN bool tepoll_watches(int fd);
TOE_HIDDEN bool tepoll_ready(struct tepoll *ep);

#endif
