/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long_option.h - rejects abbreviated long options, which getopt_long(3) accepts: `--time 2` would
 * set --timeout-ms, and stop to do so when another option begins with the same letters.
 */
#ifndef TOE_LONG_OPTION_H
#define TOE_LONG_OPTION_H

#include <string.h>

/*
 * Returns whether the program's user wrote the name in full. To be called with argv, optind and
 * optarg as getopt_long() has left them, and the name of the option that it has found.
 */
static inline int toe_long_option_in_full(char *const *argv, int index, const char *value,
                                          const char *name)
{
    const char *word = argv[index - 1];

    if (value && value == word) /* the value is a word of its own */
        word = argv[index - 2];
    return strncmp(word, "--", 2) == 0 && strcspn(word + 2, "=") == strlen(name);
}

/* Returns the word in which getopt_long() has found the option, without its value if that is a word
 * of its own. */
static inline const char *toe_long_option_word(char *const *argv, int index, const char *value)
{
    return value && value == argv[index - 1] ? argv[index - 2] : argv[index - 1];
}

#endif
