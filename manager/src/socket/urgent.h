/* SPDX-License-Identifier: Apache-2.0 */
/* urgent.h - urgent data of a socket (urgent.c). Lock held; tsock.oob is not TOOB_NONE, except
 * in turgent_announced(), turgent_data() and turgent_recv(). */
#ifndef LIBTOE_URGENT_H
#define LIBTOE_URGENT_H

#include "tsock.h"

/* Handles the TOE's notification that urgent data ends at stream offset `end`. */
TOE_HIDDEN void turgent_announced(struct tsock *s, uint32_t end);
/* Updates the state after more data has arrived. */
TOE_HIDDEN void turgent_data(struct tsock *s);
/* Returns whether the next byte to read is the urgent one (SIOCATMARK). */
TOE_HIDDEN bool turgent_at_mark(const struct tsock *s);
/* Returns the bytes that a read can return before it stops. */
TOE_HIDDEN uint32_t turgent_readable(const struct tsock *s);
/* The same, as FIONREAD counts. */
TOE_HIDDEN uint32_t turgent_queued(const struct tsock *s);
/* Clears the mark if the bytes read include it. */
TOE_HIDDEN void turgent_passed(struct tsock *s);
/* Implements recv() with MSG_OOB. */
TOE_HIDDEN ssize_t turgent_recv(struct tsock *s, uint8_t *to, size_t n, int flags);

#endif
