/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - memory and random numbers of the simulation (net.h). */
#include <stdio.h>
#include <stdlib.h>

#include "net.h"

void *must(void *p)
{
    if (!p) {
        fprintf(stderr, "netsim: out of memory\n");
        abort();
    }
    return p;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
double net_chance(struct net *n)
{
    uint64_t z = n->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}
