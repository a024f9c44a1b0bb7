/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h - a self-describing format: toec_save() writes a stack in it, and integrators may add
 * their own records.
 *
 * An image is a sequence of records. A record is type and length (16 bits each, little-endian) and
 * fields. A field is tag and length (8 bits each) and a value; numbers are little-endian without
 * their leading zero bytes. A field with value 0 is omitted, so a field added by a later version
 * must mean the earlier behaviour when it is 0. Readers skip unknown records and fields.
 */
#ifndef TOE_IMAGE_H
#define TOE_IMAGE_H

#include <toe/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum toec_field_kind {
    TOEC_FIELD_INT,  /* a number of 1, 2, 4 or 8 bytes */
    TOEC_FIELD_BYTES /* bytes, copied as they are */
};

/* A member of a structure. Tags are 1 to 255, in ascending order within a table. */
struct toec_field {
    toec_u8 tag, kind, size;
    toec_u32 offset;
};

/* A row of a table; the caller passes offset with its offsetof(). */
#define TOEC_FIELD(tag, kind, type, member, offset)                                                \
    {                                                                                              \
        tag, kind, (toec_u8)sizeof(((type *)0)->member), (toec_u32)(offset)                        \
    }

/* ---- writing ---- */

#define TOEC_RECORD_MAX 4096u /* bytes of one record's fields */

struct toec_image_out {
    int (*put)(void *arg, const void *data, toec_u32 n); /* not 0: no room */
    void *arg;
    int failed; /* put() failed, or a record was too long: nothing more is written */
    toec_u16 type;
    toec_u32 n;
    toec_u8 record[TOEC_RECORD_MAX];
};

void toec_image_start(struct toec_image_out *o, int (*put)(void *, const void *, toec_u32),
                      void *arg);
void toec_image_begin(struct toec_image_out *o, unsigned type);
void toec_image_int(struct toec_image_out *o, unsigned tag, toec_u64 value);
void toec_image_bytes(struct toec_image_out *o, unsigned tag, const void *p, unsigned n);
/* Adds all members that the table names, of the structure at from. */
void toec_image_fields(struct toec_image_out *o, const struct toec_field *table, unsigned count,
                       const void *from);
/* Ends the record and writes it. */
void toec_image_end(struct toec_image_out *o);

/* ---- reading: the input is not trusted ---- */

struct toec_image_in {
    const toec_u8 *at, *end; /* end of this record; end of the image */
    const toec_u8 *fields;   /* of this record */
    toec_u16 type, n;
};

void toec_image_open(struct toec_image_in *in, const void *image, unsigned long n);
/* Reads the next record. Returns 1, 0 at the end, -1: the image is damaged here. */
int toec_image_next(struct toec_image_in *in);
/* Sets every member that the table names: 0 where this record has no such field. Returns -1:
 * damaged, or a value that does not fit the member. */
int toec_image_take(const struct toec_image_in *in, const struct toec_field *table, unsigned count,
                    void *to);
/* Returns one number, 0 if the field is absent. */
toec_u64 toec_image_number(const struct toec_image_in *in, unsigned tag);
/* Returns the bytes of a field, *n of them; 0: absent. */
const toec_u8 *toec_image_find(const struct toec_image_in *in, unsigned tag, unsigned *n);

#ifdef __cplusplus
}
#endif

#endif
