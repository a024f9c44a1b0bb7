/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer_place.c - a timer set for any time from any position of the wheel, and cancelled: it is in
 * a slot of the wheel, never in one already passed.
 */
#include "proof.h"

#include "../../core/src/base/timer.c"

static struct toec_wheel w;

void proof(void)
{
    struct toec_timer t = {0};
    toec_time now = nondet_u64(), deadline = nondet_u64();

    ASSUME(now < 1ull << 62);
    w.cur = now >> TOEC_TICK_SHIFT;
    toec_wheel_set(&w, &t, TOEC_TMR_TCP, deadline);
    PROVE(toec_timer_pending(&t));
    if (t.level == UNSLOTTED) {
        PROVE(w.due == &t);
    } else {
        PROVE(t.level < TOEC_WHEEL_LEVELS && t.slot < TOEC_WHEEL_SLOTS);
        PROVE(w.slot[t.level][t.slot] == &t && (w.busy[t.level] >> t.slot & 1));
        PROVE(t.tick - (toec_u32)w.cur <= TOEC_TIMER_MAX_TICKS);
    }
    toec_wheel_cancel(&w, &t);
    PROVE(!toec_timer_pending(&t) && !w.due);
    PROVE(t.level == UNSLOTTED || !w.busy[t.level]);
}
