/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_record.h - the record of transmissions (tcp_rack.h) as congestion control needs it: a flow
 * borrows one from the stack, and what is under way is read off it. tcp_runs.c keeps it.
 */
#ifndef TOEC_TCP_RECORD_H
#define TOEC_TCP_RECORD_H

#include "../tcp/tcb.h"

/* A new flow: nothing is outstanding. */
void toec_runs_init(struct toec_tcb *t);
/* The flow has a record of its own from now on; 0 when none is free (counted). */
struct toec_record *toec_record_borrow(struct toec_stack *s, struct toec_tcb *t);
void toec_record_return(struct toec_stack *s, struct toec_tcb *t);
/* Bytes on their way (RFC 6675 4). */
toec_u32 toec_pipe(const struct toec_tcb *t);

#endif
