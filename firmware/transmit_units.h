/* SPDX-License-Identifier: Apache-2.0 */
/* transmit_units.h - what transmit_units.c shares with transmit_prototype.c and
 * transmit_complete.c. */
#ifndef TRANSMIT_UNITS_H
#define TRANSMIT_UNITS_H

#include "toe.h"
#include "tx.h"

/* The upper half of an address of hyb_buffers.sv; the lower one is an offset in the stream, and
 * wraps around the end of the send buffer there. */
#define SLOT_BIT 16
#define QP_BIT   8

/* Less than the slots hold: the last segments of a burst find one while the first ones leave. */
#define BURST 16384u

static inline uint32_t transmit_host(const struct agent *a)
{
    return (uint32_t)a->at.slot << SLOT_BIT | (uint32_t)a->at.qp << QP_BIT;
}

/* Takes notice of the headers of a frame that core/ sends for this agent. */
void transmit_learn(struct agent *a, const struct toec_tx *tx);

#endif
