/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rx_hold.c - received payload that is kept in its frame (rx_hold.h).
 */
#include <stdlib.h>
#include <string.h>

#include "frames/gro.h"
#include "rx_hold.h"

#define EXPECTED 6u /* cache lines of the next frame; then the hardware prefetches */

static struct hold_list *list_of(const struct slot *s)
{
    return s->qp->held ? &s->qp->held[s->index] : NULL;
}

static struct held *node(const struct engine *e, uint32_t number)
{
    return &e->hold.nodes[number - 1];
}

int hold_begin(struct engine *e, struct qp *qp, uint32_t min, void (*notify)(void *, uint32_t),
               void *arg)
{
    struct hold *h = &e->hold;
    struct netio_info info;
    uint32_t i;

    netio_get_info(e->netio, &info);
    if (!min || !info.hold_max)
        return 0;
    h->nodes = lines_calloc(info.hold_max, sizeof(*h->nodes));
    qp->held = lines_calloc(qp->cfg.slots, sizeof(*qp->held));
    if (!h->nodes || !qp->held)
        return -1;
    for (i = info.hold_max; i > 0; i--) {
        h->nodes[i - 1].next = h->free;
        h->free = i;
    }
    h->max = info.hold_max;
    h->min = min;
    h->notify = notify;
    h->arg = arg;
    return 0;
}

void hold_end(struct engine *e)
{
    struct hold *h = &e->hold;
    uint32_t q, i;

    for (q = 0; q < e->qp_count; q++)
        for (i = 0; e->qps[q]->held && i < e->qps[q]->fresh; i++)
            hold_drop(&e->qps[q]->slots[i]);
    free(h->nodes);
    memset(h, 0, sizeof(*h));
}

void hold_qp_free(struct qp *qp)
{
    free(qp->held);
    qp->held = NULL;
}

/* ---- holding a frame ---- */

int hold_put_off(struct engine *e, struct slot *s, uint32_t off, const struct toec_packet *p,
                 uint32_t p_off, uint32_t len)
{
    struct hold *h = &e->hold;

    if (!s->qp->held)
        return 0;
    if (len < h->min) {
        engine_count(e, EC_hold_small);
        return 0;
    }
    /* Not part of a batch (reassembled, or handed over), or the flow is not announced yet. */
    if ((!h->frame && !p->opaque) || (p->flags & TOEC_RX_REASSEMBLED) || s->state != SLOT_OPEN ||
        !s->announced) {
        engine_count(e, EC_hold_unfit);
        return 0;
    }
    h->slot = s;
    h->packet = p;
    h->off = off;
    h->p_off = p_off;
    h->len = len;
    return 1;
}

static void copy(const struct slot *s, uint32_t off, const uint8_t *data, uint32_t len)
{
    uint32_t size = s->qp->cfg.rx_size, to = off & (size - 1), first = size - to;

    if (first > len)
        first = len;
    memcpy(slot_rx(s) + to, data, first);
    memcpy(slot_rx(s), data + first, len - first);
}

void hold_copy(struct engine *e)
{
    struct hold *h = &e->hold;
    const struct slot *s = h->slot;
    uint32_t size = s->qp->cfg.rx_size, to = h->off & (size - 1), first = size - to;

    if (first > h->len)
        first = h->len;
    gro_copy(slot_rx(s) + to, h->packet, h->p_off, first);
    gro_copy(slot_rx(s), h->packet, h->p_off + first, h->len - first);
    h->slot = NULL;
    engine_count(e, EC_hold_disorder);
}

static void append(struct engine *e, struct hold_list *l, uint32_t number)
{
    if (l->last)
        node(e, l->last)->next = number;
    else
        l->first = number;
    l->last = number;
}

/* Holds the payload of one frame. A frame is held once: bytes of it placed a second time are
 * copied. */
static int keep(struct engine *e, const struct slot *s, uint32_t off, const uint8_t *data,
                uint32_t len, const struct netio_frame *f)
{
    struct hold *h = &e->hold;
    uint64_t bit = UINT64_C(1) << (f - h->batch);
    struct hold_list *l = list_of(s);
    uint32_t number = h->free;

    if (len < h->min) {
        engine_count(e, EC_hold_small);
        return 0;
    }
    if ((h->kept & bit) || !number || netio_rx_hold(e->netio, f) != 0) {
        engine_count(e, EC_hold_full);
        return 0;
    }
    h->kept |= bit;
    h->free = node(e, number)->next;
    h->count++;
    *node(e, number) = (struct held){.data = data, .token = f->token, .off = off, .len = len};
    if (!l->first)
        h->notify(h->arg, s->index);
    append(e, l, number);
    engine_count(e, EC_rx_held);
    return 1;
}

static void keep_or_copy(struct engine *e, const struct slot *s, uint32_t off, const uint8_t *data,
                         uint32_t len, const struct netio_frame *f)
{
    if (!keep(e, s, off, data, len, f))
        copy(s, off, data, len);
}

void hold_in_order(struct engine *e, const struct slot *s, uint32_t n)
{
    struct hold *h = &e->hold;
    const struct gro_chain *c = h->packet->opaque;
    uint32_t at = h->p_off, off = h->off, left = h->len, i;

    if (s != h->slot || n < left) { /* other bytes than those deferred */
        hold_copy(e);
        return;
    }
    h->slot = NULL;
    if (!c) {
        keep_or_copy(e, s, off, h->packet->data + at, left, h->frame);
        return;
    }
    for (i = 0; i < c->count && left; i++) {
        uint32_t k = c->part[i].len;

        if (at >= k) {
            at -= k;
            continue;
        }
        k = k - at < left ? k - at : left;
        keep_or_copy(e, s, off, c->part[i].data + at, k, c->frame[i]);
        at = 0;
        off += k;
        left -= k;
    }
}

void hold_release_batch(struct engine *e, struct netio_frame *f, unsigned n)
{
    uint64_t kept = e->hold.kept;
    unsigned i, out = 0;

    e->hold.kept = 0;
    for (i = 0; i < n; i++)
        if (!(kept >> i & 1))
            f[out++] = f[i];
    netio_rx_release(e->netio, f, out);
}

/* ---- reading ---- */

/* Prefetches the next frame. The reader reads frame after frame, and the hardware cannot predict
 * the address of the next. */
static void expect_next(const struct engine *e, const struct held *h)
{
    const struct held *n = h->next ? node(e, h->next) : NULL;
    uint32_t i;

    if (!n)
        return;
    for (i = 0; i < EXPECTED * LINE && i < n->len; i += LINE)
        __builtin_prefetch(n->data + i);
    if (n->next)
        __builtin_prefetch(node(e, n->next));
}

uint32_t hold_where(struct slot *s, uint32_t off, uint32_t n, const uint8_t **data)
{
    const struct engine *e = s->qp->engine;
    struct hold_list *l = list_of(s);
    uint32_t size = s->qp->cfg.rx_size, from = off & (size - 1), k = n, i = 0;

    if (l && l->first) {
        i = l->at && (int32_t)(off - node(e, l->at)->off) >= 0 ? l->at : l->first;
        while (i &&
               (node(e, i)->copied || (int32_t)(off - (node(e, i)->off + node(e, i)->len)) >= 0))
            i = node(e, i)->next;
        if (i)
            l->at = i;
    }
    if (i && (int32_t)(off - node(e, i)->off) >= 0) {
        const struct held *h = node(e, i);
        uint32_t past = off - h->off;

        *data = h->data + past;
        expect_next(e, h);
        return n < h->len - past ? n : h->len - past;
    }
    if (i && k > node(e, i)->off - off)
        k = node(e, i)->off - off;
    *data = slot_rx(s) + from;
    return k < size - from ? k : size - from;
}

static void give_back(struct engine *e, uint32_t number)
{
    struct hold *h = &e->hold;

    netio_rx_unhold(e->netio, node(e, number)->token);
    node(e, number)->next = h->free;
    h->free = number;
    h->count--;
}

int hold_release(struct slot *s, uint32_t off)
{
    struct engine *e = s->qp->engine;
    struct hold_list *l = list_of(s);

    while (l && l->first) {
        uint32_t i = l->first, next = node(e, i)->next;

        if ((int32_t)(off - (node(e, i)->off + node(e, i)->len)) < 0)
            return 1;
        if (l->at == i)
            l->at = 0;
        l->first = next;
        if (!next)
            l->last = 0;
        give_back(e, i);
    }
    return 0;
}

void hold_gather(struct slot *s, uint32_t off)
{
    const struct engine *e = s->qp->engine;
    const struct hold_list *l = list_of(s);
    uint32_t i;

    for (i = l ? l->first : 0; i; i = node(e, i)->next) {
        struct held *h = node(e, i);
        uint32_t past = (int32_t)(off - h->off) > 0 ? off - h->off : 0;

        if (h->copied || past >= h->len)
            continue;
        copy(s, h->off + past, h->data + past, h->len - past);
        h->copied = 1;
        engine_count(s->qp->engine, EC_hold_gathered);
    }
}

void hold_drop(struct slot *s)
{
    struct hold_list *l = list_of(s);

    if (!l)
        return;
    while (l->first) {
        uint32_t i = l->first;

        l->first = node(s->qp->engine, i)->next;
        give_back(s->qp->engine, i);
    }
    l->last = l->at = 0;
}
