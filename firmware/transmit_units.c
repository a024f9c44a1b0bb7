/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transmit_units.c - frames of core/ by MAU, DFU and PCU (tx.h), behind the device contract:
 * hyb_buffers.sv gives the DFU the send buffers of queue pairs, and nothing else, to read. Of the
 * prototype and of the complete configuration.
 */
#include "transmit_units.h"

uint32_t tx_one(const struct toec_tx *tx)
{
    const struct agent *a = tx->owner;
    struct tx_piece piece[2] = {{tx->off, tx->len}, {0, 0}};

    if (tx->src)
        return tx_frame_near(tx, tx->src->data + tx->off);
    if (tx->len) {
        if (a->at.slot == NO_SLOT)
            return TX_REFUSED;
        TX_REG(DFU_HOST_HIGH) = transmit_host(a);
    }
    return tx_frame(tx, piece);
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    uint32_t sent;

    (void)user;
    if (tx->hdr_len > TX_HEADER_MOST || (!tx->gso_size && tx->hdr_len + tx->len > HOST_FRAME))
        return 0; /* no link has such frames: toec_config.mtu bounds them */
    if (tx->owner)
        transmit_learn(tx->owner, tx);
    /* A refused frame counts as sent: host memory has failed, and a retransmission tries again, or
     * the queue pair leaves, and the connection is reset next. */
    sent = tx->gso_size ? tx_cut(tx) : tx_one(tx);
    return sent == TX_FULL ? -1 : 0;
}
