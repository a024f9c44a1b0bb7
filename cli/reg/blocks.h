/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - which blocks of registers a window has, and the registers in them by name.
 *
 * A window begins with a TOE's register page (ID "TOE1") or with a list: each block begins with
 * four words, its type, version, size in bytes, and where the next begins, from the window's start
 * (0: it is the last): device/block.rdl.
 */
#ifndef TOE_CLI_BLOCKS_H
#define TOE_CLI_BLOCKS_H

#include "table.h"

#include "bar.h"

#define BLOCKS_MAX 64u

struct block {
    const struct map_desc *map; /* NULL: of a type that this program does not know */
    uint32_t type, version, size;
    uint64_t at;
    char name[32]; /* "rtt", of one not known its type; of several the second is "rtt1" */
};

struct blocks {
    unsigned count;
    struct block block[BLOCKS_MAX];
};

/* Finds the blocks. False: said what is wrong. */
bool blocks_find(struct bar *bar, struct blocks *b);
/* All that this program knows, without a window: each at 0. */
void blocks_known(struct blocks *b);

/* A register, or a field of it. */
struct reg_ref {
    const struct block *block; /* NULL: a bare address */
    const struct reg_desc *reg;
    const struct field_desc *field; /* NULL: all of it */
    uint32_t index;                 /* of several */
    uint64_t at;
    unsigned width;
    char name[96];
};

/* "rtt.CONTROL", "rtt.CONTROL.enable", "toe.DOORBELLS[3].SW_HEAD", without its block where one
 * block alone has it, or "0x1c". Case is of no matter. False: said. */
bool reg_find(const struct blocks *b, const char *text, struct reg_ref *ref);
/* Element i of a register. */
struct reg_ref reg_element(const struct block *block, const struct reg_desc *reg, uint32_t i);

/* Of a register's value, and into it. */
uint64_t field_of(const struct field_desc *f, uint64_t value);
uint64_t field_into(const struct field_desc *f, uint64_t value, uint64_t part);
uint64_t field_max(unsigned width);

#endif
