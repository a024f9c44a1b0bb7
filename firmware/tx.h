/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx.h - builds a frame in a slot of the packet buffer and sends it (hyb_send.sv). Two
 * implementations: tx_prototype.c uses the MAU, the DFU and the PCU (S2.6), tx_software.c nothing
 * but the slots' memory and the way out. An image links one of them.
 */
#ifndef TX_H
#define TX_H

#include <stddef.h>
#include <stdint.h>

#include <toe/hyb_regs.h>

#include "toe_core.h"

/* A register as a word: the generated structure is packed, so a compiler would access bytes. */
#define TX_REG(NAME) (*(volatile uint32_t *)(0x40000000u + offsetof(hyb_regs_t, NAME)))

/* The steps of a send, for MARKER. Images without MARKED do not write it. */
enum tx_step {
    TX_OUTSIDE,
    TX_COMMAND, /* SEND: the bytes are core/'s */
    TX_POLL,    /* core/ decides and makes headers */
    TX_SLOT,
    TX_FETCH,   /* payload: the DFU starts, or the processor copies and sums */
    TX_HEADERS, /* into the slot, with their sum */
    TX_WAIT,    /* for the DFU */
    TX_LEAVE,
    TX_AFTER /* core/ accounts for the segment */
};
#ifdef MARKED
#define TX_STEP(STEP) (TX_REG(MARKER) = (STEP))
#else
#define TX_STEP(STEP) ((void)0)
#endif

/* Payload of a frame, in at most two pieces: a send buffer is a ring. Of the prototype, `at` is an
 * address of host memory; of software, one of data memory. */
struct tx_piece {
    uint32_t at, len;
};

/* Not addresses of slots. */
#define TX_FULL    0u /* no slot is free */
#define TX_REFUSED 1u /* host memory refused a read; the frame is dropped */

/* Sends the frame of tx with this payload, whose lengths add up to tx->len. Returns the address of
 * its slot, TX_FULL or TX_REFUSED. */
uint32_t tx_frame(const struct toec_tx *tx, const struct tx_piece piece[2]);

/* Sends the frame of tx, whose payload the processor reads itself. Returns as tx_frame() does. Of
 * tx_prototype.c only. */
uint32_t tx_frame_near(const struct toec_tx *tx, const void *payload);

#define TX_HEADER_MOST 128u /* more than those of Ethernet, IPv6 and TCP */
/* Sends a frame of core/ that is no burst. Of the image: transmit_units.c, receive.c. */
uint32_t tx_one(const struct toec_tx *tx);
/* Sends a burst, a frame with gso_size: its flow has no template. Later segments wait for slots,
 * which become free as the first ones leave. Returns as tx_frame() does. */
uint32_t tx_cut(const struct toec_tx *tx);

/* Copies n bytes and returns `sum` with them added, as a sum of little-endian 16-bit words whose
 * first is at dst: not folded, and no carry is lost. dst is even. */
uint32_t tx_copy_sum(void *dst, const void *src, uint32_t n, uint32_t sum);

/* Copies the headers of tx and returns the sum of those from csum_start on. */
uint32_t tx_copy_headers(uint8_t *frame, const struct toec_tx *tx);

/* Folds a sum to 16 bits. */
uint16_t tx_fold(uint32_t sum);

#endif
