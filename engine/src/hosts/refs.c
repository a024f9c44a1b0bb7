/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refs.c - payload by reference: per slot a ring of references in stream order (refs.h).
 */
#include <stdlib.h>
#include <string.h>

#include "frames/gso.h"
#include "refs.h"

#define REFS_FIRST 16u
#define REFS_MAX   1024u /* of a slot; a power of two, as is every size of the ring */

struct ref {
    const uint8_t *data;
    uint32_t off, len;
};

static struct ref *at(const struct refs *r, uint32_t i)
{
    return &r->ring[(r->head + i) & (r->size - 1)];
}

/* Makes room for one more reference. */
static int grow(struct refs *r)
{
    uint32_t size = r->size ? 2 * r->size : REFS_FIRST, i;
    struct ref *ring;

    if (r->count < r->size)
        return 0;
    if (size > REFS_MAX)
        return -1;
    ring = malloc(size * sizeof(*ring));
    if (!ring)
        return -1;
    for (i = 0; i < r->count; i++)
        ring[i] = *at(r, i);
    free(r->ring);
    r->ring = ring;
    r->size = size;
    r->head = 0;
    return 0;
}

int refs_add(struct slot *s, uint32_t off, const uint8_t *data, uint32_t n)
{
    struct offload *o = &s->qp->engine->offload;
    uint32_t from = off - s->una, size = slot_tx_size(s);
    struct refs *r;
    struct ref *last;

    if (s->state != SLOT_OPEN || n == 0 || from < s->tx_used || from > size || n > size - from)
        return -1;
    if (!o->gathered && !(o->gathered = malloc(GSO_MAX)))
        return -1;
    if (!s->refs && !(s->refs = calloc(1, sizeof(*s->refs))))
        return -1;
    r = s->refs;
    last = r->count ? at(r, r->count - 1) : NULL;
    if (last && off - s->una < last->off + last->len - s->una)
        return -1;
    if (last && last->off + last->len == off && last->data + last->len == data) {
        last->len += n;
        return 0;
    }
    if (grow(r) != 0)
        return -1;
    *at(r, r->count++) = (struct ref){data, off, n};
    return 0;
}

void refs_acked(struct slot *s)
{
    struct refs *r = s->refs;

    while (r->count && (int32_t)(s->una - (at(r, 0)->off + at(r, 0)->len)) >= 0) {
        r->head++;
        r->count--;
    }
}

void refs_settle(struct slot *s)
{
    struct refs *r = s->refs;
    uint32_t size = slot_tx_size(s);

    for (; r && r->count; r->head++, r->count--) {
        struct ref *f = at(r, 0);
        uint32_t past = (int32_t)(s->una - f->off) > 0 ? s->una - f->off : 0;
        uint32_t to = (f->off + past) & (size - 1), n = f->len - past, first = size - to;

        if (first > n)
            first = n;
        memcpy(slot_tx(s) + to, f->data + past, first);
        memcpy(slot_tx(s), f->data + past + first, n - first);
    }
}

void refs_drop(struct slot *s)
{
    if (s->refs)
        s->refs->count = 0;
}

void refs_free(struct slot *s)
{
    if (s->refs)
        free(s->refs->ring);
    free(s->refs);
    s->refs = NULL;
}

/* Returns the index of the first reference that ends after off, or the count. References are in
 * order. */
static uint32_t find(const struct slot *s, uint32_t off)
{
    const struct refs *r = s->refs;
    uint32_t low = 0, high = r ? r->count : 0;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct ref *f = at(r, mid);

        if (f->off + f->len - s->una > off - s->una)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* Returns the longest contiguous prefix of the n bytes at off; *i as returned by find(). */
static struct netio_ref piece(const struct slot *s, uint32_t off, uint32_t n, uint32_t *i)
{
    const struct refs *r = s->refs;
    const struct ref *f = r && *i < r->count ? at(r, *i) : NULL;
    uint32_t size = slot_tx_size(s), from = off & (size - 1), k = n;

    if (f && (int32_t)(off - f->off) >= 0) { /* its start may have been acknowledged */
        uint32_t past = off - f->off;

        if (f->len - past <= n) {
            k = f->len - past;
            ++*i;
        }
        return (struct netio_ref){f->data + past, k};
    }
    if (f && k > f->off - off)
        k = f->off - off;
    if (k > size - from)
        k = size - from;
    return (struct netio_ref){slot_tx(s) + from, k};
}

void refs_payload(struct engine *e, const struct slot *s, uint32_t off, uint32_t n,
                  struct offload_payload *p)
{
    uint32_t i = find(s, off), done = 0;

    p->count = 0;
    while (done < n) {
        struct netio_ref part = piece(s, off + done, n - done, &i);

        if (p->count == NETIO_REFS_MAX) { /* gather all of it */
            gso_gather(e->offload.gathered, p, 0, done);
            p->ref[0] = (struct netio_ref){e->offload.gathered, done};
            p->count = 1;
            engine_count(e, EC_tx_gathered);
        }
        if (p->count == 1 && p->ref[0].data == e->offload.gathered) {
            memcpy(e->offload.gathered + done, part.data, part.len);
            p->ref[0].len += part.len;
        } else {
            p->ref[p->count++] = part;
        }
        done += part.len;
    }
}
