/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rx_hold.h - received payload that stays in the frame it came in until the program has read it or
 * given it back (SEEDS S4.4). Only of a host within the engine's own thread: frames are memory of
 * the back end, and between processes they would have to be shown whole.
 *
 * What is held takes the room in the receive buffer that it would if it were copied there, so the
 * window is the same; its place there is not used, and may still take a copy (hold_gather()). What
 * is not held, for one of the reasons that are counted, is copied into its place as ever.
 *
 * core/ first has payload placed and tells by the next event that it was in order. Until then what
 * could be held is put off: out of order, it is copied after all.
 */
#ifndef ENGINE_HOLD_H
#define ENGINE_HOLD_H

#include "qp.h"

/* A frame, or what of its payload was new. Of a slot, in the order of the stream. */
struct held {
    const uint8_t *data;
    uintptr_t token;
    uint32_t off, len;
    uint32_t next;   /* index + 1 */
    uint32_t copied; /* its bytes stand in the receive buffer too, and are read there */
};

/* Of a slot: indices + 1, 0: none. */
struct hold_list {
    uint32_t first, last;
    uint32_t at; /* where it was looked last */
};

/* From now on frames of this queue pair's flows are held when they bring at least min bytes of
 * payload; notify(arg, slot) is called when the first of a slot is, before the bytes are told.
 * Nothing happens when min is 0 or the back end holds none. 0, or -1 without memory. */
int hold_begin(struct engine *e, struct qp *qp, uint32_t min, void (*notify)(void *, uint32_t),
               void *arg);
/* Gives back all. */
void hold_end(struct engine *e);
void hold_qp_free(struct qp *qp);

/* Payload has been placed: 1 when it is put off, 0: to be copied now. Out of line, for those who
 * hold at all. */
int hold_put_off(struct engine *e, struct slot *s, uint32_t off, const struct toec_packet *p,
                 uint32_t p_off, uint32_t len);
/* n bytes are in order; the first of them are what was put off, of this slot. */
void hold_in_order(struct engine *e, const struct slot *s, uint32_t n);
/* They were not. */
void hold_copy(struct engine *e);

static inline void hold_settle(struct engine *e)
{
    if (__builtin_expect(e->hold.slot != NULL, 0))
        hold_copy(e);
}

/* Where the byte at stream offset off is: *data, and how many of n are there in one piece. */
uint32_t hold_where(struct slot *s, uint32_t off, uint32_t n, const uint8_t **data);
/* Frames whose bytes all lie before off go back. 1: there are others. */
int hold_release(struct slot *s, uint32_t off);
/* Copies what is held from off on into the receive buffer. The frames stay what they are. */
void hold_gather(struct slot *s, uint32_t off);
/* Gives back all frames of the slot. */
void hold_drop(struct slot *s);

/* A batch, all of it handled, goes back, but for what is held. */
void hold_release_batch(struct engine *e, struct netio_frame *f, unsigned n);

#endif
