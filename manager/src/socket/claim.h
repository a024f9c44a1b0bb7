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
#define TLOANS    4u /* toe_recv_borrow() */

/* Memory of a queue pair that is gone, and how many sockets have claims on it. */
struct tkept {
    uint8_t *area;
    uint64_t size;
    uint32_t users;
};

/* Bytes read, whose room is not the peer's yet, in the order of the stream. */
#define TLOANS_MAX 1024u
struct tloan {
    uint32_t n;
    bool lent; /* else given back, or read while something before them was lent */
};

/* One call of those that are told when their memory is free (zerocopy.h). */
struct tzc_send {
    uint64_t token;  /* of toe_send_ref() */
    uint32_t lo, hi; /* numbers of MSG_ZEROCOPY calls */
    uint32_t end;    /* stream offset behind its bytes */
    bool numbered;   /* else it has a token */
    bool copied;
};

/* A queue of them, of at most TZC_SENDS. */
struct tzc_queue {
    uint32_t head, count, size;
    struct tzc_send *ring;
};

/* What a socket has for sending and receiving without a copy. */
struct tzc {
    struct tkept *spare; /* to become the queue pair's */
    struct tkept *kept;  /* where the claims are, once the queue pair is gone */
    uint32_t reserved;   /* bytes of TCLAIM_TX, from tx_pos on */
    uint32_t peeked;     /* bytes of TCLAIM_RX, from rx_pos + skip on */
    uint32_t skip;       /* the urgent byte before them, which is left out */

    struct tloan *loans;  /* ring of TLOANS_MAX; NULL until the first */
    uint64_t first_loan;  /* number of the first in it */
    uint32_t loans_count; /* in it */

    struct tzc_queue flying; /* not acknowledged yet, in the order of the stream */
    struct tzc_queue done;   /* those with tokens that have not been told yet */
    uint32_t begun;          /* calls that have not ended: each is to have room in flying */
    uint32_t next_number;    /* of the next MSG_ZEROCOPY call */
    struct tzc_send told;    /* the numbers to be told; one range, since streams are in order */
    bool telling;            /* told is in use */
};

/* The socket's, made when there is none; NULL with ENOBUFS. */
TOE_HIDDEN struct tzc *tzc_get(struct tsock *s);
/* toe_recv_peek(), but EBUSY while somebody else peeks. Takes the lock. */
TOE_HIDDEN ssize_t tclaim_peek_alone(int fd, struct iovec iov[2]);
/* n bytes have been read while some before them are lent. */
TOE_HIDDEN void tloan_behind(struct tsock *s, uint32_t n);
/* What is lent has been read: for a close, which must not find it unread. */
TOE_HIDDEN void tloan_settle(struct tsock *s);
/* The socket ends: its claims too. */
TOE_HIDDEN void tclaim_end(struct tsock *s);
/* Its queue pair is about to be detached without the socket having ended. */
TOE_HIDDEN void tclaim_lost(struct tsock *s, struct tqp *qp);
/* In a fork child: they are the parent's, and the memory is not here. */
TOE_HIDDEN void tclaim_forget(struct tsock *s);

#endif
