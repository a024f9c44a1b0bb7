/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transmit_units.c - frames of core/ by MAU, DFU and PCU (tx.h), behind the device contract:
 * hyb_buffers.sv gives the DFU the send buffers of queue pairs, and nothing else, to read. Of the
 * prototype and of the complete configuration.
 */
#include "transmit_units.h"

#define HEADERS 128u /* more than those of Ethernet, IPv6 and TCP */

static uint32_t send(const struct toec_tx *tx)
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

/* Sends a burst to which core/ has given headers: its flow has no template. Later segments wait for
 * slots, which become free as the first ones leave. */
static uint32_t send_cut(const struct toec_tx *tx)
{
    uint8_t hdr[HEADERS];
    struct toec_tx one = *tx;
    uint32_t at, sent = TX_FULL;

    one.hdr = hdr;
    one.gso_size = 0;
    for (at = 0; at < tx->len; at += one.len) {
        one.off = tx->off + at;
        one.len = tx->len - at < tx->gso_size ? tx->len - at : tx->gso_size;
        toec_tx_cut(tx, at, one.len, hdr);
        do
            sent = send(&one);
        while (sent == TX_FULL && at);
        if (sent == TX_FULL || sent == TX_REFUSED)
            break;
    }
    return sent;
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    uint32_t sent;

    (void)user;
    if (tx->hdr_len > HEADERS || (!tx->gso_size && tx->hdr_len + tx->len > HOST_FRAME))
        return 0; /* no link has such frames: toec_config.mtu bounds them */
    if (tx->owner)
        transmit_learn(tx->owner, tx);
    /* A refused frame counts as sent: host memory has failed, and a retransmission tries again, or
     * the queue pair leaves, and the connection is reset next. */
    sent = tx->gso_size ? send_cut(tx) : send(tx);
    return sent == TX_FULL ? -1 : 0;
}
