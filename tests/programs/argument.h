/* SPDX-License-Identifier: Apache-2.0 */
/* argument.h - numbers on the command lines of the programs under test. */
#ifndef TOE_TEST_ARGUMENT_H
#define TOE_TEST_ARGUMENT_H

#include <stdio.h>
#include <stdlib.h>

#include <toe/number.h>

/* Returns the number that an argument is; ends the program if it is not within [min, max]. */
static inline uint64_t argument(const char *name, const char *text, uint64_t min, uint64_t max)
{
    char want[TOE_NUMBER_WANT];
    uint64_t v = 0;

    if (toe_number(text, min, max, &v, want, sizeof(want)))
        return v;
    fprintf(stderr, "%s %s is not %s\n", name, text, want);
    exit(2);
}

static inline uint16_t port_argument(const char *text)
{
    return (uint16_t)argument("PORT", text, 1, 65535);
}

#endif
