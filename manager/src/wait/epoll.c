/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoll.c - epoll instances and registrations (SEEDS S1.14; epoll_ctl(2)).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>

#include "announce.h"
#include "ctx.h"
#include "dispatch.h"
#include "epoll.h"
#include "fdtab.h"
#include "host.h"
#include "inline.h"
#include "internal.h"
#include "lock.h"
#include "qp.h"
#include "ready.h"
#include "share_use.h"
#include "tsock.h"
#include "turns.h"
#include "wait.h"

#define ALWAYS  (EPOLLERR | EPOLLHUP)
#define CONTROL (EPOLLET | EPOLLONESHOT | EPOLLWAKEUP | EPOLLEXCLUSIVE)
/* What Linux takes with EPOLLEXCLUSIVE. */
#define EXCLUSIVE_OK (EPOLLIN | EPOLLOUT | ALWAYS | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE)

static struct tpool ep_pool = {.size = (sizeof(struct tepoll) + 63) & ~63ul};
static struct tpool item_pool = {.size = (sizeof(struct tepitem) + 63) & ~63ul};

/* ---- marks ---- */

static uint64_t secret; /* upper half, bit 63 set: never in a pointer of a program */
static struct tepitem **marked;
static uint32_t marked_n;

static uint64_t get_secret(void)
{
    uint32_t r;

    if (likely(secret))
        return secret;
    if (getrandom(&r, sizeof(r), GRND_NONBLOCK) != sizeof(r))
        r = (uint32_t)tclock_ns() * 2654435761u;
    secret = (uint64_t)((r & 0x3fffffffu) | 0x80000000u) << 32;
    return secret;
}

uint64_t tepoll_mark_data(uint32_t number)
{
    return get_secret() | number;
}

bool tepoll_is_mark(uint64_t data)
{
    return secret && (data & ~0xffffffffull) == secret;
}

struct tepitem *tepoll_marked_item(uint32_t number)
{
    number -= TEPOLL_MARK_ITEM;
    return number < marked_n ? marked[number] : NULL;
}

void tepoll_use_secret(uint64_t of)
{
    secret = of;
}

static bool mark_as(struct tepitem *item, uint32_t i)
{
    uint32_t room = (i / 16 + 1) * 16;

    if (i >= marked_n) {
        struct tepitem **m = realloc(marked, room * sizeof(*m));

        if (!m)
            return false;
        memset(m + marked_n, 0, (room - marked_n) * sizeof(*m));
        marked = m;
        marked_n = room;
    }
    marked[i] = item;
    item->mark = i + TEPOLL_MARK_ITEM;
    return true;
}

static bool mark_item(struct tepitem *item)
{
    uint32_t i = 0;

    while (i < marked_n && marked[i])
        i++;
    return mark_as(item, i);
}

static void unmark(struct tepitem *item)
{
    if (item->mark)
        marked[item->mark - TEPOLL_MARK_ITEM] = NULL;
    item->mark = 0;
}

/* The kernel reports an undecided socket with our mark if it is one-shot: after connect() libtoe
 * must know whether it has been reported. */
static bool mark_one_shot(struct tepitem *item)
{
    return !item->dormant || !(item->events & EPOLLONESHOT) || item->mark || mark_item(item);
}

/* ---- the ready list ---- */

void tepoll_ready_add(struct tepitem *i)
{
    struct tepoll *ep = i->ep;

    if (i->ready)
        return;
    i->ready = true;
    i->next_ready = NULL;
    i->prev_ready = ep->ready_tail;
    if (ep->ready_tail)
        ep->ready_tail->next_ready = i;
    else
        ep->ready_head = i;
    ep->ready_tail = i;
}

void tepoll_ready_del(struct tepitem *i)
{
    struct tepoll *ep = i->ep;

    if (!i->ready)
        return;
    i->ready = false;
    if (i->prev_ready)
        i->prev_ready->next_ready = i->next_ready;
    else
        ep->ready_head = i->next_ready;
    if (i->next_ready)
        i->next_ready->prev_ready = i->prev_ready;
    else
        ep->ready_tail = i->prev_ready;
}

uint32_t tepoll_item_events(const struct tepitem *i)
{
    if (unlikely(i->disabled || i->dormant))
        return 0;
    return tobj_events(i->obj) & (i->events | ALWAYS) & ~CONTROL;
}

bool tepoll_ready(struct tepoll *ep)
{
    for (struct tepitem *i = ep->ready_head, *next; i; i = next) {
        next = i->next_ready;
        if (tepoll_item_events(i))
            return true;
        tepoll_ready_del(i);
    }
    return false;
}

void tepoll_wake(struct tepoll *ep)
{
    uint64_t one = 1;

    if (ep->sleepers && !ep->kicked) {
        ep->kicked = true;
        (void)!sys_write(ep->kick_fd, &one, sizeof(one));
    }
    if (unlikely(ep->obj.waiters || ep->obj.items))
        tobj_notify(&ep->obj, EPOLLIN | EPOLLRDNORM);
}

/* EPOLLEXCLUSIVE: once a sleeping instance is notified, others of that kind are not. */
void tepoll_mark(struct tobj *o, uint32_t events)
{
    bool notified = false;

    for (struct tepitem *i = o->items; i; i = i->next_of_obj) {
        if (i->disabled || i->dormant || !(events & (i->events | ALWAYS)))
            continue;
        if (unlikely(i->events & EPOLLEXCLUSIVE)) {
            if (notified)
                continue;
            notified = i->ep->sleepers && !i->ep->kicked;
        }
        tepoll_ready_add(i);
        if (unlikely(i->ep->sleepers || i->ep->obj.waiters || i->ep->obj.items))
            tepoll_wake(i->ep);
    }
}

/* ---- instances ---- */

struct tepoll *tepoll_new(int fd)
{
    struct tepoll *ep = tpool_get(&ep_pool);

    if (!ep)
        return NULL;
    memset(ep, 0, sizeof(*ep));
    ep->obj.kind = TOBJ_EPOLL;
    ep->fd = fd;
    ep->kick_fd = -1;
    tfd_set(fd, &ep->obj);
    return ep;
}

int toe_epoll_create1(int flags)
{
    struct tepoll *ep;
    int fd = sys_epoll_create1(flags);

    if (fd < 0 || unlikely(tinline_inside) || fd >= (int)TFD_MAX)
        return fd;
    tctx_lock();
    ep = tepoll_new(fd);
    tctx_unlock();
    if (!ep) {
        sys_close(fd);
        return terr(ENOMEM);
    }
    return fd;
}

int toe_epoll_create(int size)
{
    return size > 0 ? toe_epoll_create1(0) : terr(EINVAL);
}

static void wire_one(int epfd, int fd, uint32_t mark)
{
    /* edge-triggered: the eventfds need never be read */
    struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u64 = tepoll_mark_data(mark)};

    if (fd >= 0)
        sys_epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &e);
}

void tepoll_wire(struct tepoll *ep, int epfd)
{
    if (unlikely(ep->kick_fd < 0)) {
        ep->kick_fd = tfd_internal(sys_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        wire_one(epfd, ep->kick_fd, TEPOLL_MARK_WAKE);
    }
    if (likely(ep->wired == tctx.generation) || !tctx.qps_n)
        return;
    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        wire_one(epfd, tctx.qps[q]->irq_fd, TEPOLL_MARK_WAKE);
        wire_one(epfd, tctx.qps[q]->ctl_fd,
                 tctx.qps[q]->inside ? TEPOLL_MARK_WAKE : TEPOLL_MARK_GONE);
    }
    ep->wired = tctx.generation;
}

/* ---- items ---- */

static struct tepitem *find(const struct tepoll *ep, const struct tobj *o, int fd)
{
    struct tepitem *i = o->items;

    while (i && (i->ep != ep || i->fd != fd))
        i = i->next_of_obj;
    return i;
}

static void item_free(struct tepitem *i)
{
    struct tepitem **p = &i->obj->items;

    tepoll_ready_del(i);
    while (*p != i)
        p = &(*p)->next_of_obj;
    *p = i->next_of_obj;
    if (i->prev)
        i->prev->next = i->next;
    else
        i->ep->all = i->next;
    if (i->next)
        i->next->prev = i->prev;
    unmark(i);
    i->ep = NULL;
    tpool_put(&item_pool, i);
}

static struct tepitem *item_new(struct tepoll *ep, struct tobj *o, int fd)
{
    struct tepitem *i = tpool_get(&item_pool);

    if (!i)
        return NULL;
    memset(i, 0, sizeof(*i));
    i->ep = ep;
    i->obj = o;
    i->fd = fd;
    i->next_of_obj = o->items;
    o->items = i;
    i->next = ep->all;
    if (ep->all)
        ep->all->prev = i;
    ep->all = i;
    return i;
}

/* Changes the kernel registration of an item. */
static int kernel_ctl(struct tepitem *i, int op)
{
    struct epoll_event e = {.events = i->disabled ? 0 : i->events, .data.u64 = i->data};

    if (i->mark)
        e.data.u64 = tepoll_mark_data(i->mark);
    return sys_epoll_ctl(i->ep->fd, op, i->fd, &e);
}

/* Returns whether the kernel's epoll must watch the number too. */
static bool in_kernel(const struct tepitem *i)
{
    return i->dormant || i->mark || i->obj->kind == TOBJ_EPOLL;
}

static bool is_shared(const struct tobj *o)
{
    return o->kind == TOBJ_SOCK && ((const struct tsock *)o)->state == TS_SHARED;
}

void tepoll_forget_object(struct tobj *o)
{
    while (o->items) {
        /* A forked child may hold the kernel's socket open, so a close would not unregister it.
         * On Linux it does not either, where the connection is shared. */
        if (in_kernel(o->items) && !is_shared(o))
            kernel_ctl(o->items, EPOLL_CTL_DEL);
        item_free(o->items);
    }
}

void tepoll_end(struct tepoll *ep)
{
    while (ep->all)
        item_free(ep->all);
    tfd_internal_close(ep->kick_fd);
    ep->obj.kind = TOBJ_FREE;
    tpool_put(&ep_pool, ep);
}

/* Wires the instance for a thread that sleeps in it already: TOE events must wake it from now on.
 */
static void attend(struct tepoll *ep)
{
    if (likely(!ep->sleepers))
        return;
    tepoll_wire(ep, ep->fd);
    twait_arm();
}

void tepoll_adopt(struct tsock *s)
{
    for (struct tepitem *i = s->obj.items; i; i = i->next_of_obj) {
        int saved = errno;

        i->dormant = false;
        if (!s->dual) {
            kernel_ctl(i, EPOLL_CTL_DEL);
            unmark(i);
        } else if (i->mark || mark_item(i)) {
            kernel_ctl(i, EPOLL_CTL_MOD);
        }
        if (tepoll_item_events(i))
            tepoll_ready_add(i);
        attend(i->ep);
        errno = saved;
    }
    tobj_notify(&s->obj, EPOLLIN | EPOLLOUT); /* pollers check again, now in libtoe */
    if (s->obj.items && s->state == TS_LISTEN) {
        tsock_watch(s);
        for (struct tepitem *i = s->obj.items; i; i = i->next_of_obj)
            if (i->ep->sleepers)
                tturn_begin(i->ep);
    }
}

void tepoll_to_kernel(struct tsock *s)
{
    int saved = errno;

    for (struct tepitem *i = s->obj.items; i; i = i->next_of_obj) {
        if (i->dormant)
            continue;
        i->dormant = true;
        i->ep->kernel_used = true;
        tepoll_ready_del(i);
        (void)mark_one_shot(i);
        kernel_ctl(i, EPOLL_CTL_ADD); /* another process may have added it for all */
    }
    errno = saved;
}

void tepoll_abandon(struct tsock *s)
{
    int saved = errno;

    for (struct tepitem *i = s->obj.items; i; i = i->next_of_obj) {
        i->ep->kernel_used = true;
        if (i->mark) { /* from now on the kernel reports it with the program's data */
            unmark(i);
            kernel_ctl(i, EPOLL_CTL_MOD);
        }
    }
    while (s->obj.items)
        item_free(s->obj.items);
    errno = saved;
}

static int ctl_add(struct tepoll *ep, struct tobj *o, int fd, const struct epoll_event *e)
{
    struct tsock *s = o->kind == TOBJ_SOCK ? (struct tsock *)o : NULL;
    struct tepitem *i;

    if (find(ep, o, fd))
        return terr(EEXIST);
    if (&ep->obj == o)
        return terr(EINVAL);
    i = item_new(ep, o, fd);
    if (!i)
        return terr(ENOMEM);
    i->events = e->events;
    i->data = e->data.u64;
    i->dormant = s && tsock_kernels(s);
    if (!mark_one_shot(i) || (s && s->state == TS_LISTEN && s->dual && !mark_item(i))) {
        item_free(i);
        return terr(ENOMEM);
    }
    if (s && s->state == TS_LISTEN)
        tsock_watch(s);
    if (in_kernel(i)) {
        if (kernel_ctl(i, EPOLL_CTL_ADD) < 0) {
            item_free(i);
            return -1;
        }
        ep->kernel_used = true;
    }
    return 0;
}

bool tepoll_restore(struct tepoll *ep, struct tobj *o, const struct tepitem *as)
{
    struct tepitem *i = item_new(ep, o, as->fd);

    if (!i)
        return false;
    i->events = as->events;
    i->data = as->data;
    i->dormant = as->dormant;
    i->disabled = as->disabled;
    if (as->mark && !mark_as(i, as->mark - TEPOLL_MARK_ITEM)) {
        item_free(i);
        return false;
    }
    ep->kernel_used = true;
    if (tepoll_item_events(i)) {
        tepoll_ready_add(i);
        tepoll_wake(ep); /* it may be registered in another instance */
    }
    return true;
}

static bool is_listener(const struct tobj *o)
{
    return o->kind == TOBJ_SOCK && ((const struct tsock *)o)->state == TS_LISTEN;
}

static int ctl_mod(struct tepitem *i, const struct epoll_event *e)
{
    if (i->events & EPOLLEXCLUSIVE)
        return terr(EINVAL); /* as Linux */
    i->events = e->events;
    i->data = e->data.u64;
    i->disabled = false;
    if (!mark_one_shot(i))
        return terr(ENOMEM);
    if (is_listener(i->obj))
        tturn_end(); /* unless it is still watched by a thread that waits */
    return in_kernel(i) ? kernel_ctl(i, EPOLL_CTL_MOD) : 0;
}

static int ctl_del(struct tepitem *i)
{
    bool listener;

    if (in_kernel(i))
        kernel_ctl(i, EPOLL_CTL_DEL);
    listener = is_listener(i->obj);
    item_free(i);
    if (listener)
        tturn_end();
    return 0;
}

/* Returns whether Linux refuses EPOLLEXCLUSIVE here (do_epoll_ctl()). */
static bool is_wrong_exclusive(int op, const struct tobj *o, const struct epoll_event *e)
{
    return op != EPOLL_CTL_DEL && (e->events & EPOLLEXCLUSIVE) &&
           (op == EPOLL_CTL_MOD || o->kind == TOBJ_EPOLL || (e->events & ~EXCLUSIVE_OK));
}

static int ctl_locked(struct tepoll *ep, int op, int fd, struct tobj *o, struct epoll_event *e)
{
    struct tepitem *i = find(ep, o, fd);
    int r;

    if (is_wrong_exclusive(op, o, e))
        return terr(EINVAL);
    if (op == EPOLL_CTL_ADD) {
        r = ctl_add(ep, o, fd, e);
        i = find(ep, o, fd);
    } else if (!i) {
        return terr(ENOENT);
    } else if (op == EPOLL_CTL_MOD) {
        r = ctl_mod(i, e);
    } else {
        return ctl_del(i);
    }
    if (ep->sleepers)
        tturn_begin(ep);
    attend(ep);
    /* report an item that is ready already, also edge-triggered, and to sleepers in other threads
     */
    if (r == 0 && tepoll_item_events(i)) {
        tepoll_ready_add(i);
        tepoll_wake(ep);
    }
    return r;
}

int toe_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
    struct tepoll *ep;
    struct tobj *o;
    int r;

    if (!tepoll_get(epfd))
        return sys_epoll_ctl(epfd, op, fd, event);
    tctx_lock();
    if (op != EPOLL_CTL_DEL)
        tshare_use(fd);
    ep = tepoll_get(epfd);
    if (op == EPOLL_CTL_ADD)
        (void)tinherit_use(fd); /* accept() reports errors */
    o = tobj_get(fd);
    if (!ep || !o) {
        if (ep)
            ep->kernel_used = true;
        tctx_unlock();
        return sys_epoll_ctl(epfd, op, fd, event);
    }
    if (op != EPOLL_CTL_ADD && op != EPOLL_CTL_MOD && op != EPOLL_CTL_DEL)
        r = terr(EINVAL);
    else if (!event && op != EPOLL_CTL_DEL)
        r = terr(EFAULT);
    else
        r = ctl_locked(ep, op, fd, o, event);
    tctx_unlock();
    return r;
}

void tepoll_fd_closed(struct tepoll *ep, int fd)
{
    if (ep->fd == fd)
        ep->fd = tfd_find(&ep->obj, fd);
}

void tepoll_fork_child(struct tepoll *ep)
{
    tfd_internal_close(ep->kick_fd);
    ep->kick_fd = -1;
    ep->wired = ep->sleepers = 0;
    ep->kicked = false;
    ep->unasked = ep->all != NULL;
}

/* The list may change during an ask. */
void tepoll_ask(struct tepoll *ep)
{
    struct tepitem *i = ep->all;

    ep->unasked = false;
    while (i) {
        struct tsock *s = i->obj->kind == TOBJ_SOCK ? (struct tsock *)i->obj : NULL;

        i = i->next;
        if (s && s->unasked) {
            tshare_ask(s);
            i = ep->all;
        }
    }
}

bool tepoll_watches(int fd)
{
    const struct tepoll *ep;
    bool any;

    if (!tepoll_get(fd))
        return false;
    tctx_lock();
    ep = tepoll_get(fd);
    any = ep && ep->all;
    tctx_unlock();
    return any;
}
