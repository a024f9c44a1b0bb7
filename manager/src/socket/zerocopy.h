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
 * n bytes from the cursor become those of the send buffer from tx_pos on: by reference what is
 * worth it and can be, else copied. Returns whether any were copied.
 */
TOE_HIDDEN bool tzc_put(struct tsock *s, uint32_t n, struct tio_cursor *c);
/* A call whose caller will be notified may begin: 0, and tzc_sent() must follow; or -1 with
 * ENOBUFS. */
TOE_HIDDEN int tzc_may(struct tsock *s, bool numbered);
/* It has ended. If it has sent any, which is all before tx_pos, its caller is notified when that is
 * acknowledged. */
TOE_HIDDEN void tzc_sent(struct tsock *s, bool any, bool numbered, uint64_t token, bool copied);
/* Bytes have been acknowledged. */
TOE_HIDDEN void tzc_acked(struct tsock *s);
/* The flow is gone: nothing is read any more. */
TOE_HIDDEN void tzc_gone(struct tsock *s);
/* The application closes the flow: what it referred to is its own again when this returns. */
TOE_HIDDEN void tzc_settle(struct tsock *s);
/* recv() and its kin with MSG_ERRQUEUE; msg may be NULL. 0, or -1 with EAGAIN. */
TOE_HIDDEN ssize_t tzc_errqueue(struct tsock *s, struct msghdr *msg);
TOE_HIDDEN void tzc_free(struct tzc *zc);

#endif
