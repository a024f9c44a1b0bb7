/* SPDX-License-Identifier: Apache-2.0 */
/* urgent.h - urgent data of a socket (urgent.c). Lock held; tsock.oob is not TOOB_NONE but for
 * turgent_announced(), turgent_data() and turgent_recv(). */
#ifndef LIBTOE_URGENT_H
#define LIBTOE_URGENT_H

#include "tsock.h"

/* The TOE says: urgent data ends at stream offset `end`. */
TOE_HIDDEN void turgent_announced(struct tsock *s, uint32_t end);
/* More data has come. */
TOE_HIDDEN void turgent_data(struct tsock *s);
/* The next byte to read is the urgent one (SIOCATMARK). */
TOE_HIDDEN bool turgent_at_mark(const struct tsock *s);
/* Bytes that a read can have before it stops. */
TOE_HIDDEN uint32_t turgent_readable(const struct tsock *s);
/* ... as FIONREAD tells. */
TOE_HIDDEN uint32_t turgent_queued(const struct tsock *s);
/* Bytes have been read: the mark may lie behind. */
TOE_HIDDEN void turgent_passed(struct tsock *s);
/* recv() with MSG_OOB. */
TOE_HIDDEN ssize_t turgent_recv(struct tsock *s, uint8_t *to, size_t n, int flags);

#endif
