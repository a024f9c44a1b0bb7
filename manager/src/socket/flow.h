/* SPDX-License-Identifier: Apache-2.0 */
/* flow.h - the life of a flow's slot (flow.c). Lock held. */
#ifndef LIBTOE_FLOW_H
#define LIBTOE_FLOW_H

#include "tsock.h"

struct tqp;

/* Binds s to the slot of a new flow. */
TOE_HIDDEN void tflow_open(struct tsock *s, struct tqp *qp, uint32_t slot);
/* Ends s in any state: its last descriptor was closed, or toe_terminate() was called. */
TOE_HIDDEN void tsock_end(struct tsock *s);
/* Releases the slot when it is no longer needed (final close seen, data read). */
TOE_HIDDEN void tflow_release(struct tsock *s);
/* The same after a read of a dead socket. Not while draining. */
TOE_HIDDEN void tflow_done(struct tsock *s);
/* Handles the final CLOSE_EVENT or the loss of the TOE, with an errno or 0. */
TOE_HIDDEN void tflow_gone(struct tsock *s, int error);
/* Sends RECV for the bytes read. */
TOE_HIDDEN void tflow_report_read(struct tsock *s);
/* Unlinks the two sockets of a shared connection, one of which ends. */
TOE_HIDDEN void tflow_part(struct tsock *s);

#endif
