/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partial.h - received frames whose TCP or UDP checksum the sending kernel left to a device that
 * does not make one (CHECKSUM_PARTIAL over veth): there stands the sum of the pseudo-header alone.
 */
#ifndef TOE_NETIO_PARTIAL_H
#define TOE_NETIO_PARTIAL_H

#include <stdint.h>

struct partial {
    uint32_t l4, end;     /* offsets in the frame: of the TCP or UDP header, behind the datagram */
    uint32_t csum_offset; /* from l4 */
    uint32_t payload;     /* offset */
};

/* Finds out whether a whole datagram of TCP or UDP has its checksum left out: 1, or 0 for anything
 * else. Any bytes may be given. */
int partial_find(const uint8_t *frame, uint32_t len, struct partial *p);
/* Puts the checksum in. */
void partial_complete(uint8_t *frame, const struct partial *p);

#endif
