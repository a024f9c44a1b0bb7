/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.c - walks the list of blocks that a window begins with (blocks.h). */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <toe/attach.h>

#include "../common/message.h"
#include "blocks.h"

#define HEADER_BYTES 16u
#define BLOCK_MAJOR  1u /* of every known block */

static const struct map_desc *map_of(uint32_t type)
{
    unsigned i;

    for (i = 0; i < reg_map_count; i++)
        if (type && reg_maps[i].type == type)
            return &reg_maps[i];
    return NULL;
}

/* Writes a type as four letters, the first in the lowest bits; "" when they are not printable. */
static void letters(uint32_t type, char text[5])
{
    unsigned i;

    for (i = 0; i < 4; i++, type >>= 8) {
        text[i] = (char)(type & 0xff);
        if (!isalnum((unsigned char)text[i]))
            text[0] = '\0';
    }
    text[4] = '\0';
}

static void name_block(const struct blocks *b, struct block *k)
{
    unsigned i, before = 0;
    char type[5];

    letters(k->type, type);
    for (i = 0; i < b->count; i++)
        before += b->block[i].type == k->type;
    snprintf(k->name, sizeof k->name, "%s", k->map ? k->map->name : type[0] ? type : "?");
    if (before)
        snprintf(k->name + strlen(k->name), sizeof k->name - strlen(k->name), "%u", before);
}

/* A TOE has its ID in the first word, and page 0 at the start of the window. */
static bool toe_at_start(struct bar *bar, struct blocks *b)
{
    uint32_t id;

    if (!bar_read32(bar, 0, &id))
        return false;
    if (id == TOEDEV_MAGIC) {
        const struct map_desc *map = map_of(id);

        b->block[0] = (struct block){.map = map, .type = id, .size = map ? map->size : 0};
        snprintf(b->block[0].name, sizeof b->block[0].name, "toe");
        bar_read32(bar, 4, &b->block[0].version); /* the contract has no minor versions */
        b->block[0].version <<= 16;
        b->count = 1;
    }
    return true;
}

static bool wrong_list(const struct bar *bar, uint64_t at, const char *what)
{
    cli_message("%s: the list of blocks is invalid: at 0x%" PRIx64 " %s", bar->name, at, what);
    return false;
}

static bool take_block(struct bar *bar, struct blocks *b, uint64_t at, uint64_t *next)
{
    struct block *k = &b->block[b->count];
    uint32_t word[4], i;
    char type[5];

    for (i = 0; i < 4; i++)
        if (!bar_read32(bar, at + 4 * i, &word[i]))
            return false;
    *k = (struct block){
        .map = map_of(word[0]), .type = word[0], .version = word[1], .size = word[2], .at = at};
    letters(word[0], type);
    if (!k->map && !type[0] && at == 0) {
        cli_message("%s: the window begins with 0x%08" PRIx32 " 0x%08" PRIx32
                    ", which is neither a TOE (\"TOE1\") nor a block of Toehold; check the BAR, "
                    "the @OFFSET and the design in the FPGA",
                    bar->name, word[0], word[1]);
        return false;
    }
    if (k->size < HEADER_BYTES || k->size % 4 ||
        (bar->size != UINT64_MAX && k->size > bar->size - at))
        return wrong_list(bar, at, "a block's size is not within the window");
    /* Another major version may have another layout: list the block, but do not use it. */
    if (k->map && word[1] >> 16 != BLOCK_MAJOR)
        k->map = NULL;
    name_block(b, k);
    b->count++;
    *next = word[3];
    return true;
}

bool blocks_find(struct bar *bar, struct blocks *b)
{
    uint64_t at = 0, next = 0;

    b->count = 0;
    if (!toe_at_start(bar, b))
        return false;
    if (b->count)
        return true;
    do {
        if (b->count == BLOCKS_MAX)
            return wrong_list(bar, at, "there is one more than 64 blocks: it has no end");
        if (!take_block(bar, b, at, &next))
            return false;
        if (next % 4 || next >= bar->size)
            return wrong_list(bar, at, "the next block is not within the window");
        at = next;
    } while (next);
    return true;
}

void blocks_known(struct blocks *b)
{
    unsigned i;

    b->count = 0;
    for (i = 0; i < reg_map_count && i < BLOCKS_MAX; i++) {
        struct block *k = &b->block[b->count++];

        *k =
            (struct block){.map = &reg_maps[i], .type = reg_maps[i].type, .size = reg_maps[i].size};
        snprintf(k->name, sizeof k->name, "%s", k->map->name);
    }
}
