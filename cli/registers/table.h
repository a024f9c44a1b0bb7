/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - the registers by name, from the tables of the generated headers (device/gen_regs.py).
 */
#ifndef TOE_CLI_TABLE_H
#define TOE_CLI_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct field_desc {
    const char *reg, *name;
    uint8_t lsb, width;
    const char *text;
};

/* A register, or an array of `count` with `stride` bytes from one to the next. */
struct reg_desc {
    const char *name;
    uint32_t offset; /* of the first element, in the block */
    uint8_t bytes;   /* 4 or 8 */
    uint32_t count, stride;
    const char *access; /* r, w, rw */
    const char *text;
};

/* A block of registers: one description. */
struct map_desc {
    const char *name, *title;
    uint32_t type; /* in the list of blocks of a window */
    uint32_t size; /* bytes */
    uint32_t reg_count, field_count;
    const struct reg_desc *regs;
    const struct field_desc *fields;
};

extern const struct map_desc reg_maps[];
extern const unsigned reg_map_count;

/* Returns field n of a register in bit order. NULL: no more fields. */
const struct field_desc *reg_field(const struct map_desc *map, const struct reg_desc *reg,
                                   unsigned n);

static inline bool reg_readable(const struct reg_desc *reg)
{
    return reg->access[0] == 'r';
}
static inline bool reg_writable(const struct reg_desc *reg)
{
    return reg->access[0] == 'w' || reg->access[1] == 'w';
}

#endif
