/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - finds a register by its name (names.h). */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <toe/number.h>

#include "../common/message.h"
#include "names.h"

uint64_t field_max(unsigned width)
{
    return width >= 64 ? UINT64_MAX : (1ull << width) - 1;
}

uint64_t field_of(const struct field_desc *f, uint64_t value)
{
    return value >> f->lsb & field_max(f->width);
}

uint64_t field_into(const struct field_desc *f, uint64_t value, uint64_t part)
{
    return (value & ~(field_max(f->width) << f->lsb)) | part << f->lsb;
}

static void place(struct reg_ref *r)
{
    r->at = r->block->at + r->reg->offset + (uint64_t)r->index * r->reg->stride;
    r->width = r->reg->bytes * 8u;
    snprintf(r->name, sizeof r->name, "%s.%s", r->block->name, r->reg->name);
    if (r->reg->count > 1)
        snprintf(r->name + strlen(r->name), sizeof r->name - strlen(r->name), "[%" PRIu32 "]",
                 r->index);
}

struct reg_ref reg_element(const struct block *block, const struct reg_desc *reg, uint32_t i)
{
    struct reg_ref r = {.block = block, .reg = reg, .index = i};

    place(&r);
    return r;
}

/* Removes the index from a name, as in A[3].B or A.B[3]. *index: -1 when the name has none. Returns
 * false when the index is malformed. */
static bool take_index(const char *text, char *plain, size_t size, long *index)
{
    const char *open = strchr(text, '['), *close = strchr(text, ']');
    char digits[12];
    uint64_t n;

    *index = -1;
    if (!open || !close) {
        snprintf(plain, size, "%s", text);
        return !open && !close;
    }
    snprintf(digits, sizeof digits, "%.*s", (int)(close > open ? close - open - 1 : 0), open + 1);
    if (!toe_number(digits, 0, UINT32_MAX, &n, NULL, 0))
        return false;
    *index = (long)n;
    snprintf(plain, size, "%.*s%s", (int)(open - text), text, close + 1);
    return true;
}

static const struct field_desc *field_named(const struct map_desc *map, const struct reg_desc *reg,
                                            const char *name)
{
    const struct field_desc *f;
    unsigned i;

    for (i = 0; (f = reg_field(map, reg, i)); i++)
        if (!strcasecmp(f->name, name))
            return f;
    return NULL;
}

/* Finds text, without index and block name, within one block. */
static bool find_in(const struct block *k, const char *text, struct reg_ref *ref)
{
    uint32_t i;

    for (i = 0; k->map && i < k->map->reg_count; i++) {
        const struct reg_desc *reg = &k->map->regs[i];
        size_t n = strlen(reg->name);

        if (strncasecmp(reg->name, text, n) != 0 || (text[n] && text[n] != '.'))
            continue;
        ref->field = text[n] ? field_named(k->map, reg, text + n + 1) : NULL;
        if (text[n] && !ref->field)
            continue;
        ref->block = k;
        ref->reg = reg;
        return true;
    }
    return false;
}

static bool by_address(const char *text, struct reg_ref *ref)
{
    uint64_t at;

    if (!toe_number_c(text, 0, UINT64_MAX, &at, NULL, 0))
        return false;
    *ref = (struct reg_ref){.at = at, .width = 32};
    snprintf(ref->name, sizeof ref->name, "0x%" PRIx64, at);
    return true;
}

/* Finds a name with or without its block. Returns how many blocks have it; *ref is the first. */
static int find_anywhere(const struct blocks *b, const char *text, struct reg_ref *ref)
{
    size_t len = strcspn(text, ".");
    struct reg_ref other;
    unsigned i;
    int found = 0;

    for (i = 0; text[len] && i < b->count; i++)
        if (strlen(b->block[i].name) == len && !strncasecmp(b->block[i].name, text, len) &&
            find_in(&b->block[i], text + len + 1, ref))
            return 1;
    for (i = 0; i < b->count; i++)
        if (find_in(&b->block[i], text, found ? &other : ref))
            found++;
    return found;
}

static bool index_fits(const char *text, struct reg_ref *ref, long index)
{
    if (index < 0 && ref->reg->count > 1)
        cli_message("%s is an array of %" PRIu32 "; give an index, as in %s[0]", text,
                    ref->reg->count, ref->reg->name);
    else if (index >= 0 && ref->reg->count == 1)
        cli_message("%s: %s is not an array", text, ref->reg->name);
    else if (index >= (long)ref->reg->count)
        cli_message("%s: the array has %" PRIu32 " elements, counted from 0", text,
                    ref->reg->count);
    else
        return true;
    return false;
}

bool reg_find(const struct blocks *b, const char *text, struct reg_ref *ref)
{
    char plain[96];
    long index;
    int found;

    if (by_address(text, ref))
        return true;
    *ref = (struct reg_ref){0};
    if (strlen(text) >= sizeof plain || !take_index(text, plain, sizeof plain, &index)) {
        cli_message("%s is not the name of a register", text);
        return false;
    }
    found = find_anywhere(b, plain, ref);
    if (found > 1)
        cli_message("%s is in %d blocks; add the name of one, as in %s.%s", text, found,
                    ref->block->name, plain);
    else if (found == 0)
        cli_message("no register %s; `toehold reg list` shows the names", text);
    if (found != 1 || !index_fits(text, ref, index))
        return false;
    ref->index = index < 0 ? 0 : (uint32_t)index;
    place(ref);
    if (ref->field)
        snprintf(ref->name + strlen(ref->name), sizeof ref->name - strlen(ref->name), ".%s",
                 ref->field->name);
    return true;
}
