/* SPDX-License-Identifier: Apache-2.0 */
/* recv.h - the receive family (recv.c). Lock held. */
#ifndef LIBTOE_RECV_H
#define LIBTOE_RECV_H

#include "tsock.h"

/* Nothing to read: false with what a recv() returns in *r (and errno), or true, to wait. */
TOE_HIDDEN bool trecv_must_wait(struct tsock *s, ssize_t *r);
/* n bytes of the stream have been read. */
TOE_HIDDEN void trecv_taken(struct tsock *s, uint32_t n);

#endif
