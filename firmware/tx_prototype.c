/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_prototype.c - sends a frame as S2's prototype does (its Figure 6): a slot of the MAU, payload
 * by the DFU, its sum by the PCU. The processor copies the headers while the DFU copies the
 * payload.
 */
#include "tx.h"

#define SLOT_LOG 11

static void fetch(uint32_t host, uint32_t length, uint32_t to)
{
    TX_REG(DFU_HOST_LOW) = host;
    TX_REG(DFU_LENGTH) = length;
    TX_REG(DFU_GO) = to;
}

/* Completes the checksum and sends the slot. */
static void leave(const struct toec_tx *tx, uint32_t slot, uint32_t sum)
{
    uint8_t *frame = (uint8_t *)slot;

    TX_STEP(TX_LEAVE);
    if (tx->csum_start)
        *(uint16_t *)(void *)(frame + tx->csum_start + tx->csum_offset) = (uint16_t)~tx_fold(sum);
    TX_REG(LEAVE_LENGTH) = tx->hdr_len + tx->len;
    TX_REG(LEAVE) = slot;
    TX_STEP(TX_AFTER);
}

uint32_t tx_frame(const struct toec_tx *tx, const struct tx_piece piece[2])
{
    uint32_t slot, sum, index, at, psum;

    TX_STEP(TX_SLOT);
    slot = TX_REG(ADDRESS);
    if (!slot) /* READY is 0 */
        return TX_FULL;
    index = slot >> SLOT_LOG & 15;
    at = slot + tx->hdr_len;
    TX_STEP(TX_FETCH);
    if (tx->len) {
        if (piece[1].len) {
            fetch(piece[0].at, piece[0].len | HYB_REGS__DFU_LENGTH__MORE_bm, at);
            fetch(piece[1].at, piece[1].len, at + piece[0].len);
        } else
            fetch(piece[0].at, tx->len, at);
    }
    TX_STEP(TX_HEADERS);
    sum = tx_copy_headers((uint8_t *)slot, tx);
    TX_STEP(TX_WAIT);
    if (tx->len) {
        while (!(TX_REG(DMA_DONE) >> index & 1))
            ;
        psum = (&TX_REG(PSUM))[index];
        if (psum & HYB_REGS__PSUMX__ERROR_bm) {
            TX_REG(FREE) = slot;
            return TX_REFUSED;
        }
        sum = tx_fold(sum) + psum;
    }
    leave(tx, slot, sum);
    return slot;
}

uint32_t tx_frame_near(const struct toec_tx *tx, const void *payload)
{
    uint32_t slot = TX_REG(ADDRESS), sum;
    uint8_t *frame = (uint8_t *)slot;

    if (!slot)
        return TX_FULL;
    sum = tx_copy_headers(frame, tx);
    sum = tx_copy_sum(frame + tx->hdr_len, payload, tx->len, sum);
    leave(tx, slot, sum);
    return slot;
}
