/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - how an engine polls a back end whose flush is a system call. There, what arrives
 * together is cheaper to answer together, and a poll that finds nothing takes the ring's cache line
 * from the sender that is filling it. So with batches of several frames the polls are apart; and a
 * stream to this host, which sends only acknowledgements, is received until it pauses before it is
 * answered. With one frame at a time nothing changes.
 */
#ifndef ENGINE_BATCH_H
#define ENGINE_BATCH_H

#include "frames/engine_state.h"

#define BATCH_ONE     16u   /* in engine.recent: one frame per batch */
#define BATCH_REST    1500u /* ns between polls: less than the kernel takes for two frames */
#define STREAM_FRAMES 64u   /* so many full frames without a SEND are a stream */
#define STREAM_FULL   1000u /* bytes of a full frame, on average */
#define STREAM_REST   700u  /* ns between polls within a burst, */
#define STREAM_LOOKS  6u    /* ... and polls without a frame that end it */
#define STREAM_MOST   64u   /* frames of a burst */

/* Notes a received batch of n > 0 frames with so many bytes. */
static inline void batch_note(struct engine *e, unsigned n, uint64_t bytes)
{
    e->recent += BATCH_ONE / 4 * n - e->recent / 4; /* a moving average over four batches */
    if (bytes >= (uint64_t)STREAM_FULL * n)
        e->stream += e->stream < STREAM_FRAMES ? n : 0;
}

/* Returns the pause between two polls that find nothing, in ns; 0: as short as possible. */
static inline uint32_t batch_rest(const struct engine *e)
{
    return e->flush_calls && e->recent > BATCH_ONE + BATCH_ONE / 2 ? BATCH_REST : 0;
}

/* Returns whether the engine receives a stream. */
static inline int batch_streams(const struct engine *e)
{
    return e->flush_calls && e->stream >= STREAM_FRAMES;
}

#endif
