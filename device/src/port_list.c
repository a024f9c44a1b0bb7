/* SPDX-License-Identifier: Apache-2.0 */
/* port_list.c - lists of ports as the kernel prints them (toe/port_list.h). */
#include <stdlib.h>

#include <toe/port_list.h>

/* Returns the number at *at and moves *at behind it; -1: there is none below 65536. */
static long number(const char **at)
{
    char *end;
    unsigned long n = strtoul(*at, &end, 10);

    if (end == *at || n > 65535)
        return -1;
    *at = end;
    return (long)n;
}

void toe_port_list(const char *list, uint8_t set[65536 / 8])
{
    long first, last;

    while ((first = number(&list)) >= 0) {
        last = first;
        if (*list == '-' && (++list, last = number(&list)) < 0)
            return;
        for (; first <= last; first++)
            set[first / 8] |= (uint8_t)(1u << first % 8);
        if (*list != ',')
            return;
        list++;
    }
}
