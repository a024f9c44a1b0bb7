/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wiretap.h - copies the frames of an engine into a ring that a tool reads (toe/capture.h), while
 * a capture is attached. Without one, e->wiretap is NULL and each place costs one branch.
 *
 * A frame is recorded as the back end delivers it, before the engine changes it; sent, as the back
 * end gets it. Frames of several segments (TSO, LRO) stay whole, and those that software joins
 * (GRO) stay single. A received frame is recorded before core/ processes it, so that it precedes
 * the answer; the reason for a drop and the flow are entered afterwards. Hence the records of a
 * batch become visible to the tool together.
 */
#ifndef ENGINE_WIRETAP_H
#define ENGINE_WIRETAP_H

#include <stdint.h>

#include <toe/capture.h>

#include "base/drops.h"
#include "engine_state.h"

#define WIRETAP_BATCH 64u /* frames of one netio_rx() */

struct wiretap;

/* The numbers of a flow (struct toecap_record). */
struct wiretap_flow {
    uint32_t qp, slot, ring, serial;
};

struct wiretap_config {
    struct toecap_ring *ring; /* shared with the tool */
    uint8_t *data;            /* ring_size bytes, mapped twice in a row */
    uint64_t ring_size;
    uint32_t snaplen;
    /* Sets the numbers of a flow's owner (toec_tx.owner). */
    void (*name)(const void *owner, struct wiretap_flow *flow);
};

/* Returns a wiretap for e->wiretap, or NULL: no memory. free() frees it. */
struct wiretap *wiretap_new(const struct wiretap_config *cfg);
/* Fills the DROP_REASONS - 1 entries of the table for the tool. */
void wiretap_reasons(struct toecap_reason *out);

/* The following functions are for the engine's thread and need e->wiretap. */

/* Records a batch that netio_rx() has returned, 1 to WIRETAP_BATCH frames. wiretap_end_batch() must
 * follow: until then nothing becomes visible. */
void wiretap_receive(struct engine *e, const struct netio_frame *f, unsigned n);
/* Enters that the engine has dropped this frame of the batch. */
void wiretap_drop(struct engine *e, const struct netio_frame *f, enum drop_reason reason);
/* Deletes the record of a frame of the batch that another engine will record. */
void wiretap_hand_over(struct engine *e, const struct netio_frame *f);
/* Calls toec_input(), and enters flow and drop of the frames it consists of: f, or if f is NULL the
 * chain of gro.h. */
void wiretap_input(struct engine *e, const struct toec_packet *p, const struct netio_frame *f);
/* The same for a frame that is in no batch: records it first. local: looped back; else from another
 * engine, and its VLAN tag was removed. */
void wiretap_input_alone(struct engine *e, const struct toec_packet *p, int local);
/* Ends the batch: its records become visible. */
void wiretap_end_batch(struct engine *e);
/* Records a frame to send. owner: of its flow, or NULL. */
void wiretap_send(struct engine *e, const struct netio_frame *f, const void *owner);
/* Records a frame that is not sent. hdr_len bytes of header, and the payload. */
void wiretap_unsent(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p,
                    enum drop_reason reason);

/* Returns whether a capture is attached. */
static inline int wiretap_on(const struct engine *e)
{
    return __builtin_expect(e->wiretap != NULL, 0);
}

/* Passes a frame to the back end. */
static inline void wiretap_submit(struct engine *e, const struct netio_frame *f, const void *owner)
{
    if (wiretap_on(e))
        wiretap_send(e, f, owner);
    netio_tx_submit(e->netio, f, e->now);
}

#endif
