/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transmit_software.c - frames of core/ without units (S2.9's second column): slots in turn,
 * hardware moves payload from the send buffer, the processor copies headers and sums all.
 */
#include <stddef.h>

#include "soc.h"
#include "sum.h"
#include "toe.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n);

const struct toec_tx_segment_ops *const transmit_segments = 0;
const uint32_t transmit_burst = 0;

void transmit_check(void)
{
    if (soc_units())
        soc_fail("this image is the software-only configuration's, and the design has units: "
                 "hyb_toe_sim is the one without");
}

void transmit_now(struct agent *a)
{
    (void)a;
}

/* Completes the checksum of TCP or ICMP. */
static void finish(const struct toec_tx *tx, uint8_t *frame, uint32_t length)
{
    uint8_t *to = frame + tx->csum_start + tx->csum_offset;
    uint16_t sum;

    if (tx->csum_start == 0)
        return;
    sum = (uint16_t)~sum_bytes(frame + tx->csum_start, length - tx->csum_start);
    memcpy(to, &sum, 2);
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    const struct agent *a = tx->owner;
    uint8_t *slot = host_slot();

    (void)user;
    if (!slot)
        return -1;
    if (tx->hdr_len + tx->len > HOST_FRAME)
        return 0; /* no link has such frames: toec_config.mtu bounds them */
    memcpy(slot, tx->hdr, tx->hdr_len);
    if (tx->src)
        memcpy(slot + tx->hdr_len, tx->src->data + tx->off, tx->len);
    else if (tx->len && (a->at.slot == NO_SLOT ||
                         host_fetch(a->at, tx->off, tx->len, slot + tx->hdr_len) != 0))
        return 0; /* its queue pair leaves: the connection is reset next */
    finish(tx, slot, tx->hdr_len + tx->len);
    host_send(tx->hdr_len + tx->len);
    return 0;
}
