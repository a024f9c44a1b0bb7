/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_eor.h - boundaries that no segment may span (MSG_EOR of Linux): the end of a record that the
 * owner has marked by toec_eor(). The rule holds for new data, retransmissions, segmentation
 * offload, probes of the path MTU and of a closed window alike.
 *
 * A flow has a list while a boundary is not acknowledged (TOEC_RARE_EOR). There is one list for
 * each flow, indexed like the flows; memory of lists never used is never touched.
 */
#ifndef TOEC_TCP_EOR_H
#define TOEC_TCP_EOR_H

#include <toe/core.h>

#include "../base/base.h"

struct toec_stack;
struct toec_tcb;

struct toec_eor {
    toec_u32 n;
    toec_u32 at[TOEC_EOR_MAX]; /* sequence numbers after the last bytes of records, ascending */
};
TOEC_STATIC_ASSERT(eor, sizeof(struct toec_eor) == 128);

/* Adds a boundary. Returns 0 when the list is full. */
int toec_eor_add(struct toec_stack *s, struct toec_tcb *t, toec_u32 seq);
/* Returns the list of a flow with TOEC_RARE_EOR. */
const struct toec_eor *toec_eor_of(const struct toec_stack *s, const struct toec_tcb *t);
/* Returns `end`, or the first boundary within ]start, end[. For a flow with TOEC_RARE_EOR, which it
 * takes off when all is acknowledged. */
toec_u32 toec_eor_end(const struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end);
/* Returns `start`, or the last boundary within ]start, end[. For a flow with TOEC_RARE_EOR. */
toec_u32 toec_eor_start(const struct toec_stack *s, const struct toec_tcb *t, toec_u32 start,
                        toec_u32 end);
/* Returns not 0 when a record ends at seq. For a flow with TOEC_RARE_EOR. */
int toec_eor_at(const struct toec_stack *s, const struct toec_tcb *t, toec_u32 seq);

#endif
