/* SPDX-License-Identifier: Apache-2.0 */
/* begin.c - shared by the programs of count.h. A separate file, so that calls are not inlined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

void count_begin(void)
{
}

int count_main(int argc, char **argv, const struct count_case *cases, unsigned n)
{
    unsigned events = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0, i;

    for (i = 0; events && i < n; i++) {
        if (strcmp(cases[i].name, argv[1]) == 0) {
            cases[i].run(events);
            return 0;
        }
    }
    fprintf(stderr, "usage: %s CASE EVENTS; cases:", argv[0]);
    for (i = 0; i < n; i++)
        fprintf(stderr, " %s", cases[i].name);
    fprintf(stderr, "\n");
    return 2;
}
