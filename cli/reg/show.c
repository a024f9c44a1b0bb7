/* SPDX-License-Identifier: Apache-2.0 */
/* show.c - prints registers (show.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../common/exit.h"
#include "../common/message.h"
#include "show.h"

struct show show_begin(bool json)
{
    return (struct show){.list = json ? json_array() : NULL};
}

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

void show_block(struct show *s, const struct block *k)
{
    const char *title = k->map ? k->map->title : "of a type that this toehold does not know";

    if (s->list) {
        json_array_append_new(s->list,
                              json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:b}", "name", k->name,
                                        "address", number(k->at), "type", number(k->type),
                                        "version", number(k->version), "size", number(k->size),
                                        "title", title, "known", k->map != NULL));
        return;
    }
    printf("0x%06" PRIx64 "  %-10s type 0x%08" PRIx32 "  version %" PRIu32 ".%" PRIu32
           "  0x%-6" PRIx32 "  %s\n",
           k->at, k->name, k->type, k->version >> 16, k->version & 0xffff, k->size, title);
}

static json_t *fields_json(const struct block *k, const struct reg_desc *reg)
{
    const struct field_desc *f;
    json_t *list = json_array();
    unsigned i;

    for (i = 0; (f = reg_field(k->map, reg, i)); i++)
        json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:s}", "name", f->name, "lsb",
                                              f->lsb, "width", f->width, "description", f->text));
    return list;
}

void show_register(struct show *s, const struct block *k, const struct reg_desc *reg)
{
    uint64_t at = k->at + reg->offset;
    char name[128], count[32] = "";
    const struct field_desc *f;
    unsigned i;

    snprintf(name, sizeof name, "%s.%s", k->name, reg->name);
    if (s->list) {
        json_array_append_new(s->list,
                              json_pack("{s:s, s:o, s:i, s:s, s:o, s:s, s:o}", "name", name,
                                        "address", number(at), "width", reg->bytes * 8, "access",
                                        reg->access, "count", number(reg->count), "description",
                                        reg->text, "fields", fields_json(k, reg)));
        return;
    }
    if (reg->count > 1)
        snprintf(count, sizeof count, "[%" PRIu32 "]", reg->count);
    printf("0x%06" PRIx64 "  %s%s%-*s %2u %-2s  %s\n", at, name, count,
           (int)(32 > strlen(name) + strlen(count) ? 32 - strlen(name) - strlen(count) : 0), "",
           reg->bytes * 8, reg->access, reg->text);
    for (i = 0; (f = reg_field(k->map, reg, i)); i++)
        printf("            .%-24s [%u:%u]  %s\n", f->name, f->lsb + f->width - 1u, f->lsb,
               f->text);
}

/* Returns field n of a whole register. NULL: no more fields, or the reference is a field. */
static const struct field_desc *part(const struct reg_ref *ref, unsigned n)
{
    return ref->reg && !ref->field ? reg_field(ref->block->map, ref->reg, n) : NULL;
}

static json_t *value_json(const struct reg_ref *ref, uint64_t value)
{
    json_t *j = json_pack("{s:s, s:o, s:o}", "name", ref->name, "address", number(ref->at), "value",
                          number(value));
    const struct field_desc *f;
    unsigned i;

    for (i = 0; (f = part(ref, i)); i++) {
        if (i == 0)
            json_object_set_new(j, "fields", json_object());
        json_object_set_new(json_object_get(j, "fields"), f->name, number(field_of(f, value)));
    }
    return j;
}

static void print_value(const struct reg_ref *ref, uint64_t value)
{
    const struct field_desc *f;
    unsigned i;

    if (ref->field)
        printf("0x%06" PRIx64 "  %-32s %" PRIu64 "\n", ref->at, ref->name, value);
    else
        printf("0x%06" PRIx64 "  %-32s 0x%0*" PRIx64 "\n", ref->at, ref->name,
               (int)(ref->width / 4), value);
    for (i = 0; (f = part(ref, i)); i++)
        printf("            .%-24s %" PRIu64 "\n", f->name, field_of(f, value));
}

void show_value(struct show *s, const struct reg_ref *ref, uint64_t value)
{
    if (s->list)
        json_array_append_new(s->list, value_json(ref, value));
    else
        print_value(ref, value);
}

void show_change(struct show *s, const struct reg_ref *ref, uint64_t old, uint64_t value,
                 bool first)
{
    if (s->list) {
        json_t *j = value_json(ref, value);

        if (!first)
            json_object_set_new(j, "before", number(old));
        json_dumpf(j, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(j);
    } else if (first) {
        printf("%-32s 0x%" PRIx64 "\n", ref->name, value);
    } else {
        printf("%-32s 0x%" PRIx64 " -> 0x%" PRIx64 "\n", ref->name, old, value);
    }
    fflush(stdout);
}

void show_plan(struct show *s, const struct reg_ref *ref, const uint64_t *old, uint64_t value)
{
    if (s->list) {
        json_t *j = value_json(ref, value);

        if (old)
            json_object_set_new(j, "before", number(*old));
        json_array_append_new(s->list, j);
    } else if (old) {
        printf("%-32s 0x%" PRIx64 " -> 0x%" PRIx64 "\n", ref->name, *old, value);
    } else {
        printf("%-32s -> 0x%" PRIx64 "\n", ref->name, value);
    }
}

int show_end(struct show *s)
{
    if (s->list && !s->lines) {
        json_dumpf(s->list, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(s->list);
    s->list = NULL;
    if (fflush(stdout) != 0) {
        cli_message("cannot write: %s", strerror(errno));
        return CLI_FAILURE;
    }
    return CLI_OK;
}
