/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_epoll.c - restores the TOE's sockets in epoll instances that outlive an exec (exec.h).
 *
 * The kernel's instance outlives the exec with its registrations: undecided sockets, the kernel's
 * halves of listeners, and our interrupts, whose data has the secret of the old program.
 */
#include <string.h>

#include "ctx.h"
#include "epoll.h"
#include "exec_epoll.h"
#include "fdtab.h"
#include "tsock.h"

struct image_head {
    uint64_t secret;
    uint64_t numbers;
};

/* A number, followed by the registrations; repeated for each number of an instance. */
struct image_number {
    uint64_t instance; /* only to distinguish instances */
    int32_t fd;
    uint32_t items, wired, pad;
};

struct image_item {
    uint64_t data;
    uint64_t inner; /* an instance, as in image_number; 0: it is a socket */
    uint32_t events, mark, sock;
    int32_t fd;
    uint32_t dormant, disabled;
};

static uint8_t *to; /* NULL: only count the bytes */
static size_t counted;
static uint64_t numbers;

static void put(const void *what, size_t n)
{
    if (to)
        memcpy(to + counted, what, n);
    counted += n;
}

static void put_item(const struct tepitem *i)
{
    struct image_item r = {.data = i->data,
                           .events = i->events,
                           .mark = i->mark,
                           .fd = i->fd,
                           .dormant = i->dormant,
                           .disabled = i->disabled};

    if (i->obj->kind == TOBJ_EPOLL)
        r.inner = (uintptr_t)i->obj;
    else
        r.sock = ((const struct tsock *)i->obj)->at_exec;
    put(&r, sizeof(r));
}

/* Returns whether to write an item: of a socket that is passed on, or of another instance, which
 * may be. */
static bool is_kept(const struct tepitem *i)
{
    return i->obj->kind == TOBJ_EPOLL ||
           (i->obj->kind == TOBJ_SOCK && ((const struct tsock *)i->obj)->at_exec);
}

static void put_number(int fd, struct tobj *o)
{
    const struct tepoll *ep = (const struct tepoll *)o;
    struct image_number r = {.instance = (uintptr_t)ep, .fd = fd};

    if (o->kind != TOBJ_EPOLL || (sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC))
        return;
    r.wired = ep->wired == tctx.generation;
    for (const struct tepitem *i = ep->all; i; i = i->next)
        r.items += is_kept(i);
    put(&r, sizeof(r));
    for (const struct tepitem *i = ep->all; i; i = i->next)
        if (is_kept(i))
            put_item(i);
    numbers++;
}

size_t texec_epolls_put(uint8_t *at)
{
    struct image_head h = {.secret = tepoll_mark_data(0)};

    to = at;
    counted = sizeof(h);
    numbers = 0;
    tfd_each_number(put_number);
    h.numbers = numbers;
    if (at)
        memcpy(at, &h, sizeof(h));
    return counted;
}

/* ---- reading ---- */

static const uint8_t *from;
static size_t left;

static const void *take(size_t n)
{
    const void *at = from;

    if (n > left)
        return NULL;
    from += n;
    left -= n;
    return at;
}

static struct tepitem as_item(const struct image_item *r)
{
    return (struct tepitem){.data = r->data,
                            .events = r->events,
                            .mark = r->mark,
                            .fd = r->fd,
                            .dormant = r->dormant,
                            .disabled = r->disabled};
}

/* Returns the instance by a number of it that is restored already; NULL: this is its first. */
static struct tepoll *known(const uint8_t *first, uint64_t instance)
{
    const struct image_number *r = (const void *)first;

    while ((const uint8_t *)r < from) {
        if (r->instance == instance && tepoll_get(r->fd))
            return tepoll_get(r->fd);
        r = (const void *)((const uint8_t *)(r + 1) + r->items * sizeof(struct image_item));
    }
    return NULL;
}

static bool take_number(const uint8_t *first, struct tsock *const *socks, uint32_t socks_n)
{
    const struct image_number *r = (const void *)from;
    struct tepoll *ep = left >= sizeof(*r) ? known(first, r->instance) : NULL;
    const struct image_item *items;
    bool again = ep != NULL;

    r = take(sizeof(*r));
    items = r ? take(r->items * sizeof(*items)) : NULL;
    if (!items || (unsigned)r->fd >= TFD_MAX)
        return false;
    if (again) {
        tfd_set(r->fd, &ep->obj);
        return true;
    }
    ep = tepoll_new(r->fd);
    if (!ep)
        return false;
    ep->wired = r->wired ? tctx.generation : 0;
    for (uint32_t i = 0; i < r->items; i++) {
        const struct tepitem item = as_item(&items[i]);

        if (items[i].inner)
            continue; /* after all instances */
        if (items[i].sock - 1 >= socks_n ||
            !tepoll_restore(ep, &socks[items[i].sock - 1]->obj, &item))
            return false;
    }
    return true;
}

/* Restores the instances that are registered in the instance of this number. The kernel too has
 * dropped one that was closed. */
static bool take_nested(const uint8_t *first, const struct image_number *r)
{
    const struct image_item *items = (const void *)(r + 1);
    struct tepoll *ep = tepoll_get(r->fd);

    if (!ep || ep->fd != r->fd)
        return true; /* done for another number of it */
    for (uint32_t i = 0; i < r->items; i++) {
        const struct tepitem item = as_item(&items[i]);
        struct tepoll *inner = items[i].inner ? known(first, items[i].inner) : NULL;

        if (inner && !tepoll_restore(ep, &inner->obj, &item))
            return false;
    }
    return true;
}

bool texec_epolls_take(const uint8_t *at, size_t n, struct tsock *const *socks, uint32_t socks_n)
{
    const struct image_head *h;
    const uint8_t *first;

    from = at;
    left = n;
    h = take(sizeof(*h));
    if (!h)
        return false;
    tepoll_use_secret(h->secret);
    first = from;
    for (uint64_t i = 0; i < h->numbers; i++)
        if (!take_number(first, socks, socks_n))
            return false;
    for (const struct image_number *r = (const void *)first; (const uint8_t *)r < from;
         r = (const void *)((const uint8_t *)(r + 1) + r->items * sizeof(struct image_item)))
        if (!take_nested(first, r))
            return false;
    return true;
}
