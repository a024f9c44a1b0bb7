/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partial.h - received frames whose TCP or UDP checksum the sending kernel left to a device that
 * does not compute it (CHECKSUM_PARTIAL over veth, or to a guest's virtio_net). The field contains
 * only the sum of the pseudo-header.
 */
#ifndef TOE_NETIO_PARTIAL_H
#define TOE_NETIO_PARTIAL_H

#include <stdint.h>

struct partial {
    uint32_t l3, l4, end; /* offsets in the frame: of the IP header, which may follow VLAN tags; of
                           * the TCP or UDP header; of the datagram's end */
    uint32_t csum_offset; /* from l4 */
    uint32_t payload;     /* offset */
};

/* Returns 1 if the frame is a whole TCP or UDP datagram without its checksum, 0 for anything else.
 * Accepts any bytes. */
int partial_find(const uint8_t *frame, uint32_t len, struct partial *p);
/* Fills in the checksum. */
void partial_complete(uint8_t *frame, const struct partial *p);

#endif
