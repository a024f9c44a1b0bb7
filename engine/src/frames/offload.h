/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload.h - offloads: checksums, segmentation (TSO, GSO) and joining (LRO, GRO), each done by the
 * back end or by the engine in software. Each can be switched while traffic flows, by its name in
 * ethtool. See docs/OFFLOADS.md.
 */
#ifndef ENGINE_OFFLOAD_H
#define ENGINE_OFFLOAD_H

#include <toe/core.h>
#include <toe/netio.h>

struct engine;

/* The first six belong to the back end (NETIO_O_*). The others are the engine's and always
 * offered. */
#define OFFLOAD_RX_CSUM NETIO_O_RX_CSUM
#define OFFLOAD_TX_CSUM NETIO_O_TX_CSUM
#define OFFLOAD_SG      NETIO_O_SG
#define OFFLOAD_TSO     NETIO_O_TSO
#define OFFLOAD_LRO     NETIO_O_LRO
#define OFFLOAD_RXHASH  NETIO_O_RSS
#define OFFLOAD_GSO     256u
#define OFFLOAD_GRO     512u
#define OFFLOAD_ALL                                                                                \
    (OFFLOAD_RX_CSUM | OFFLOAD_TX_CSUM | OFFLOAD_SG | OFFLOAD_TSO | OFFLOAD_LRO | OFFLOAD_RXHASH | \
     OFFLOAD_GSO | OFFLOAD_GRO)
#define OFFLOAD_COUNT 8u

struct offload_name {
    uint32_t bit;
    const char *name, *word; /* "tcp-segmentation-offload", "tso" */
};
extern const struct offload_name offload_names[OFFLOAD_COUNT];

/* Returns the bit of a name or word of len characters; 0: unknown. */
uint32_t offload_find(const char *text, size_t len);
/*
 * Parses text such as "tso=off,gro=on": stores the bits named in *changed, and those switched on in
 * *on. Returns 0, or -1 with a message in err.
 */
int offload_parse(const char *text, uint32_t *changed, uint32_t *on, char *err, size_t err_size);

#define OFFLOAD_TCP_SUM 16u /* checksum offset in TCP; others are rare and summed in software */

#define OFFLOAD_HDR_MAX 256u

struct offload {
    uint32_t offered; /* by back end and engine */
    uint32_t wanted;  /* asked for */
    uint32_t active;  /* in use: offered and wanted, as are the offloads they depend on */
    /* The rest of a frame split in software, for which the back end had no room. */
    uint8_t *held;
    uint32_t held_at, held_len; /* payload bytes sent, and in all; equal: nothing is held */
    struct toec_tx held_tx;
    uint8_t held_hdr[OFFLOAD_HDR_MAX];
    uint8_t *gathered; /* payload gathered from too many parts (refs.c); NULL until needed */
};

/* The most payload that core/ may send at once: with headers, the length fits in 16 bits. */
#define GSO_MAX 61440u

/* Payload of a frame to send: one part, two where the send buffer wraps, or more by reference. */
struct offload_payload {
    struct netio_ref ref[NETIO_REFS_MAX];
    unsigned count;
};

/* Smallest payload of one segment that is sent by reference; copying less is cheaper. */
#define OFFLOAD_REFER 2048u

/* Returns whether this frame of one segment, just allocated by netio_tx_alloc(), may refer to its n
 * bytes of payload. The back end must compute the checksum, as the engine does not read the
 * payload. */
static inline int offload_may_refer(const struct toec_tx *tx, uint32_t n,
                                    const struct netio_frame *f)
{
    const uint32_t need = NETIO_F_SG | NETIO_F_CSUM_PARTIAL;

    return n >= OFFLOAD_REFER && (f->flags & need) == need && tx->csum_offset == OFFLOAD_TCP_SUM;
}

/* All run in the engine's thread, except offload_init(), which engine_new() calls. */
int offload_init(struct engine *e, uint32_t wanted);
void offload_free(struct engine *e);
void offload_set(struct engine *e, uint32_t wanted);
/* Returns non-zero while the rest of a frame is held; it must be sent before anything else. */
static inline int offload_holds(const struct offload *o)
{
    return o->held_at != o->held_len;
}
/* Sends the held rest. Returns 0 when nothing is held any more. */
int offload_push(struct engine *e);
/* Completes a frame of one segment whose header is at f->data: copies the n bytes of payload at
 * offset `from`, and computes the checksum or leaves it to the back end. Clears the flags that
 * netio_tx_alloc() set and this frame does not use. */
void offload_fill(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p,
                  uint32_t from, uint32_t n, struct netio_frame *f);
/* Sends a frame of one segment whose header is at f->data, its payload by reference. */
void offload_refer(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p,
                   struct netio_frame *f);
/* Sends a frame of several segments (tx->gso_size). Returns the same as toec_port_transmit(). */
int offload_send(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p);

#endif
