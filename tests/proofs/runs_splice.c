/* SPDX-License-Identifier: Apache-2.0 */
/* runs_splice.c - splice() has the same result as splice_by_one() of runs.h, which replaces it in
 * the other proofs; the parts that move_runs() copies do not overlap. It copies smaller parts here,
 * so that a short record is also moved in several parts. */
#define RUNS_HELD 2u
#include "runs.h"

static struct toec_record other;
static struct toec_run put[3];

/* memcpy() of whole runs, as splice() uses it. */
void *copy(void *dst, const void *src, toec_size_t n)
{
    struct toec_run *to = dst;
    const struct toec_run *from = src;
    unsigned i;

    READABLE(src, n);
    WRITABLE(dst, n);
    PROVE(n % sizeof(*to) == 0);
    PROVE(!__CPROVER_same_object(to, from) || to + n / sizeof(*to) <= from ||
          from + n / sizeof(*to) <= to);
    for (i = 0; i < n / sizeof(*to); i++)
        to[i] = from[i];
    return dst;
}

static int same(const struct toec_run *a, const struct toec_run *b)
{
    return a->end == b->end && a->sent == b->sent && a->marks == b->marks &&
           a->rate.in_flight == b->rate.in_flight;
}

static struct toec_run any_run(void)
{
    struct toec_run r;

    return r;
}

void proof(void)
{
    unsigned at = nondet_u8(), del = nondet_u8(), m = nondet_u8(), i;
    struct toec_rack a, b;

    for (i = 0; i < TOEC_RUNS; i++)
        record.run[i] = other.run[i] = any_run();
    for (i = 0; i < 3; i++)
        put[i] = any_run();
    a.n = b.n = nondet_u8();
    a.run = record.run;
    b.run = other.run;
    ASSUME(a.n <= TOEC_RUNS && at <= a.n && del <= a.n - at && m <= 3 &&
           a.n - del + m <= TOEC_RUNS);
    splice(&a, at, del, put, m);
    splice_by_one(&b, at, del, put, m);
    PROVE(a.n == b.n);
    i = nondet_u8();
    ASSUME(i < a.n);
    PROVE(same(&a.run[i], &b.run[i]));
}
