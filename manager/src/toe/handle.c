/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.c - handles of listeners and connects. The TOE returns them in its commands, maybe after
 * the socket has been freed. Low 20 bits: index; high 12 bits: number of uses of the index.
 */
#include <stdlib.h>

#include "handle.h"
#include "tsock.h"

#define INDEX_BITS 20
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

struct entry {
    struct tsock *sock; /* NULL: free */
    uint32_t uses;
    uint32_t next_free; /* index + 1 */
};

static struct entry *entries;
static uint32_t entries_n, entries_cap, first_free;

static bool grow(void)
{
    uint32_t cap = entries_cap ? entries_cap * 2 : 64;
    struct entry *e;

    if (cap > INDEX_MASK)
        return false;
    e = realloc(entries, cap * sizeof(*e));
    if (!e)
        return false;
    entries = e;
    entries_cap = cap;
    return true;
}

uint32_t thandle_new(struct tsock *s)
{
    struct entry *e;
    uint32_t i;

    if (first_free) {
        i = first_free - 1;
        first_free = entries[i].next_free;
    } else {
        if (entries_n == entries_cap && !grow())
            return 0;
        i = entries_n++;
        entries[i].uses = 0;
    }
    e = &entries[i];
    e->sock = s;
    e->uses++;
    /* index 0 with uses a multiple of 4096 would give 0, which means none */
    if (!(e->uses << INDEX_BITS | i))
        e->uses++;
    return e->uses << INDEX_BITS | i;
}

bool thandle_restore(uint32_t handle, struct tsock *s)
{
    uint32_t i = handle & INDEX_MASK;

    while (entries_n <= i) {
        if (entries_n == entries_cap && !grow())
            return false;
        entries[entries_n] = (struct entry){.next_free = first_free};
        first_free = ++entries_n;
    }
    for (uint32_t *at = &first_free; *at; at = &entries[*at - 1].next_free)
        if (*at == i + 1) {
            *at = entries[i].next_free;
            break;
        }
    entries[i] = (struct entry){.sock = s, .uses = handle >> INDEX_BITS};
    return true;
}

struct tsock *thandle_get(uint32_t handle)
{
    uint32_t i = handle & INDEX_MASK;

    if (!handle || i >= entries_n || entries[i].uses << INDEX_BITS != (handle & ~INDEX_MASK))
        return NULL;
    return entries[i].sock;
}

void thandle_free(uint32_t handle)
{
    uint32_t i = handle & INDEX_MASK;

    if (!thandle_get(handle))
        return;
    entries[i].sock = NULL;
    entries[i].next_free = first_free;
    first_free = i + 1;
}

void thandle_each(void (*f)(struct tsock *s))
{
    for (uint32_t i = 0; i < entries_n; i++)
        if (entries[i].sock)
            f(entries[i].sock);
}
