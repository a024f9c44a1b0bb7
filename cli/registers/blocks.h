/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - finds the blocks of registers in a window.
 *
 * A window begins with a TOE's register page (ID "TOE1") or with a list: each block begins with
 * four words, type, version, size in bytes, and the offset of the next block in the window (0: the
 * last block): device/block.rdl.
 */
#ifndef TOE_CLI_BLOCKS_H
#define TOE_CLI_BLOCKS_H

#include "bar.h"
#include "table.h"

#define BLOCKS_MAX 64u

struct block {
    const struct map_desc *map; /* NULL: unknown type */
    uint32_t type, version, size;
    uint64_t at;
    char name[32]; /* "rtt", or an unknown type; the second of a type is "rtt1" */
};

struct blocks {
    unsigned count;
    struct block block[BLOCKS_MAX];
};

/* Finds the blocks. Returns false after a message. */
bool blocks_find(struct bar *bar, struct blocks *b);
/* Lists all known blocks without a window, each at address 0. */
void blocks_known(struct blocks *b);

#endif
