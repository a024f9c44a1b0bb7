/* SPDX-License-Identifier: Apache-2.0 */
/* toml.h - the keys of a TOML document, by toml++ behind an interface for C. */
#ifndef CONFIG_TOML_H
#define CONFIG_TOML_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum toml_kind {
    TOML_SECTION, /* a table at the top: name and text are NULL */
    TOML_STRING,
    TOML_INTEGER,
    TOML_BOOLEAN,
    TOML_ARRAY, /* of integers, as "1,2" */
    TOML_TABLE, /* of integers and booleans within a section, as "name=on,other=3" */
    TOML_OTHER  /* nothing that a setting takes; text names it: "a date" */
};

struct toml_key {
    const char *section, *name; /* section "": the top of the document */
    enum toml_kind kind;
    const char *text;
    unsigned line;
};

/* Returns false to stop. */
typedef bool (*toml_take)(void *arg, const struct toml_key *key);

/*
 * Calls take() for each key of the document, in no particular order. Returns false when take() has
 * stopped it, with err empty, or when the document is not TOML, with the reason and its line. err
 * is a buffer of err_size bytes.
 */
bool toml_read(const char *text, size_t size, toml_take take, void *arg, unsigned *line, char *err,
               size_t err_size);

#ifdef __cplusplus
}
#endif

#endif
