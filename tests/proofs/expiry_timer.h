/* SPDX-License-Identifier: Apache-2.0 */
/* expiry_timer.h - a stack, and the timer of its IPv6 tables: when due, how often it was set. */
#ifndef EXPIRY_TIMER_H
#define EXPIRY_TIMER_H

static struct toec_stack s;
static toec_time timer;
static unsigned timers;

void set_timer(struct toec_stack *stack, struct toec_timer *t, enum toec_timer_kind kind,
               toec_time at)
{
    PROVE(stack == &s && t == &s.ip6.expiry && kind == TOEC_TMR_IP6_EXPIRY);
    timer = at;
    timers++;
}

void stop_timer(struct toec_stack *stack, struct toec_timer *t)
{
    PROVE(stack == &s && t == &s.ip6.expiry);
    timer = TOEC_NEVER;
    timers++;
}

#endif
