/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eor.h - MSG_EOR (send(2)): the end of a record, whose last byte shares no segment with the next.
 *
 * A TOE keeps TOEDEV_EOR_MAX boundaries of a flow. A write with MSG_EOR beyond it waits, or fails
 * with EAGAIN, as if the send buffer were full, and the socket is not writable until then. Lock
 * held.
 */
#ifndef LIBTOE_EOR_H
#define LIBTOE_EOR_H

#include "tsock.h"

/* Counts a boundary at s->tx_pos. Returns the flags of its SEND: 0 when the TOE keeps none. */
TOE_HIDDEN uint8_t teor_add(struct tsock *s);
/* Returns whether the TOE can keep no more. */
TOE_HIDDEN bool teor_full(const struct tsock *s);

#endif
