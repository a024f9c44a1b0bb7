/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gro.h - joins in-order segments of one flow that arrived in one batch, so that core/ processes
 * one (Generic Receive Offload, as in Linux). Payload is not moved: the joined packet is a chain of
 * the frames' parts.
 */
#ifndef ENGINE_GRO_H
#define ENGINE_GRO_H

#include <toe/core.h>
#include <toe/netio.h>

#define GRO_PARTS 64u /* frames of a batch */
#define GRO_FLOWS 8u  /* joined at once (as in Linux); a new flow evicts one of them */

/* Target of toec_packet.opaque of a joined packet: its bytes in order, with the headers in the
 * first part. */
struct gro_chain {
    uint32_t count;
    struct netio_ref part[GRO_PARTS];
    const struct netio_frame *frame[GRO_PARTS]; /* the frame of each part */
};

/* Delivers one frame, or several joined ones (f NULL), to the stack. Valid during the call. */
typedef void gro_deliver_fn(void *arg, const struct toec_packet *p, const struct netio_frame *f);

/* A flow's segments so far. */
struct gro_flow {
    struct gro_chain chain;
    uint8_t *frame; /* the first */
    uint32_t l4;    /* offset of its TCP header; */
    uint32_t head;  /* ... of its payload; */
    uint32_t end;   /* ... of the end of its payload (padding follows) */
    uint32_t next;  /* expected sequence number of the next segment */
    uint32_t total; /* bytes up to the end of the last payload */
    uint32_t size;  /* payload bytes of the first */
    uint32_t len;   /* length of the first frame, and its flags */
    uint32_t flags;
    uint8_t id_fixed; /* IPv4: the identification does not increment */
};

struct gro {
    gro_deliver_fn *deliver;
    void *arg;
    uint64_t merged;
    uint32_t count;           /* flows in use; */
    uint8_t order[GRO_FLOWS]; /* their indices: the first `count` entries */
    struct gro_flow flow[GRO_FLOWS];
};

/* Handles one batch: gro_begin(), then gro_frame() for each frame (at most GRO_PARTS), then
 * gro_end(). Frames must stay valid and in place until gro_end(). Headers of joined frames are
 * modified. Other frames are delivered unchanged. Frames of one flow stay in order. */
void gro_begin(struct gro *g, gro_deliver_fn *deliver, void *arg);
void gro_frame(struct gro *g, const struct netio_frame *f);
void gro_end(struct gro *g);

/* Copies bytes [off, off + len) of p to dst, whether p is joined or not. */
void gro_copy(void *dst, const struct toec_packet *p, uint32_t off, uint32_t len);

#endif
