/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer_next.c - the earliest slot of a wheel with one timer, from any position: it is found, the
 * search ends, and it is never later than the timer.
 */
#include "proof.h"

#include "../../core/src/base/timer.c"

static struct toec_wheel w;

void proof(void)
{
    struct toec_timer t = {0};
    toec_time now = nondet_u64(), deadline = nondet_u64();
    toec_u64 tick = 0;
    unsigned level;

    ASSUME(now < 1ull << 62);
    w.cur = now >> TOEC_TICK_SHIFT;
    toec_wheel_set(&w, &t, TOEC_TMR_TCP, deadline);
    if (t.level == UNSLOTTED)
        return;
    PROVE(earliest(&w, &tick, &level) == 1);
    PROVE(level == t.level);
    PROVE(tick - w.cur <= t.tick - (toec_u32)w.cur || tick <= w.cur);
}
