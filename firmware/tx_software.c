/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_software.c - sends a frame without MAU, DFU and PCU (S2.9's second column): slots in turn,
 * payload copied and summed by the processor.
 */
#include "tx.h"

#define SLOTS_AT 0x30000000u
#define SLOTS    16
#define SLOT_LOG 11

uint32_t tx_frame(const struct toec_tx *tx, const struct tx_piece piece[2])
{
    static uint32_t sent;
    uint8_t *frame;
    uint32_t sum;

    TX_STEP(TX_SLOT);
    /* Slots leave in the order in which they were sent. */
    if (sent - TX_REG(LEFT) >= SLOTS)
        return TX_FULL;
    frame = (uint8_t *)(SLOTS_AT + (sent++ % SLOTS << SLOT_LOG));
    TX_STEP(TX_HEADERS);
    sum = tx_copy_headers(frame, tx);
    TX_STEP(TX_FETCH);
    if (tx->len)
        sum = tx_copy_sum(frame + tx->hdr_len, (const void *)piece[0].at, piece[0].len, sum);
    if (tx->len && piece[1].len) {
        uint8_t *to = frame + tx->hdr_len + piece[0].len;
        const uint8_t *from = (const void *)piece[1].at;
        uint32_t n = piece[1].len;

        if (piece[0].len & 1) { /* its first byte is the upper one of a word */
            *to++ = *from;
            sum = tx_fold(sum) + ((uint32_t)*from++ << 8);
            n--;
        }
        sum = tx_copy_sum(to, from, n, sum);
    }
    TX_STEP(TX_LEAVE);
    if (tx->csum_start)
        *(uint16_t *)(void *)(frame + tx->csum_start + tx->csum_offset) = (uint16_t)~tx_fold(sum);
    TX_REG(LEAVE_LENGTH) = tx->hdr_len + tx->len;
    TX_REG(LEAVE) = (uint32_t)frame;
    TX_STEP(TX_AFTER);
    return (uint32_t)frame;
}
