/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_eth.h - Ethernet II header (IEEE 802.3) and VLAN tags (IEEE 802.1Q): fields of a header. The
 * caller has checked that TOEC_ETH_LEN bytes are present.
 */
#ifndef TOEC_WIRE_ETH_H
#define TOEC_WIRE_ETH_H

#include "../base/wire.h"

#define TOEC_ETH_DST  0
#define TOEC_ETH_SRC  6
#define TOEC_ETH_TYPE 12
#define TOEC_ETH_LEN  14

#define TOEC_ETHERTYPE_IP4   0x0800u
#define TOEC_ETHERTYPE_ARP   0x0806u
#define TOEC_ETHERTYPE_IP6   0x86ddu
#define TOEC_ETHERTYPE_VLAN  0x8100u /* a tag: TCI and the next type follow */
#define TOEC_ETHERTYPE_SVLAN 0x88a8u

#define TOEC_TAG_LEN 4
#define TOEC_TAG_ID  0x0fffu /* bits of the TCI; the others are the priority */

TOEC_INLINE toec_u16 toec_eth_type(const toec_u8 *eth)
{
    return toec_get16(eth + TOEC_ETH_TYPE);
}

/* Returns not 0 when the type is that of a VLAN tag. */
TOEC_INLINE int toec_eth_is_tag(toec_u32 type)
{
    return type == TOEC_ETHERTYPE_VLAN || type == TOEC_ETHERTYPE_SVLAN;
}

TOEC_INLINE int toec_mac_eq(const toec_u8 *a, const toec_u8 *b)
{
    return ((toec_get32(a) ^ toec_get32(b)) | (toec_u32)(toec_get16(a + 4) ^ toec_get16(b + 4))) ==
           0;
}

/* Returns not 0 for multicast or broadcast (the group bit). */
TOEC_INLINE int toec_mac_is_group(const toec_u8 *mac)
{
    return mac[0] & 1;
}

TOEC_INLINE int toec_mac_is_zero(const toec_u8 *mac)
{
    return (toec_get32(mac) | toec_get16(mac + 4)) == 0;
}

TOEC_INLINE void toec_eth_emit(toec_u8 *eth, const toec_u8 *dst, const toec_u8 *src, toec_u16 type)
{
    memcpy(eth + TOEC_ETH_DST, dst, 6);
    memcpy(eth + TOEC_ETH_SRC, src, 6);
    toec_put16(eth + TOEC_ETH_TYPE, type);
}

#endif
