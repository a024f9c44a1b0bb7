/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h - parts of a flow's buffers in the hands of the application (claim.c). Lock held.
 *
 * While there is a claim the slot is not given back, whatever becomes of the flow: its next owner's
 * bytes would stand where the application writes. When the TOE ends, the memory of the queue pair
 * stays mapped until the last claim on it has ended.
 */
#ifndef TOE_CLAIM_H
#define TOE_CLAIM_H

#include "ctx.h"

#define TCLAIM_TX 1u /* toe_send_reserve() */
#define TCLAIM_RX 2u /* toe_recv_peek() */

/* Memory of a queue pair that is gone, and how many sockets have claims on it. */
struct tkept {
    uint8_t *area;
    uint64_t size;
    uint32_t users;
};

/* What a socket has for sending and receiving without a copy. */
struct tzc {
    struct tkept *kept; /* where the claims are, once the queue pair is gone */
    uint32_t reserved;  /* bytes of TCLAIM_TX, from tx_pos on */
    uint32_t peeked;    /* bytes of TCLAIM_RX, from rx_pos + skip on */
    uint32_t skip;      /* the urgent byte before them, which is left out */
};

/* The socket's, made when there is none; NULL with ENOBUFS. */
TOE_HIDDEN struct tzc *tzc_get(struct tsock *s);
/* The socket ends: its claims too. */
TOE_HIDDEN void tclaim_end(struct tsock *s);
/* Its queue pair is about to be detached without the socket having ended. */
TOE_HIDDEN void tclaim_lost(struct tsock *s, struct tqp *qp);
/* In a fork child: they are the parent's, and the memory is not here. */
TOE_HIDDEN void tclaim_forget(struct tsock *s);

#endif
