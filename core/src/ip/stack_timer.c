/* SPDX-License-Identifier: Apache-2.0 */
/* stack_timer.c - timers on the wheel of a stack. */
#include "stack_timer.h"

#include "stack.h"

void toec_timer_set(struct toec_stack *s, struct toec_timer *t, enum toec_timer_kind kind,
                    toec_time deadline)
{
    toec_wheel_set(&s->wheel, t, kind, deadline);
}

void toec_timer_cancel(struct toec_stack *s, struct toec_timer *t)
{
    toec_wheel_cancel(&s->wheel, t);
}
