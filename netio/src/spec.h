/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec.h - parses "NAME,key=value,key=value" lists of back end specifications.
 */
#ifndef TOE_NETIO_SPEC_H
#define TOE_NETIO_SPEC_H

#include "backend.h"

#define SPEC_TEXT    1024
#define SPEC_OPTIONS 24

struct spec_option {
    const char *key;
    const char *value;
};

struct spec {
    char text[SPEC_TEXT]; /* the words below point into this */
    const char *name;     /* the first word when it has no '=', else "" */
    struct spec_option options[SPEC_OPTIONS];
    unsigned count;
};

/* Splits args at commas. keys is a space-separated list of the known keys. An unknown or repeated
 * key, an empty word or a word without '=' after the name fails with a sentence in err that begins
 * with `who`. Returns 0, or -1. */
int spec_parse(struct spec *spec, const char *who, const char *args, const char *keys,
               const struct netio_err *err);
/* Returns the value of key; NULL when it was not given. */
const char *spec_get(const struct spec *spec, const char *key);
/* Parses a decimal whole number from min to max; fallback when the key was not given. Returns 0, or
 * -1. */
int spec_get_number(const struct spec *spec, const char *who, const char *key, uint64_t min,
                    uint64_t max, uint64_t fallback, uint64_t *out, const struct netio_err *err);
/* Finds the position of the key's value in the space-separated choices; 0 when it was not given.
 * Returns 0, or -1. */
int spec_get_choice(const struct spec *spec, const char *who, const char *key, const char *choices,
                    unsigned *out, const struct netio_err *err);

#endif
