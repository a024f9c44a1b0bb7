/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vlan.h - IEEE 802.1Q tags. core/ and the engine above this file handle untagged frames only: tags
 * of received frames are removed first, and frames to send get theirs last. A frame with VLAN ID 0
 * has a priority and belongs to no VLAN: it is untagged traffic (802.1Q 6.9), as on Linux.
 */
#ifndef ENGINE_VLAN_H
#define ENGINE_VLAN_H

#include <stdint.h>
#include <string.h>

#include <toe/core.h>
#include <toe/netio.h>

#include "offload.h"

#define VLAN_TAG_LEN 4u
#define VLAN_TYPE_AT 12u /* of the tag; the tag's TCI follows */
#define VLAN_ID_MAX  4094u

#define VLAN_TYPE_TAG  0x8100u /* IEEE 802.1Q, C-TAG */
#define VLAN_TYPE_STAG 0x88a8u /* IEEE 802.1ad, S-TAG */

struct engine;

/* Returns whether a frame begins with a tag. */
static inline int vlan_is_tagged(const struct netio_frame *f)
{
    static const uint8_t types[2][2] = {{VLAN_TYPE_TAG >> 8, VLAN_TYPE_TAG & 0xff},
                                        {VLAN_TYPE_STAG >> 8, VLAN_TYPE_STAG & 0xff}};
    const uint8_t *type = f->data + VLAN_TYPE_AT;

    return f->len >= VLAN_TYPE_AT + 2 + VLAN_TAG_LEN &&
           (memcmp(type, types[0], 2) == 0 || memcmp(type, types[1], 2) == 0);
}

/* Returns the offset of the IP header of a frame to send. */
static inline uint32_t vlan_ip_at(const uint8_t *frame)
{
    uint32_t at = VLAN_TYPE_AT + 2;

    return frame[VLAN_TYPE_AT] == 0x81 && frame[VLAN_TYPE_AT + 1] == 0 ? at + VLAN_TAG_LEN : at;
}

/*
 * Removes the tags of a batch's frames, and drops and counts those that are not of the engine's
 * VLAN (engine_config.vlan; 0: untagged traffic). Returns how many remain: they are first in f, in
 * their order, and the others follow them.
 */
unsigned vlan_receive(struct engine *e, struct netio_frame *f, unsigned n);

/* A frame to send with the tag of the engine's VLAN. */
struct vlan_tx {
    struct toec_tx tx;
    uint8_t hdr[OFFLOAD_HDR_MAX];
};

/* Makes *out of a frame without a tag. out->tx points into out. */
void vlan_tag(struct vlan_tx *out, const struct toec_tx *tx, uint16_t vlan);

#endif
