/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zerocopy.h - sending from the application's memory: MSG_ZEROCOPY and toe_send_ref()
 * (zerocopy.c). Lock held.
 */
#ifndef LIBTOE_ZEROCOPY_H
#define LIBTOE_ZEROCOPY_H

#include "io.h"
#include "tzc.h"

/*
 * Puts n bytes from the cursor into the send buffer from tx_pos on: by reference where that is
 * possible and worth it, else by copy. Returns whether any were copied.
 */
TOE_HIDDEN bool tzc_put(struct tsock *s, uint32_t n, struct tio_cursor *c);
/* Begins a call whose caller will be notified. Returns 0, and tzc_sent() must follow; or -1 with
 * ENOBUFS. */
TOE_HIDDEN int tzc_may(struct tsock *s, bool numbered);
/* Ends it. If it has sent any bytes, all of which are before tx_pos, its caller is notified when
 * they are acknowledged. */
TOE_HIDDEN void tzc_sent(struct tsock *s, bool any, bool numbered, uint64_t token, bool copied);
/* Completes sends whose bytes have been acknowledged. */
TOE_HIDDEN void tzc_acked(struct tsock *s);
/* Completes all sends of a flow that has ended: the TOE no longer reads their memory. */
TOE_HIDDEN void tzc_gone(struct tsock *s);
/* At the application's close: it may reuse the memory of its sends when this returns. */
TOE_HIDDEN void tzc_settle(struct tsock *s);
/* Implements recv() and its kin with MSG_ERRQUEUE; msg may be NULL. 0, or -1 with EAGAIN. */
TOE_HIDDEN ssize_t tzc_errqueue(struct tsock *s, struct msghdr *msg);
TOE_HIDDEN void tzc_free(struct tzc *zc);

#endif
