/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c - computes the layout of a queue pair's DMA area (docs/device-contract.md, Pieces).
 *
 * Both sides compute this from the same six numbers, so no offset is ever passed between them.
 */
#include <toe/device.h>

/* Returns whether v is a power of two within [low, high]. */
static int pow2_within(uint32_t v, uint32_t low, uint32_t high)
{
    return v >= low && v <= high && (v & (v - 1)) == 0;
}

static uint64_t page_up(uint64_t v)
{
    return (v + TOEDEV_PAGE - 1) & ~(uint64_t)(TOEDEV_PAGE - 1);
}

int toedev_layout(const struct toedev_qp_config *cfg, struct toedev_layout *out)
{
    uint64_t at = 0;

    if (!pow2_within(cfg->sw_entries, TOEDEV_SW_ENTRIES_MIN, TOEDEV_SW_ENTRIES_MAX) ||
        !pow2_within(cfg->hw_entries, TOEDEV_HW_ENTRIES_MIN, TOEDEV_HW_ENTRIES_MAX) ||
        !pow2_within(cfg->slots, 1, TOEDEV_SLOTS_MAX) ||
        !pow2_within(cfg->tx_size, TOEDEV_BUFFER_MIN, TOEDEV_BUFFER_MAX) ||
        !pow2_within(cfg->rx_size, TOEDEV_BUFFER_MIN, TOEDEV_BUFFER_MAX) ||
        (cfg->addresses && !pow2_within(cfg->addresses, 1, TOEDEV_ADDRESSES_MAX)))
        return -1;

    out->doorbells = at;
    at += TOEDEV_PAGE;
    out->status = at;
    at += TOEDEV_PAGE;
    out->sw_ring = at;
    at = page_up(at + (uint64_t)cfg->sw_entries * sizeof(struct toe_cmd));
    out->hw_ring = at;
    at = page_up(at + (uint64_t)cfg->hw_entries * sizeof(struct toe_cmd));
    out->records = at;
    at = page_up(at + (uint64_t)cfg->slots * TOEDEV_RECORD);
    out->addresses = at;
    at = page_up(at + (uint64_t)cfg->addresses * TOEDEV_ADDRESS_ENTRY);
    out->buffers = at;
    out->stride = (uint64_t)cfg->tx_size + cfg->rx_size;
    out->total = at + cfg->slots * out->stride;
    return 0;
}

int toedev_layout_inside(const struct toedev_qp_config *cfg, struct toedev_layout *out)
{
    if (toedev_layout(cfg, out) != 0)
        return -1;
    out->stride += TOEDEV_LINE;
    out->total = out->buffers + cfg->slots * out->stride;
    return 0;
}
