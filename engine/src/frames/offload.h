/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload.h - what is left to the back end, and what is done here in its stead: checksums,
 * segmentation (GSO) and joining (GRO). Each can be switched while traffic flows, by the names
 * ethtool has for it. docs/OFFLOADS.md
 */
#ifndef ENGINE_OFFLOAD_H
#define ENGINE_OFFLOAD_H

#include <toe/core.h>
#include <toe/netio.h>

struct engine;

/* The first six are the back end's (NETIO_O_*), the others ours and so always offered. */
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

/* The bit a name or word (of len characters) stands for; 0: none. */
uint32_t offload_find(const char *text, size_t len);
/*
 * Reads "tso=off,gro=on": the bits named into *changed, those switched on into *on. Returns 0, or
 * -1 with a sentence in err.
 */
int offload_parse(const char *text, uint32_t *changed, uint32_t *on, char *err, size_t err_size);

#define OFFLOAD_TCP_SUM 16u /* where TCP has its checksum: others are seldom, and computed here */

#define OFFLOAD_HDR_MAX 256u

struct offload {
    uint32_t offered; /* by back end and engine */
    uint32_t wanted;  /* asked for */
    uint32_t active;  /* in use: offered and wanted, and what they need is, too */
    /* The rest of a frame cut in software for which the back end had no room. */
    uint8_t *held;
    uint32_t held_at, held_len; /* payload sent, all; equal: nothing is held */
    struct toec_tx held_tx;
    uint8_t held_hdr[OFFLOAD_HDR_MAX];
    uint8_t *gathered; /* payload from too many places (refs.c); NULL until it may be needed */
};

/* What core/ may hand over at once: its headers and this fit 16 bits of length. */
#define GSO_MAX 61440u

/* Payload of a frame to send: a part, two where the send buffer wraps around, or more by
 * reference. */
struct offload_payload {
    struct netio_ref ref[NETIO_REFS_MAX];
    unsigned count;
};

/* Payload of one segment that is worth a reference: less is copied, as that is cheaper. */
#define OFFLOAD_REFER 2048u

/* May this frame of one segment, just had of netio_tx_alloc(), refer to its n bytes of payload? The
 * back end must make its checksum, as nobody else sees all of it. */
static inline int offload_may_refer(const struct toec_tx *tx, uint32_t n,
                                    const struct netio_frame *f)
{
    const uint32_t need = NETIO_F_SG | NETIO_F_CSUM_PARTIAL;

    return n >= OFFLOAD_REFER && (f->flags & need) == need && tx->csum_offset == OFFLOAD_TCP_SUM;
}

/* In the engine's thread, but engine_new() for the first. */
int offload_init(struct engine *e, uint32_t wanted);
void offload_free(struct engine *e);
void offload_set(struct engine *e, uint32_t wanted);
/* Not 0 while something is held: nothing else goes out before it. */
static inline int offload_holds(const struct offload *o)
{
    return o->held_at != o->held_len;
}
/* Tries again; 0 when nothing is held any more. */
int offload_push(struct engine *e);
/* Completes a frame of one segment whose header stands at f->data: n bytes of payload from offset
 * `from`, copied, and the checksum, or the back end is asked for it. The flags that
 * netio_tx_alloc() set and this frame does not use are taken away. */
void offload_fill(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p,
                  uint32_t from, uint32_t n, struct netio_frame *f);
/* Sends a frame of one segment whose header stands at f->data, its payload by reference. */
void offload_refer(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p,
                   struct netio_frame *f);
/* Sends a frame of several segments (tx->gso_size). As toec_port_transmit(). */
int offload_send(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p);

#endif
