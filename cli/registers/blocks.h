/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - which blocks of registers a window has.
 *
 * A window begins with a TOE's register page (ID "TOE1") or with a list: each block begins with
 * four words, its type, version, size in bytes, and where the next begins, from the window's start
 * (0: it is the last): device/block.rdl.
 */
#ifndef TOE_CLI_BLOCKS_H
#define TOE_CLI_BLOCKS_H

#include "bar.h"
#include "table.h"

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

#endif
