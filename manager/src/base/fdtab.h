/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fdtab.h - the table from descriptors to objects, and the memory of the objects (fdtab.c). Lock
 * held, except where noted.
 */
#ifndef LIBTOE_FDTAB_H
#define LIBTOE_FDTAB_H

#include "libtoe.h"

enum tobj_kind { TOBJ_FREE = 0, TOBJ_SOCK = 1, TOBJ_EPOLL = 2 };

struct tsock;
struct tepoll;
struct tepitem;
struct twnode;

/* The part that sockets and epoll instances share: their references and waiters. */
struct tobj {
    uint8_t kind;
    uint8_t pad[3];
    uint32_t refs;          /* descriptors of the object, plus calls that sleep on it */
    struct twnode *waiters; /* threads in poll, select or a blocking call */
    struct tepitem *items;  /* registrations of this object in epoll instances */
};

#define TFD_MAX (1u << 20) /* numbers from here on stay with the kernel, except ... */
/* ... libtoe's own (toe_own_socket()), which the kernel never allocates: its table would need
 * 8 GiB. */
#define TFD_OWN     (1u << 30)
#define TFD_OWN_MAX (1u << 21)

extern TOE_HIDDEN _Atomic(struct tobj *) tfd_table[TFD_MAX], tfd_own_table[TFD_OWN_MAX];

static inline bool tfd_is_own(int fd)
{
    return (unsigned)fd - TFD_OWN < TFD_OWN_MAX;
}

/* Returns the object of fd, or NULL: then fd is the kernel's. Needs no lock (libtoe.h). */
static inline struct tobj *tobj_get(int fd)
{
    if (unlikely((unsigned)fd >= TFD_MAX))
        return tfd_is_own(fd) ? atomic_load_explicit(&tfd_own_table[(unsigned)fd - TFD_OWN],
                                                     memory_order_acquire)
                              : NULL;
    return atomic_load_explicit(&tfd_table[fd], memory_order_acquire);
}
static inline struct tsock *tsock_get(int fd)
{
    struct tobj *o = tobj_get(fd);
    return o && __atomic_load_n(&o->kind, __ATOMIC_RELAXED) == TOBJ_SOCK ? (struct tsock *)o : NULL;
}
static inline struct tepoll *tepoll_get(int fd)
{
    struct tobj *o = tobj_get(fd);
    return o && __atomic_load_n(&o->kind, __ATOMIC_RELAXED) == TOBJ_EPOLL ? (struct tepoll *)o
                                                                          : NULL;
}

/* Take and drop a reference for a call that sleeps without the lock. Lock held. */
TOE_HIDDEN void tobj_hold(struct tobj *o);
TOE_HIDDEN void tobj_put(struct tobj *o);

/* Returns a new socket with only its kind set. NULL: no memory. */
TOE_HIDDEN struct tsock *tsock_new(void);
TOE_HIDDEN void tfd_set(int fd, struct tobj *o); /* takes a reference */
TOE_HIDDEN void tfd_clear(int fd);               /* drops it */
/* Allocates a number of libtoe's own for o, as tfd_set(); -1 with errno when all are in use. */
TOE_HIDDEN int tfd_own_new(struct tobj *o);
/* Returns some descriptor of o other than `except`, or -1. Slow. */
TOE_HIDDEN int tfd_find(const struct tobj *o, int except);
/* Calls f for every object, once per descriptor. Slow. */
TOE_HIDDEN void tfd_each(void (*f)(struct tobj *o));
TOE_HIDDEN void tfd_each_number(void (*f)(int fd, struct tobj *o)); /* f may clear the number */

/* Memory for objects that is never returned to malloc (libtoe.h). */
struct tpool {
    size_t size;
    void *free;
    uint8_t *chunk;
    size_t left;
    uint32_t chunks; /* so far */
};
TOE_HIDDEN void *tpool_get(struct tpool *p);
TOE_HIDDEN void tpool_put(struct tpool *p, void *object);

#endif
