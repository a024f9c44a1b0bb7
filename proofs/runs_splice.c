/* SPDX-License-Identifier: Apache-2.0 */
/* runs_splice.c - splice() moves within the record, and does what splice_by_one() does. */
#include "runs.h"

static struct toec_rack one, other;

void proof(void)
{
    struct toec_run put[3];
    unsigned at = nondet_u8(), del = nondet_u8(), m = nondet_u8(), i = nondet_u8();

    ANYTHING(one);
    ASSUME(one.n <= TOEC_RUNS && at <= one.n && del <= one.n - at);
    ASSUME(m <= 3 && one.n - del + m <= TOEC_RUNS);
    other = one;
    splice(&one, at, del, put, m);
    splice_by_one(&other, at, del, put, m);
    PROVE(one.n == other.n);
    ASSUME(i < one.n);
    PROVE(one.run[i].end == other.run[i].end && one.run[i].sent == other.run[i].sent);
    PROVE(one.run[i].marks == other.run[i].marks);
    PROVE(one.run[i].rate.in_flight == other.run[i].rate.in_flight);
}
