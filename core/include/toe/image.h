/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h - bytes that describe themselves: how toec_save() writes a stack down, for integrators
 * who add what is theirs.
 *
 * An image is a row of records: type and length (16 bits each, little-endian), then fields: tag and
 * length (8 bits each) and a value; numbers are little-endian without their leading zero bytes. A
 * field that is 0 is left out. So one that a later version adds means with 0 what was before it;
 * records and fields that a reader does not know are passed over.
 */
#ifndef TOE_IMAGE_H
#define TOE_IMAGE_H

#include <toe/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum toec_field_kind {
    TOEC_FIELD_INT,  /* a number of 1, 2, 4 or 8 bytes */
    TOEC_FIELD_BYTES /* as they stand */
};

/* A member of a structure. Tags are 1 to 255; in a table they rise. */
struct toec_field {
    toec_u8 tag, kind, size;
    toec_u32 offset;
};

/* A row of a table; offset by the caller's offsetof(). */
#define TOEC_FIELD(tag, kind, type, member, offset)                                                \
    {                                                                                              \
        tag, kind, (toec_u8)sizeof(((type *)0)->member), (toec_u32)(offset)                        \
    }

/* ---- writing ---- */

#define TOEC_RECORD_MAX 4096u /* bytes of one record's fields */

struct toec_image_out {
    int (*put)(void *arg, const void *data, toec_u32 n); /* not 0: no room for it */
    void *arg;
    int failed; /* put() has failed, or a record was too long: nothing more is written */
    toec_u16 type;
    toec_u32 n;
    toec_u8 record[TOEC_RECORD_MAX];
};

void toec_image_start(struct toec_image_out *o, int (*put)(void *, const void *, toec_u32),
                      void *arg);
void toec_image_begin(struct toec_image_out *o, unsigned type);
void toec_image_int(struct toec_image_out *o, unsigned tag, toec_u64 value);
void toec_image_bytes(struct toec_image_out *o, unsigned tag, const void *p, unsigned n);
/* All members that the table names, of the structure at from. */
void toec_image_fields(struct toec_image_out *o, const struct toec_field *table, unsigned count,
                       const void *from);
/* The record is complete. */
void toec_image_end(struct toec_image_out *o);

/* ---- reading: nothing of what is read is trusted ---- */

struct toec_image_in {
    const toec_u8 *at, *end; /* behind this record; of the image */
    const toec_u8 *fields;   /* of this record */
    toec_u16 type, n;
};

void toec_image_open(struct toec_image_in *in, const void *image, unsigned long n);
/* The next record: 1, 0 at the end, -1: the image is damaged here. */
int toec_image_next(struct toec_image_in *in);
/* Sets every member that the table names: 0 where this record has no such field. -1: damaged, or a
 * value that the member cannot hold. */
int toec_image_take(const struct toec_image_in *in, const struct toec_field *table, unsigned count,
                    void *to);
/* One number; 0 where there is none. */
toec_u64 toec_image_number(const struct toec_image_in *in, unsigned tag);
/* The bytes of a field, *n of them; 0: there is none. */
const toec_u8 *toec_image_find(const struct toec_image_in *in, unsigned tag, unsigned *n);

#ifdef __cplusplus
}
#endif

#endif
