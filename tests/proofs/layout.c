/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c - any configuration of a queue pair: if accepted, its parts follow one another without
 * overlap, and every slot's buffers lie within the area.
 */
#include "proof.h"

#include "../../device/src/layout.c"

#include <toe/ring.h>

void proof(void)
{
    struct toedev_qp_config c;
    struct toedev_layout l;
    unsigned slot = nondet_u32();

    if ((nondet_u32() & 1 ? toedev_layout(&c, &l) : toedev_layout_inside(&c, &l)) != 0)
        return;
    PROVE(l.doorbells < l.status && l.status < l.sw_ring);
    PROVE(l.hw_ring - l.sw_ring >= (uint64_t)c.sw_entries * sizeof(struct toe_cmd));
    PROVE(l.records - l.hw_ring >= (uint64_t)c.hw_entries * sizeof(struct toe_cmd));
    PROVE(l.addresses - l.records >= (uint64_t)c.slots * TOEDEV_RECORD);
    PROVE(l.buffers - l.addresses >= (uint64_t)c.addresses * TOEDEV_ADDRESS_ENTRY);
    PROVE(l.total > l.buffers && l.total < 1ull << 46);
    ASSUME(slot < c.slots);
    PROVE(toedev_tx_offset(&c, &l, slot) >= l.buffers);
    PROVE(toedev_rx_offset(&c, &l, slot) + c.rx_size <= l.total);
}
