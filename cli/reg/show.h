/* SPDX-License-Identifier: Apache-2.0 */
/* show.h - prints registers and values to standard output, as text or JSON. */
#ifndef TOE_CLI_SHOW_H
#define TOE_CLI_SHOW_H

#include <jansson.h>

#include "names.h"

struct show {
    json_t *list; /* NULL: text */
    bool lines;   /* JSON: print each object at once, on its own line */
};

struct show show_begin(bool json);
void show_block(struct show *s, const struct block *k);
void show_register(struct show *s, const struct block *k, const struct reg_desc *reg);
void show_value(struct show *s, const struct reg_ref *ref, uint64_t value);
void show_change(struct show *s, const struct reg_ref *ref, uint64_t old, uint64_t value,
                 bool first);
/* A change that would be made. old NULL: the present value is not known. */
void show_plan(struct show *s, const struct reg_ref *ref, const uint64_t *old, uint64_t value);
/* Prints the JSON collected so far. Returns an exit code. */
int show_end(struct show *s);

#endif
