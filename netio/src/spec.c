/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec.c - parses "NAME,key=value,key=value" lists of back end specifications.
 */
#include <string.h>

#include <toe/number.h>

#include "spec.h"

/* Returns the position of word[0..len) in the space-separated list, -1 when it is absent. */
static int find_word(const char *list, const char *word, size_t len)
{
    int position = 0;

    while (*list) {
        size_t n = strcspn(list, " ");

        if (n == len && memcmp(list, word, len) == 0)
            return position;
        list += n;
        list += strspn(list, " ");
        position++;
    }
    return -1;
}

static int parse_word(struct spec *spec, const char *who, char *word, int first, const char *keys,
                      const struct netio_err *err)
{
    char *equals = strchr(word, '=');

    if (!equals) {
        if (first) {
            spec->name = word;
            return 0;
        }
        netio_err_set(err, "%s: '%s' has no value: write %s=VALUE (known options: %s)", who, word,
                      word, *keys ? keys : "none");
        return -1;
    }
    *equals = '\0';
    if (find_word(keys, word, (size_t)(equals - word)) < 0) {
        netio_err_set(err, "%s: unknown option '%s': known options are: %s", who, word,
                      *keys ? keys : "none");
        return -1;
    }
    if (spec_get(spec, word)) {
        netio_err_set(err, "%s: option '%s' is given twice: give it once", who, word);
        return -1;
    }
    if (spec->count == SPEC_OPTIONS) {
        netio_err_set(err, "%s: more than %d options: give fewer", who, SPEC_OPTIONS);
        return -1;
    }
    spec->options[spec->count].key = word;
    spec->options[spec->count++].value = equals + 1;
    return 0;
}

int spec_parse(struct spec *spec, const char *who, const char *args, const char *keys,
               const struct netio_err *err)
{
    char *word = spec->text;
    int first = 1;

    spec->name = "";
    spec->count = 0;
    if (strlen(args) >= sizeof(spec->text)) {
        netio_err_set(err, "%s: specification longer than %d characters", who, SPEC_TEXT - 1);
        return -1;
    }
    memcpy(spec->text, args, strlen(args) + 1);
    if (!*args)
        return 0;
    for (;;) {
        char *comma = strchr(word, ',');

        if (comma)
            *comma = '\0';
        if (!*word) {
            netio_err_set(err, "%s: empty word in '%s': remove the superfluous comma", who, args);
            return -1;
        }
        if (parse_word(spec, who, word, first, keys, err))
            return -1;
        if (!comma)
            return 0;
        word = comma + 1;
        first = 0;
    }
}

const char *spec_get(const struct spec *spec, const char *key)
{
    unsigned i;

    for (i = 0; i < spec->count; i++)
        if (strcmp(spec->options[i].key, key) == 0)
            return spec->options[i].value;
    return NULL;
}

int spec_get_number(const struct spec *spec, const char *who, const char *key, uint64_t min,
                    uint64_t max, uint64_t fallback, uint64_t *out, const struct netio_err *err)
{
    const char *value = spec_get(spec, key);
    char want[TOE_NUMBER_WANT];

    if (!value) {
        *out = fallback;
        return 0;
    }
    if (toe_number(value, min, max, out, want, sizeof(want)))
        return 0;
    netio_err_set(err, "%s: %s=%s is not %s", who, key, value, want);
    return -1;
}

int spec_get_choice(const struct spec *spec, const char *who, const char *key, const char *choices,
                    unsigned *out, const struct netio_err *err)
{
    const char *value = spec_get(spec, key);
    int position = value ? find_word(choices, value, strlen(value)) : 0;

    if (position < 0) {
        netio_err_set(err, "%s: %s=%s is not one of: %s", who, key, value, choices);
        return -1;
    }
    *out = (unsigned)position;
    return 0;
}
