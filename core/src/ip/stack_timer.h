/* SPDX-License-Identifier: Apache-2.0 */
/* stack_timer.h - timers on the wheel of a stack. */
#ifndef TOEC_STACK_TIMER_H
#define TOEC_STACK_TIMER_H

#include "../base/timer.h"

struct toec_stack;

/*
 * Sets t (again) to expire at the first toec_poll() at or after `deadline` rounded up to a tick:
 * never early, at most one tick late. A deadline in a tick already run (0 always is, except for the
 * first) expires at the next toec_poll().
 */
void toec_timer_set(struct toec_stack *s, struct toec_timer *t, enum toec_timer_kind kind,
                    toec_time deadline);
void toec_timer_cancel(struct toec_stack *s, struct toec_timer *t);

#endif
