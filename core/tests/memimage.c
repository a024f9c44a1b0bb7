/* SPDX-License-Identifier: Apache-2.0 */
/* memimage.c - see memimage.h. */
#include "memimage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/image.h>

#include "frames.h"

int image_put(void *arg, const void *data, toec_u32 n)
{
    struct image *m = arg;

    if (m->n + n > m->room) {
        m->room = 2 * m->room + n;
        m->bytes = must(realloc(m->bytes, m->room));
    }
    memcpy(m->bytes + m->n, data, n);
    m->n += n;
    return 0;
}

void image_free(struct image *m)
{
    free(m->bytes);
    memset(m, 0, sizeof(*m));
}

/* Describes the first record that differs. */
static void differ(const struct image *a, const struct image *b, char *text, size_t size)
{
    struct toec_image_in x, y;

    snprintf(text, size, "the image has %lu bytes and had %lu", b->n, a->n);
    toec_image_open(&x, a->bytes, a->n);
    toec_image_open(&y, b->bytes, b->n);
    while (toec_image_next(&x) == 1 && toec_image_next(&y) == 1) {
        unsigned i = 0, tag = 0, at = 0;

        if (x.type == y.type && x.n == y.n && memcmp(x.fields, y.fields, x.n) == 0)
            continue;
        for (; i < x.n && i < y.n && x.fields[i] == y.fields[i]; i++)
            if (i == at) {
                tag = x.fields[i];
                at += 2u + x.fields[i + 1];
            }
        snprintf(text, size, "record 0x%x is 0x%x; the first difference is in or after field %u",
                 x.type, y.type, tag);
        return;
    }
}

int image_equal(const struct image *a, const struct image *b, char *text, size_t size)
{
    if (a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0)
        return 1;
    differ(a, b, text, size);
    return 0;
}
