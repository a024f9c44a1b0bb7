/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - tables of registers from the generated headers (table.h). */
#include <string.h>

#include <toe/attach.h>
#include <toe/regs.h>
#include <toe/rtt_regs.h>

#include "table.h"

#define REG(name, offset, bytes, count, stride, access, text)                                      \
    {name, offset, bytes, count, stride, access, text},
#define FIELD(reg, name, lsb, width, text) {reg, name, lsb, width, text},
#define COUNT(array)                       (sizeof(array) / sizeof((array)[0]))

static const struct reg_desc toe_regs[] = {TOE_REGS_TABLE(REG)};
static const struct field_desc toe_fields[] = {TOE_REGS_FIELDS(FIELD)};
static const struct reg_desc rtt_regs[] = {RTT_REGS_TABLE(REG)};
static const struct field_desc rtt_fields[] = {RTT_REGS_FIELDS(FIELD)};

#define MAP(name, title, type)                                                                     \
    {                                                                                              \
#name, title, type, sizeof(name##_regs_t), COUNT(name##_regs), COUNT(name##_fields),       \
            name##_regs, name##_fields                                                             \
    }

const struct map_desc reg_maps[] = {
    MAP(toe, "TOE", TOEDEV_MAGIC),
    MAP(rtt, "round-trip measurement", RTT_REGS__BLOCK__TYPE__V_reset),
};
const unsigned reg_map_count = COUNT(reg_maps);

const struct field_desc *reg_field(const struct map_desc *map, const struct reg_desc *reg,
                                   unsigned n)
{
    unsigned i;

    for (i = 0; i < map->field_count; i++)
        if (!strcmp(map->fields[i].reg, reg->name) && n-- == 0)
            return &map->fields[i];
    return NULL;
}
