/* SPDX-License-Identifier: Apache-2.0 */
/* memimage.h - images of stacks in memory (toec_save(), toec_restore()), for all simulations. */
#ifndef MEMIMAGE_H
#define MEMIMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <toe/types.h>

/* Grows as needed; zeroed it is empty. */
struct image {
    uint8_t *bytes;
    unsigned long n, room;
};

/* Appends; the put() of struct toec_saver and of toec_image_start(). arg: struct image. */
int image_put(void *arg, const void *data, toec_u32 n);
void image_free(struct image *m);
/* Whether both are equal. If not, describes the first difference in text. */
int image_equal(const struct image *a, const struct image *b, char *text, size_t size);

#endif
