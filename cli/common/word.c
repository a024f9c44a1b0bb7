/* SPDX-License-Identifier: Apache-2.0 */
/* word.c - see word.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "word.h"

/* Returns whether a shell takes the text as it is. */
static bool is_plain(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./:@%+=,-";

    return *text && !text[strspn(text, plain)];
}

bool cli_word(char *out, size_t size, const char *text)
{
    size_t at = 0;

    if (is_plain(text) && strlen(text) < size) {
        memcpy(out, text, strlen(text) + 1);
        return true;
    }
    *out = '\0';
    if (4 * strlen(text) + 3 > size) /* each quote becomes four characters */
        return false;
    out[at++] = '\'';
    for (; *text; text++) {
        if (*text == '\'') {
            memcpy(out + at, "'\\'", 3);
            at += 3;
        }
        out[at++] = *text;
    }
    out[at++] = '\'';
    out[at] = '\0';
    return true;
}

void cli_print_word(const char *text)
{
    size_t size = 4 * strlen(text) + 3;
    char *word = malloc(size);

    if (word && cli_word(word, size, text))
        fputs(word, stdout);
    free(word);
}
