/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refs.h - payload that is sent from the program's memory instead of the slot's send buffer (SEEDS
 * S4.4). Only for a host within the engine's own thread: the memory of other processes is not
 * accessible.
 *
 * A reference represents bytes of the send stream. It reserves their room in the send buffer, which
 * stays unused. It ends when the bytes are acknowledged, when the flow ends, or when the bytes are
 * copied into the reserved room after all (refs_settle()).
 */
#ifndef ENGINE_REFS_H
#define ENGINE_REFS_H

#include "qp.h"

struct ref;

/* The references of a slot: a ring in stream order. */
struct refs {
    uint32_t head, count, size;
    struct ref *ring;
};

/* Returns whether the slot has references. */
static inline int refs_any(const struct slot *s)
{
    return s->refs && s->refs->count;
}
/* Adds a reference: the n bytes of s's stream at offset off, to be announced by SEND, are at data.
 * Returns 0, or -1 with nothing changed: no memory, or the bytes are outside what may be
 * announced. */
int refs_add(struct slot *s, uint32_t off, const uint8_t *data, uint32_t n);
/* Called when s->una has advanced. */
void refs_acked(struct slot *s);
/* Copies all referenced bytes into the send buffer. */
void refs_settle(struct slot *s);
/* Drops all references: the bytes are no longer needed. */
void refs_drop(struct slot *s);
void refs_free(struct slot *s);
/* Returns references to the n bytes at offset off, gathered in the engine's memory if they have
 * more parts than a frame may have. */
void refs_payload(struct engine *e, const struct slot *s, uint32_t off, uint32_t n,
                  struct offload_payload *p);

#endif
