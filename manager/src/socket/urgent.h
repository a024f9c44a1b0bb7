/* SPDX-License-Identifier: Apache-2.0 */
/* urgent.h - urgent data of a socket (urgent.c). Lock held; tsock.oob is not TOOB_NONE but for
 * turgent_told(), turgent_data() and turgent_recv(). */
#ifndef TOE_URGENT_H
#define TOE_URGENT_H

#include "ctx.h"

/* The TOE says: urgent data ends at stream offset `end`. */
TOE_HIDDEN void turgent_told(struct tsock *s, uint32_t end);
/* More data has come. */
TOE_HIDDEN void turgent_data(struct tsock *s);
/* The next byte to read is the urgent one (SIOCATMARK). */
TOE_HIDDEN bool turgent_at_mark(const struct tsock *s);
/* Bytes that a read can have before it stops. */
TOE_HIDDEN uint32_t turgent_readable(const struct tsock *s);
/* ... as FIONREAD tells. */
TOE_HIDDEN uint32_t turgent_queued(const struct tsock *s);
/* 1: the next byte is not the stream's, and to be left out. */
TOE_HIDDEN uint32_t turgent_skip(const struct tsock *s);
/* Bytes have been read: the mark may lie behind. */
TOE_HIDDEN void turgent_passed(struct tsock *s);
/* Sends the SIGURGs that fell due while the lock was held. Lock not held. */
TOE_HIDDEN void turgent_signal(const struct tsigurg *due);
/* recv() with MSG_OOB. */
TOE_HIDDEN ssize_t turgent_recv(struct tsock *s, uint8_t *to, size_t n, int flags);

#endif
