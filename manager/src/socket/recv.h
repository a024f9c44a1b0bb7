/* SPDX-License-Identifier: Apache-2.0 */
/* recv.h - the receive family (recv.c). Lock held. */
#ifndef LIBTOE_RECV_H
#define LIBTOE_RECV_H

#include "tsock.h"

/* Called when there is nothing to read. True: wait. False: *r (and errno) is the result of recv().
 */
TOE_HIDDEN bool trecv_must_wait(struct tsock *s, ssize_t *r);
/* Accounts for n bytes of the stream that have been read. */
TOE_HIDDEN void trecv_taken(struct tsock *s, uint32_t n);

#endif
