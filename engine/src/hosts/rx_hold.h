/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rx_hold.h - received payload that is kept in its frame until the program has read or released it
 * (SEEDS S4.4). Only for a host within the engine's own thread: frames are the back end's memory,
 * and another process would need access to all of it.
 *
 * Held payload reserves its room in the receive buffer, so the window is the same as with a copy.
 * The room stays unused unless the payload is copied later (hold_gather()). Payload that cannot be
 * held is counted by reason (the hold_* counters) and copied into the receive buffer.
 *
 * core/ places payload first and reports by the next event that it was in order. Until then,
 * payload that could be held is deferred; if it was out of order, it is copied after all.
 */
#ifndef ENGINE_HOLD_H
#define ENGINE_HOLD_H

#include "qp.h"

/* A held frame, reduced to the part of its payload that was new. In a slot's list, in stream
 * order. */
struct held {
    const uint8_t *data;
    uintptr_t token;
    uint32_t off, len;
    uint32_t next;   /* index + 1 */
    uint32_t copied; /* the receive buffer has its bytes too, and they are read there */
};

/* The held frames of a slot: indices + 1, 0: none. */
struct hold_list {
    uint32_t first, last;
    uint32_t at; /* where the last lookup ended */
};

/* Enables holding for frames of this queue pair's flows that carry at least min bytes of payload.
 * notify(arg, slot) is called for the first held frame of a slot, before its bytes are reported. No
 * effect when min is 0 or the back end cannot hold frames. Returns 0, or -1 without memory. */
int hold_begin(struct engine *e, struct qp *qp, uint32_t min, void (*notify)(void *, uint32_t),
               void *arg);
/* Releases all frames. */
void hold_end(struct engine *e);
void hold_qp_free(struct qp *qp);

/* Called when core/ places payload. Returns 1 when it is deferred, 0 when the caller must copy it
 * now. Called only if holding is enabled. */
int hold_put_off(struct engine *e, struct slot *s, uint32_t off, const struct toec_packet *p,
                 uint32_t p_off, uint32_t len);
/* Holds the deferred payload: n bytes of this slot are in order, beginning with it. */
void hold_in_order(struct engine *e, const struct slot *s, uint32_t n);
/* Copies the deferred payload: it was out of order. */
void hold_copy(struct engine *e);

static inline void hold_settle(struct engine *e)
{
    if (__builtin_expect(e->hold.slot != NULL, 0))
        hold_copy(e);
}

/* Finds the byte at stream offset off: stores its address in *data, and returns how many of n bytes
 * are contiguous there. */
uint32_t hold_where(struct slot *s, uint32_t off, uint32_t n, const uint8_t **data);
/* Releases frames whose bytes all precede off. Returns 1 when frames remain. */
int hold_release(struct slot *s, uint32_t off);
/* Copies held payload from off on into the receive buffer. The frames remain held. */
void hold_gather(struct slot *s, uint32_t off);
/* Releases all frames of the slot. */
void hold_drop(struct slot *s);

/* Releases a processed batch, except for the held frames. */
void hold_release_batch(struct engine *e, struct netio_frame *f, unsigned n);

#endif
