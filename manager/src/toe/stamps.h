/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stamps.h - when this process handled the last exchange of a flow that a tool times (struct
 * toedev_stamps; `toehold trace FLOW --latency`). Other flows pay a comparison for each
 * notification and call. Lock held.
 */
#ifndef LIBTOE_STAMPS_H
#define LIBTOE_STAMPS_H

#include "host.h"
#include "qp.h"
#include "tsock.h"

/* Of a timed flow: DATA_RECEIVED was taken; the program took bytes. */
TOE_HIDDEN void tstamps_taken(struct tsock *s);
TOE_HIDDEN void tstamps_read(const struct tsock *s);
/* ... a call that sends begins, and its SEND is about to be put: the first since DATA_RECEIVED. */
TOE_HIDDEN void tstamps_write(const struct tsock *s);
TOE_HIDDEN void tstamps_posted(const struct tsock *s);

/* Notes the arrival of data, if a tool times the flow of s. */
static inline void tstamps_data(struct tsock *s)
{
    s->timed = toe_ring_load(&s->qp->status->timed) == s->slot + 1;
    if (unlikely(s->timed))
        tstamps_taken(s);
}

#endif
