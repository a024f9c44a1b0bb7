/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - registers and fields by name. */
#ifndef TOE_CLI_NAMES_H
#define TOE_CLI_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "../registers/blocks.h"

/* A register, or a field of it. */
struct reg_ref {
    const struct block *block; /* NULL: a bare address */
    const struct reg_desc *reg;
    const struct field_desc *field; /* NULL: the whole register */
    uint32_t index;                 /* in an array */
    uint64_t at;
    unsigned width;
    char name[96];
};

/* Finds a register: "rtt.CONTROL", "rtt.CONTROL.enable", "toe.DOORBELLS[3].SW_HEAD", without the
 * block where only one has the register, or "0x1c". Case does not matter. Returns false after a
 * message. */
bool reg_find(const struct blocks *b, const char *text, struct reg_ref *ref);
/* Returns element i of a register. */
struct reg_ref reg_element(const struct block *block, const struct reg_desc *reg, uint32_t i);

/* Extracts a field from a register's value, inserts it, returns its largest value. */
uint64_t field_of(const struct field_desc *f, uint64_t value);
uint64_t field_into(const struct field_desc *f, uint64_t value, uint64_t part);
uint64_t field_max(unsigned width);

#endif
