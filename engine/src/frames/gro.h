/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gro.h - joins in-order segments of one flow that arrived in one batch, so that core/ sees one
 * (Generic Receive Offload, as Linux has it). Payload is not moved: what is joined is a chain of
 * the frames' parts.
 */
#ifndef ENGINE_GRO_H
#define ENGINE_GRO_H

#include <toe/core.h>
#include <toe/netio.h>

#define GRO_PARTS 64u /* frames of a batch */
#define GRO_FLOWS 8u  /* joined at once (as Linux); one of them goes when another comes */

/* What toec_packet.opaque of a joined packet points to: its bytes in order, headers in the first.
 */
struct gro_chain {
    uint32_t count;
    struct netio_ref part[GRO_PARTS];
    const struct netio_frame *frame[GRO_PARTS]; /* whose they are */
};

/* A frame, or several in one (f NULL), for the stack. Valid during the call. */
typedef void gro_deliver_fn(void *arg, const struct toec_packet *p, const struct netio_frame *f);

/* A flow's segments so far. */
struct gro_flow {
    struct gro_chain chain;
    uint8_t *frame; /* the first */
    uint32_t l4;    /* offset of its TCP header, */
    uint32_t head;  /* ... of its payload, */
    uint32_t end;   /* ... of what follows that (padding) */
    uint32_t next;  /* sequence number of what would follow */
    uint32_t total; /* bytes up to the end of the last payload */
    uint32_t size;  /* payload of the first */
    uint32_t len;   /* length of the first frame, and its flags */
    uint32_t flags;
    uint8_t id_fixed; /* IPv4: identifications do not count up */
};

struct gro {
    gro_deliver_fn *deliver;
    void *arg;
    uint64_t merged;
    uint32_t count;           /* of flows, */
    uint8_t order[GRO_FLOWS]; /* ... which are those of the first count indices here */
    struct gro_flow flow[GRO_FLOWS];
};

/* One batch: begin, its frames (at most GRO_PARTS), end. Frames stay valid and in place until then;
 * headers of those joined are changed. What is not joined is delivered as it came; frames of one
 * flow stay in order. */
void gro_begin(struct gro *g, gro_deliver_fn *deliver, void *arg);
void gro_frame(struct gro *g, const struct netio_frame *f);
void gro_end(struct gro *g);

/* Bytes [off, off + len) of p into dst, joined or not. */
void gro_copy(void *dst, const struct toec_packet *p, uint32_t off, uint32_t len);

#endif
