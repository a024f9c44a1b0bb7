/* SPDX-License-Identifier: Apache-2.0 */
/* tzc.h - the data of a socket that sends or receives without a copy (lent_buffers.h, zerocopy.h).
 */
#ifndef LIBTOE_TZC_H
#define LIBTOE_TZC_H

#include "tsock.h"

#define TCLAIM_TX 1u /* toe_send_reserve() */
#define TCLAIM_RX 2u /* toe_recv_peek() */
#define TLOANS    4u /* toe_recv_borrow() */

/* Memory of a queue pair that has ended, and the number of sockets with claims on it. */
struct tkept {
    uint8_t *area;
    uint64_t size;
    uint32_t users;
};

/* Bytes read, in the order of the stream, whose space is not advertised to the peer yet. */
#define TLOANS_MAX 1024u
struct tloan {
    uint32_t n;
    bool lent; /* else returned, or read while bytes before them were lent */
};

/* One send whose caller is notified when its memory is free (zerocopy.h). */
struct tzc_send {
    uint64_t token;  /* of toe_send_ref() */
    uint32_t lo, hi; /* numbers of MSG_ZEROCOPY calls */
    uint32_t end;    /* stream offset after its bytes */
    bool numbered;   /* else it has a token */
    bool copied;
};

/* A queue of at most TZC_SENDS sends. */
struct tzc_queue {
    uint32_t head, count, size;
    struct tzc_send *ring;
};

/* State of a socket that sends or receives without a copy. */
struct tzc {
    struct tkept *spare; /* allocated in advance, for the queue pair's loss */
    struct tkept *kept;  /* memory of the claims once the queue pair has ended */
    uint32_t reserved;   /* bytes of TCLAIM_TX, from tx_pos on */
    uint32_t peeked;     /* bytes of TCLAIM_RX, from rx_pos + skip on */
    uint32_t skip;       /* 1 if an urgent byte before them is left out */

    struct tloan *loans;  /* ring of TLOANS_MAX; NULL until the first */
    uint64_t first_loan;  /* number of the first loan in the ring */
    uint32_t loans_count; /* in it */

    struct tzc_queue flying; /* not acknowledged yet, in the order of the stream */
    struct tzc_queue done;   /* those with tokens that have not been reported yet */
    uint32_t begun;          /* calls that have not ended: each needs an entry in flying */
    uint32_t next_number;    /* of the next MSG_ZEROCOPY call */
    struct tzc_send notify;  /* the numbers to report; one range, since streams are in order */
    bool notify_pending;     /* notify is in use */
};

/* Returns whether there are notifications for the application to read (EPOLLERR). */
static inline bool tzc_waits(const struct tsock *s)
{
    return s->zc && (s->zc->notify_pending || s->zc->done.count);
}

#endif
