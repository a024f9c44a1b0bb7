/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refs.h - payload to send that lies in the program's memory and not in the slot's send buffer
 * (SEEDS S4.4). Only of a host within the engine's own thread: nobody else's memory is to be seen.
 *
 * A reference stands for bytes of the send stream, and takes the room in the send buffer that they
 * would; their place in it is not used. It ends when they are acknowledged, when the flow is gone,
 * or when the bytes are copied into their place after all (refs_settle()).
 */
#ifndef ENGINE_REFS_H
#define ENGINE_REFS_H

#include "qp.h"

struct ref;

/* Of a slot: a ring in the order of the stream. */
struct refs {
    uint32_t head, count, size;
    struct ref *ring;
};

/* Has the slot any? */
static inline int refs_any(const struct slot *s)
{
    return s->refs && s->refs->count;
}
/* The n bytes of s's stream from offset off on, which SEND is to announce, lie at data. 0, or -1
 * when it cannot be noted, or is no part of what may be announced: nothing has changed. */
int refs_add(struct slot *s, uint32_t off, const uint8_t *data, uint32_t n);
/* s->una has moved. */
void refs_acked(struct slot *s);
/* Copies what is referred to into the send buffer. */
void refs_settle(struct slot *s);
/* Forgets all: the bytes are not wanted any more. */
void refs_drop(struct slot *s);
void refs_free(struct slot *s);
/* Where the n bytes from offset off on lie; gathered in memory of the engine if they lie in more
 * places than a frame may have. */
void refs_payload(struct engine *e, const struct slot *s, uint32_t off, uint32_t n,
                  struct offload_payload *p);

#endif
