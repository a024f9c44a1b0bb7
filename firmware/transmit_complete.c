/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transmit_complete.c - the complete configuration (S2.10): headers by hardware (F1, F2), and a
 * command goes straight into TCP (F4). Frames that the header unit does not build, such as those
 * with SACK, leave as in the prototype.
 */
#include "soc.h"
#include "transmit_units.h"

static int send_segment(void *user, const struct toec_tx_segment *g)
{
    const struct agent *a = g->owner;
    uint32_t sent;

    (void)user;
    if (a->at.slot == NO_SLOT)
        return TOEC_SEGMENT_BUILD;
    sent = tx_header_send(&a->header, g, g->off);
    return sent == TX_FULL ? -1 : sent == TX_REFUSED ? TOEC_SEGMENT_BUILD : 0;
}

static const struct toec_tx_segment_ops segments = {send_segment, 1};
const struct toec_tx_segment_ops *const transmit_segments = &segments;
const uint32_t transmit_burst = BURST;

void transmit_check(void)
{
    if (soc_units() != (SOC_SEND | SOC_HEADERS))
        soc_fail("this image is the complete configuration's, and the design has no header unit: "
                 "hyb_toe_sim_complete has it");
}

void transmit_now(struct agent *a)
{
    if (a->flow)
        toec_output_flow(toe.stack, a->flow, toe.now);
}

/* An agent without a slot has no template: its flow is about to be reset. */
void transmit_learn(struct agent *a, const struct toec_tx *tx)
{
    if (a->at.slot != NO_SLOT)
        tx_header_learn(&a->header,
                        transmit_host(a) | (uint32_t)(toe.qps[a->at.qp].first + a->at.slot), tx);
}
