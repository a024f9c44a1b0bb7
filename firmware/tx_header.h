/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_header.h - segments whose headers hyb_header.sv builds: the complete configuration. The first
 * frame of a flow has headers of core/, and they become the flow's template.
 */
#ifndef TX_HEADER_H
#define TX_HEADER_H

#include <stdint.h>

#include "toe_core.h"

/* The template of a flow; all zero: there is none yet. */
struct tx_header {
    uint32_t flow;    /* HEADER_FLOW without timestamps */
    uint32_t mac_low; /* of the next hop, for which the template was written */
    uint16_t mac_high;
    uint8_t hops, known;
};

/* Writes the flow's template from the headers of a frame, if they differ from those that it was
 * written from. `flow`: HEADER_FLOW without v6 and stamps. */
void tx_header_learn(struct tx_header *h, uint32_t flow, const struct toec_tx *tx);

/* Sends the segment, its payload at this address (DFU_HOST_LOW); a burst in segments, for which it
 * waits until slots are free. Returns the address of the slot, of a burst the last one's; TX_FULL,
 * and nothing is sent; or TX_REFUSED: the flow has no template for it. */
uint32_t tx_header_send(const struct tx_header *h, const struct toec_tx_segment *g, uint32_t from);

#endif
