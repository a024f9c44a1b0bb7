/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transmit_prototype.c - frames of core/ by the units of the prototype (tx.h), behind the device
 * contract: hyb_buffers.sv gives the DFU the send buffers of queue pairs, and nothing else, to
 * read.
 */
#include "soc.h"
#include "toe.h"
#include "tx.h"

/* The upper half of an address of hyb_buffers.sv; the lower one is an offset in the stream, and
 * wraps around the end of the send buffer there. */
#define SLOT_BIT 16
#define QP_BIT   8

void transmit_check(void)
{
    if (!soc_units())
        soc_fail("this image is the prototype's, and the design has no MAU, DFU and PCU: "
                 "hyb_toe_sim_prototype has them");
}

static uint32_t send(const struct toec_tx *tx)
{
    const struct agent *a = tx->owner;
    struct tx_piece piece[2] = {{tx->off, tx->len}, {0, 0}};

    if (tx->src)
        return tx_frame_near(tx, tx->src->data + tx->off);
    if (tx->len) {
        if (a->at.slot == NO_SLOT)
            return TX_REFUSED;
        TX_REG(DFU_HOST_HIGH) = (uint32_t)a->at.slot << SLOT_BIT | (uint32_t)a->at.qp << QP_BIT;
    }
    return tx_frame(tx, piece);
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    (void)user;
    if (tx->hdr_len + tx->len > HOST_FRAME)
        return 0; /* no link has such frames: toec_config.mtu bounds them */
    /* A refused frame counts as sent: host memory has failed, and a retransmission tries again, or
     * the queue pair leaves, and the connection is reset next. */
    return send(tx) == TX_FULL ? -1 : 0;
}
