/* SPDX-License-Identifier: Apache-2.0 */
/* frames.c - see frames.h. */
#include "frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *must(void *p)
{
    if (!p) {
        fprintf(stderr, "out of memory\n");
        abort();
    }
    return p;
}

struct frame *frame_new(const uint8_t *data, uint32_t len)
{
    struct frame *f = must(malloc(sizeof(*f) + len));

    memset(f, 0, sizeof(*f));
    f->len = len;
    memcpy(f->data, data, len);
    return f;
}

static int earlier(const struct frame *a, const struct frame *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

void frames_put(struct frames *q, struct frame *f)
{
    unsigned i;

    f->order = q->order++;
    if (q->n == q->room) {
        q->room = q->room ? q->room * 2 : 256;
        q->heap = must(realloc(q->heap, q->room * sizeof(*q->heap)));
    }
    for (i = q->n++; i > 0 && earlier(f, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = f;
}

struct frame *frames_take(struct frames *q)
{
    struct frame *top = q->heap[0], *last = q->heap[--q->n];
    unsigned i = 0;

    for (;;) {
        unsigned c = 2 * i + 1;

        if (c >= q->n)
            break;
        if (c + 1 < q->n && earlier(q->heap[c + 1], q->heap[c]))
            c++;
        if (!earlier(q->heap[c], last))
            break;
        q->heap[i] = q->heap[c];
        i = c;
    }
    if (q->n)
        q->heap[i] = last;
    return top;
}

int frames_due(const struct frames *q, uint64_t now)
{
    return q->n && q->heap[0]->at <= now;
}

void frames_free(struct frames *q)
{
    while (q->n)
        free(q->heap[--q->n]);
    free(q->heap);
}

uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v);
}

uint32_t sum16(const uint8_t *p, size_t n, uint32_t sum)
{
    size_t i;

    for (i = 0; i + 1 < n; i += 2)
        sum += get16(p + i);
    if (n & 1)
        sum += (uint32_t)p[n - 1] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}
