/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_trace.h - reports what happens to a flow, except segments in order, to toec_config.trace.
 * Sequence numbers are relative to the ISS, so that the SYN is 0 and the first byte 1.
 */
#ifndef TOEC_TCP_TRACE_H
#define TOEC_TCP_TRACE_H

#include "tcb.h"

TOEC_INLINE void toec_trace(const struct toec_stack *s, const struct toec_tcb *t,
                            enum toec_trace_kind what, toec_u32 seq, toec_u32 value)
{
    if (s->cfg.trace)
        s->cfg.trace(t->owner, what, seq, value);
}

/* Reports an event at SND.UNA. */
TOEC_INLINE void toec_trace_una(const struct toec_stack *s, const struct toec_tcb *t,
                                enum toec_trace_kind what, toec_u32 value)
{
    if (s->cfg.trace)
        s->cfg.trace(t->owner, what, t->snd_una - t->iss, value);
}

/* Changes the state of a flow that has an owner. */
TOEC_INLINE void toec_state_set(const struct toec_stack *s, struct toec_tcb *t,
                                enum toec_state state)
{
    t->state = (toec_u8)state;
    toec_trace(s, t, TOEC_T_STATE, 0, (toec_u32)state);
}

#endif
