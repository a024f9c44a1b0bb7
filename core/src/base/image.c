/* SPDX-License-Identifier: Apache-2.0 */
/* image.c - records and fields: see toe/image.h. */
#include <toe/image.h>

#include "base.h"

#define RECORD_HEAD 4u

/* ---- writing ---- */

void toec_image_start(struct toec_image_out *o, int (*put)(void *, const void *, toec_u32),
                      void *arg)
{
    o->put = put;
    o->arg = arg;
    o->failed = 0;
    o->n = 0;
}

void toec_image_begin(struct toec_image_out *o, unsigned type)
{
    o->type = (toec_u16)type;
    o->n = 0;
}

void toec_image_bytes(struct toec_image_out *o, unsigned tag, const void *p, unsigned n)
{
    if (n > 255 || o->n + 2 + n > TOEC_RECORD_MAX) {
        o->failed = 1;
        return;
    }
    o->record[o->n] = (toec_u8)tag;
    o->record[o->n + 1] = (toec_u8)n;
    memcpy(o->record + o->n + 2, p, n);
    o->n += 2 + n;
}

void toec_image_int(struct toec_image_out *o, unsigned tag, toec_u64 value)
{
    toec_u8 b[8];
    unsigned n = 0;

    for (; value; value >>= 8)
        b[n++] = (toec_u8)value;
    if (n)
        toec_image_bytes(o, tag, b, n);
}

static toec_u64 load(const toec_u8 *p, unsigned size)
{
    toec_u32 word;
    toec_u16 half;
    toec_u64 all;

    switch (size) {
    case 1:
        return *p;
    case 2:
        memcpy(&half, p, 2);
        return half;
    case 4:
        memcpy(&word, p, 4);
        return word;
    default:
        memcpy(&all, p, 8);
        return all;
    }
}

static int all_zero(const toec_u8 *p, unsigned n)
{
    while (n && *p == 0) {
        p++;
        n--;
    }
    return n == 0;
}

void toec_image_fields(struct toec_image_out *o, const struct toec_field *table, unsigned count,
                       const void *from)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        const toec_u8 *p = (const toec_u8 *)from + table[i].offset;

        if (table[i].kind == TOEC_FIELD_INT)
            toec_image_int(o, table[i].tag, load(p, table[i].size));
        else if (!all_zero(p, table[i].size))
            toec_image_bytes(o, table[i].tag, p, table[i].size);
    }
}

void toec_image_end(struct toec_image_out *o)
{
    toec_u8 head[RECORD_HEAD];

    if (o->failed)
        return;
    head[0] = (toec_u8)o->type;
    head[1] = (toec_u8)(o->type >> 8);
    head[2] = (toec_u8)o->n;
    head[3] = (toec_u8)(o->n >> 8);
    if (o->put(o->arg, head, RECORD_HEAD) || o->put(o->arg, o->record, o->n))
        o->failed = 1;
}

/* ---- reading ---- */

void toec_image_open(struct toec_image_in *in, const void *image, unsigned long n)
{
    memset(in, 0, sizeof(*in));
    in->at = image;
    in->end = in->at + n;
}

/* Returns the end of the field at p, or 0 when it exceeds `end`. */
static const toec_u8 *field_end(const toec_u8 *p, const toec_u8 *end)
{
    if (end - p < 2 || end - p - 2 < p[1])
        return 0;
    return p + 2 + p[1];
}

int toec_image_next(struct toec_image_in *in)
{
    const toec_u8 *p = in->at, *stop;

    if (p == in->end)
        return 0;
    if (in->end - p < (long)RECORD_HEAD)
        return -1;
    in->type = (toec_u16)(p[0] | p[1] << 8);
    in->n = (toec_u16)(p[2] | p[3] << 8);
    in->fields = p + RECORD_HEAD;
    if (in->end - in->fields < in->n)
        return -1;
    stop = in->fields + in->n;
    for (p = in->fields; p != stop;) {
        p = field_end(p, stop);
        if (!p)
            return -1;
    }
    in->at = stop;
    return 1;
}

static toec_u64 number(const toec_u8 *value, unsigned n)
{
    toec_u64 v = 0;

    while (n--)
        v = v << 8 | value[n];
    return v;
}

/* Returns -1 when the value does not fit the member. */
static int store(toec_u8 *to, const struct toec_field *f, const toec_u8 *value, unsigned n)
{
    toec_u64 all;
    toec_u32 word;
    toec_u16 half;

    if (f->kind == TOEC_FIELD_BYTES) {
        if (n == f->size)
            memcpy(to, value, n);
        return n == f->size ? 0 : -1;
    }
    if (n > f->size)
        return -1;
    all = number(value, n);
    word = (toec_u32)all;
    half = (toec_u16)all;
    switch (f->size) {
    case 1:
        *to = (toec_u8)all;
        break;
    case 2:
        memcpy(to, &half, 2);
        break;
    case 4:
        memcpy(to, &word, 4);
        break;
    default:
        memcpy(to, &all, 8);
    }
    return 0;
}

/* Fields mostly come in the order of the table, so the search begins where the last one ended. */
static const struct toec_field *row_of(const struct toec_field *table, unsigned count,
                                       unsigned *from, unsigned tag)
{
    unsigned i;

    for (i = *from; i < count && table[i].tag < tag; i++)
        ;
    if (i == count || table[i].tag != tag)
        for (i = 0; i < count && table[i].tag != tag; i++)
            ;
    if (i == count)
        return 0;
    *from = i + 1;
    return &table[i];
}

int toec_image_take(const struct toec_image_in *in, const struct toec_field *table, unsigned count,
                    void *to)
{
    const toec_u8 *p = in->fields, *stop = p + in->n;
    unsigned i, from = 0;

    for (i = 0; i < count; i++)
        memset((toec_u8 *)to + table[i].offset, 0, table[i].size);
    for (; p != stop; p += 2 + p[1]) {
        const struct toec_field *f = row_of(table, count, &from, p[0]);

        if (f && store((toec_u8 *)to + f->offset, f, p + 2, p[1]))
            return -1;
    }
    return 0;
}

const toec_u8 *toec_image_find(const struct toec_image_in *in, unsigned tag, unsigned *n)
{
    const toec_u8 *p = in->fields, *stop = p + in->n;

    for (; p != stop; p += 2 + p[1])
        if (p[0] == tag) {
            *n = p[1];
            return p + 2;
        }
    return 0;
}

toec_u64 toec_image_number(const struct toec_image_in *in, unsigned tag)
{
    unsigned n;
    const toec_u8 *value = toec_image_find(in, tag, &n);

    return value && n <= 8 ? number(value, n) : 0;
}
