/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - measures the checksum, alone and with a copy, by each way that this CPU supports
 * (engine/src/frames/sums.h), for bench/sums.py:
 *
 *   sums ROUNDS LENGTH...
 *
 * Prints JSON: for each way and length, nanoseconds of CPU time per call in each round. Each round
 * measures all ways in turn. Exit code 2: usage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <toe/number.h>

#include "frames/sums.h"

#define MOST    65536u
#define BYTES   (4u << 20) /* of a sample, all calls together */
#define LENGTHS 16
#define ROUNDS  1000

static uint8_t from[MOST + 64], to[MOST + 64];
static volatile unsigned kept;

static double nanoseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Payload in frames begins 2 beyond a multiple of 4. */
static double sample(const struct sums *s, int copy, unsigned length)
{
    unsigned calls = BYTES / length, i, sum = 0;
    double begin = nanoseconds();

    for (i = 0; i < calls; i++)
        sum += copy ? s->copy(to + 2, from + 10, length) : s->sum(from + 10, length);
    kept = sum;
    return (nanoseconds() - begin) / calls;
}

static void samples(const struct sums *s, int copy, unsigned length, unsigned rounds, double *all,
                    int first)
{
    unsigned r;

    printf("%s\n  {\"way\": \"%s\", \"copy\": %s, \"length\": %u, \"ns\": [", first ? "" : ",",
           s->name, copy ? "true" : "false", length);
    for (r = 0; r < rounds; r++)
        printf("%s%.2f", r ? ", " : "", all[r]);
    printf("]}");
}

int main(int argc, char **argv)
{
    static double ns[2][8][LENGTHS][ROUNDS];
    unsigned lengths[LENGTHS], rounds, r, i, n;
    uint64_t v = 0;
    bool valid = argc > 2 && argc <= 2 + LENGTHS && toe_number(argv[1], 1, ROUNDS, &v, NULL, 0);
    int copy;

    rounds = (unsigned)v;
    for (i = 0; valid && i + 2 < (unsigned)argc; i++) {
        valid = toe_number(argv[i + 2], 1, MOST, &v, NULL, 0);
        lengths[i] = (unsigned)v;
    }
    if (!valid) {
        fprintf(stderr, "usage: sums ROUNDS LENGTH...; rounds 1..%d, up to %d lengths 1..%u\n",
                ROUNDS, LENGTHS, MOST);
        return 2;
    }
    n = i;
    for (i = 0; i < sizeof(from); i++)
        from[i] = (uint8_t)(i * 2654435761u >> 24);
    for (r = 0; r < rounds; r++)
        for (i = 0; i < n; i++)
            for (copy = 0; copy < 2; copy++)
                for (unsigned k = 0; sums_all[k].name; k++)
                    if (sums_all[k].works())
                        ns[copy][k][i][r] = sample(&sums_all[k], copy, lengths[i]);
    printf("[");
    for (copy = 0; copy < 2; copy++)
        for (unsigned k = 0; sums_all[k].name; k++)
            for (i = 0; sums_all[k].works() && i < n; i++)
                samples(&sums_all[k], copy, lengths[i], rounds, ns[copy][k][i],
                        copy == 0 && k == 0 && i == 0);
    printf("\n]\n");
    return 0;
}
