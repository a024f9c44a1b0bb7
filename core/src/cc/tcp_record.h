/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_record.h - the part of the record of transmissions (tcp_rack.h) that congestion control
 * needs: borrowing a record from the stack, and the bytes in flight. tcp_runs.c maintains it.
 */
#ifndef TOEC_TCP_RECORD_H
#define TOEC_TCP_RECORD_H

#include "../tcp/tcb.h"

/* Initialises the record of a new flow: nothing is outstanding. */
void toec_runs_init(struct toec_tcb *t);
/* Lends the flow a record from the pool; 0 when none is free (counted). */
struct toec_record *toec_record_borrow(struct toec_stack *s, struct toec_tcb *t);
void toec_record_return(struct toec_stack *s, struct toec_tcb *t);
/* Returns the bytes in flight (RFC 6675 4). */
toec_u32 toec_pipe(const struct toec_tcb *t);

#endif
