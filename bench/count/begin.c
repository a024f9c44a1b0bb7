/* SPDX-License-Identifier: Apache-2.0 */
/* begin.c - shared by the programs of count.h. A separate file, so that calls are not inlined. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <toe/number.h>

#include "count.h"

void count_begin(void)
{
}

int count_main(int argc, char **argv, const struct count_case *cases, unsigned n)
{
    char want[TOE_NUMBER_WANT];
    uint64_t events = 0;
    unsigned i;

    if (argc == 3 && !toe_number(argv[2], 1, UINT_MAX, &events, want, sizeof(want)))
        fprintf(stderr, "%s: EVENTS %s is not %s\n", argv[0], argv[2], want);
    for (i = 0; events && i < n; i++) {
        if (strcmp(cases[i].name, argv[1]) == 0) {
            cases[i].run((unsigned)events);
            return 0;
        }
    }
    fprintf(stderr, "usage: %s CASE EVENTS; cases:", argv[0]);
    for (i = 0; i < n; i++)
        fprintf(stderr, " %s", cases[i].name);
    fprintf(stderr, "\n");
    return 2;
}
