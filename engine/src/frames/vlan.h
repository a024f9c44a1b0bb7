/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vlan.h - IEEE 802.1Q tags of received frames. A frame with VLAN ID 0 has a priority and belongs
 * to no VLAN: it is untagged traffic (802.1Q 6.9), as on Linux. Others keep their tag, and the
 * stack drops them as frames of an unknown type.
 */
#ifndef ENGINE_VLAN_H
#define ENGINE_VLAN_H

#include <string.h>

#include <toe/netio.h>

#define VLAN_TAG_LEN 4u
#define VLAN_TYPE_AT 12u /* of the tag; the tag's TCI follows */

/* Removes priority tags: the addresses move towards the type behind the tag, the payload stays
 * where it is. */
static inline void vlan_untag(struct netio_frame *f)
{
    while (f->len >= VLAN_TYPE_AT + 2 + VLAN_TAG_LEN && f->data[VLAN_TYPE_AT] == 0x81 &&
           f->data[VLAN_TYPE_AT + 1] == 0 && (f->data[VLAN_TYPE_AT + 2] & 0x0f) == 0 &&
           f->data[VLAN_TYPE_AT + 3] == 0) {
        memmove(f->data + VLAN_TAG_LEN, f->data, VLAN_TYPE_AT);
        f->data += VLAN_TAG_LEN;
        f->len -= VLAN_TAG_LEN;
        f->cap -= VLAN_TAG_LEN;
    }
}

#endif
