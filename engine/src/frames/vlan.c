/* SPDX-License-Identifier: Apache-2.0 */
/* vlan.c - inserts and removes 802.1Q tags (vlan.h). */
#include <string.h>

#include "bytes.h"
#include "engine_state.h"
#include "vlan.h"
#include "wiretap.h"

#define ID_BITS 0x0fffu

/* Removes the first tag: the addresses move towards the type behind it, the payload stays where it
 * is. */
static void remove_tag(struct netio_frame *f)
{
    memmove(f->data + VLAN_TAG_LEN, f->data, VLAN_TYPE_AT);
    f->data += VLAN_TAG_LEN;
    f->len -= VLAN_TAG_LEN;
    f->cap -= VLAN_TAG_LEN;
}

/* Removes the tags of a frame of this VLAN. Returns the counter of the drop if it is of another
 * one, or EC_MAX. As on Linux, a priority tag may precede or follow that of the VLAN. */
static enum engine_counter remove_tags(struct engine *e, struct netio_frame *f, uint32_t vlan)
{
    uint32_t found = 0;

    while (vlan_is_tagged(f)) {
        uint32_t id = get16(f->data + VLAN_TYPE_AT + 2) & ID_BITS;

        if (id == 0)
            engine_count(e, EC_vlan_priority);
        else if (found || get16(f->data + VLAN_TYPE_AT) == VLAN_TYPE_STAG)
            return EC_vlan_stacked;
        else if (id != vlan)
            return EC_vlan_other;
        else
            found = id;
        remove_tag(f);
    }
    return found == vlan ? EC_MAX : EC_vlan_untagged;
}

static enum drop_reason reason_of(enum engine_counter drop)
{
    return drop == EC_vlan_other      ? DROP_vlan_other
           : drop == EC_vlan_untagged ? DROP_vlan_untagged
                                      : DROP_vlan_stacked;
}

unsigned vlan_receive(struct engine *e, struct netio_frame *f, unsigned n)
{
    const uint32_t vlan = e->cfg.vlan;
    unsigned i, kept = 0;

    for (i = 0; i < n; i++) {
        struct netio_frame other;
        enum engine_counter drop = remove_tags(e, &f[i], vlan);

        if (drop != EC_MAX) {
            engine_count(e, drop);
            if (wiretap_on(e))
                wiretap_drop(e, &f[i], reason_of(drop));
            continue;
        }
        if (kept != i) {
            other = f[kept];
            f[kept] = f[i];
            f[i] = other;
        }
        kept++;
    }
    return kept;
}

void vlan_tag(struct vlan_tx *out, const struct toec_tx *tx, uint16_t vlan)
{
    uint8_t *tag = out->hdr + VLAN_TYPE_AT;

    out->tx = *tx;
    out->tx.hdr = out->hdr;
    out->tx.hdr_len = (uint16_t)(tx->hdr_len + VLAN_TAG_LEN);
    if (tx->csum_start)
        out->tx.csum_start = (uint16_t)(tx->csum_start + VLAN_TAG_LEN);
    memcpy(out->hdr, tx->hdr, VLAN_TYPE_AT);
    put16(tag, VLAN_TYPE_TAG);
    put16(tag + 2, vlan); /* priority 0, not eligible for dropping */
    memcpy(tag + VLAN_TAG_LEN, tx->hdr + VLAN_TYPE_AT, tx->hdr_len - VLAN_TYPE_AT);
}
