/* SPDX-License-Identifier: Apache-2.0 */
/* transmit_prototype.c - the prototype: core/ builds all headers, and sends in its rounds. */
#include "soc.h"
#include "transmit_units.h"

const struct toec_tx_segment_ops *const transmit_segments = 0;
const uint32_t transmit_burst = BURST;

void transmit_check(void)
{
    if (soc_units() != SOC_SEND)
        soc_fail("this image is the prototype's, and the design has other units than MAU, DFU and "
                 "PCU: hyb_toe_sim_prototype has these");
}

void transmit_now(struct agent *a)
{
    (void)a;
}

void transmit_learn(struct agent *a, const struct toec_tx *tx)
{
    (void)a;
    (void)tx;
}
