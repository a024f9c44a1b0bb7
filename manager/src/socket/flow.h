/* SPDX-License-Identifier: Apache-2.0 */
/* flow.h - the life of a flow's slot (flow.c). Lock held. */
#ifndef LIBTOE_FLOW_H
#define LIBTOE_FLOW_H

#include "tsock.h"

struct tqp;

/* Binds s to a slot just established. */
TOE_HIDDEN void tflow_open(struct tsock *s, struct tqp *qp, uint32_t slot);
/* The last descriptor is gone, or toe_terminate(): ends what s is in whatever state. */
TOE_HIDDEN void tsock_end(struct tsock *s);
/* Gives the slot back when nothing of it is wanted any more (final close seen, data read). */
TOE_HIDDEN void tflow_release(struct tsock *s);
/* The same as soon as that is so: after a read of a dead socket. Not while draining. */
TOE_HIDDEN void tflow_done(struct tsock *s);
/* The final CLOSE_EVENT or the loss of the TOE, with an errno or 0. */
TOE_HIDDEN void tflow_gone(struct tsock *s, int error);
/* Says RECV for what was read. */
TOE_HIDDEN void tflow_report_read(struct tsock *s);
/* The two sockets of a shared connection, one of which ends, know each other no more. */
TOE_HIDDEN void tflow_part(struct tsock *s);

#endif
