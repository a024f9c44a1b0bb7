/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fdtab.c - descriptor number to object, and the memory of the objects (SEEDS S1.14).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dispatch.h"
#include "fdtab.h"
#include "tsock.h"

#define CHUNK 65536u     /* bytes of memory for objects */
#define LARGE (2u << 20) /* ... on huge pages if available, from the MANYth chunk on: */
#define MANY  16u        /* one object per small page needs more pages than the TLB has entries */

_Atomic(struct tobj *) tfd_table[TFD_MAX], tfd_own_table[TFD_OWN_MAX];

static int highest_fd = -1;
static uint32_t own_free[TFD_OWN_MAX], own_free_n, own_fresh; /* last in, first out */
static struct tpool sock_pool = {.size = (sizeof(struct tsock) + 63) & ~63ul};

static bool more(struct tpool *p)
{
    size_t n = p->chunks < MANY ? CHUNK : LARGE;
    uint8_t *m = mmap(NULL, n < LARGE ? n : 2 * n, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            *at = m;

    if (m == MAP_FAILED)
        return false;
    if (n == LARGE) { /* align to a huge page and return the rest */
        at = (uint8_t *)(((uintptr_t)m + LARGE - 1) & ~(uintptr_t)(LARGE - 1));
        if (at != m)
            munmap(m, (size_t)(at - m));
        munmap(at + n, (size_t)(m + 2 * n - (at + n)));
        (void)madvise(at, n, MADV_HUGEPAGE);
    }
    p->chunks++;
    p->chunk = at;
    p->left = n;
    return true;
}

void *tpool_get(struct tpool *p)
{
    void *o = p->free;

    if (o) {
        memcpy(&p->free, o, sizeof(p->free));
        return o;
    }
    if (p->left < p->size && !more(p))
        return NULL;
    o = p->chunk;
    p->chunk += p->size;
    p->left -= p->size;
    return o;
}

void tpool_put(struct tpool *p, void *object)
{
    memcpy(object, &p->free, sizeof(p->free));
    p->free = object;
}

struct tsock *tsock_new(void)
{
    struct tsock *s = tpool_get(&sock_pool);

    if (!s)
        return NULL;
    memset(s, 0, sizeof(*s));
    s->obj.kind = TOBJ_SOCK;
    return s;
}

void tobj_hold(struct tobj *o)
{
    o->refs++;
}

void tobj_put(struct tobj *o)
{
    if (--o->refs)
        return;
    tdispatch_object_end(o);
    if (o->kind == TOBJ_SOCK) { /* wait/epoll.c owns the memory of epoll instances */
        o->kind = TOBJ_FREE;
        tpool_put(&sock_pool, o);
    }
}

void tfd_set(int fd, struct tobj *o)
{
    o->refs++;
    if (fd > highest_fd)
        highest_fd = fd;
    atomic_store_explicit(&tfd_table[fd], o, memory_order_release);
}

void tfd_clear(int fd)
{
    struct tobj *o = tobj_get(fd);

    if (!o)
        return;
    if (tfd_is_own(fd)) {
        uint32_t i = (uint32_t)fd - TFD_OWN;

        atomic_store_explicit(&tfd_own_table[i], NULL, memory_order_release);
        own_free[own_free_n++] = i;
    } else {
        atomic_store_explicit(&tfd_table[fd], NULL, memory_order_release);
    }
    tobj_put(o);
}

int tfd_own_new(struct tobj *o)
{
    uint32_t i;

    if (own_free_n)
        i = own_free[--own_free_n];
    else if (own_fresh < TFD_OWN_MAX)
        i = own_fresh++;
    else
        return terr(EMFILE);
    o->refs++;
    atomic_store_explicit(&tfd_own_table[i], o, memory_order_release);
    return (int)(TFD_OWN + i);
}

int tfd_find(const struct tobj *o, int except)
{
    for (int fd = 0; fd <= highest_fd; fd++)
        if (fd != except && tobj_get(fd) == o)
            return fd;
    return -1;
}

void tfd_each_number(void (*f)(int fd, struct tobj *o))
{
    for (int fd = 0; fd <= highest_fd; fd++)
        if (tobj_get(fd))
            f(fd, tobj_get(fd));
}

void tfd_each(void (*f)(struct tobj *o))
{
    for (int fd = 0; fd <= highest_fd; fd++)
        if (tobj_get(fd))
            f(tobj_get(fd));
}
