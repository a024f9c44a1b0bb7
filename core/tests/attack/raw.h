/* SPDX-License-Identifier: Apache-2.0 */
/* raw.h - IPv4 TCP segments from any address, for floods and for attackers between two stacks. */
#ifndef RAW_H
#define RAW_H

#include "../tcptalk.h"

struct raw {
    uint32_t src, dst; /* addresses as values */
    uint16_t sport, dport;
    uint32_t seq, ack;
    unsigned flags;
    int has_ts;
    uint32_t tsval, tsecr;
    int mss;      /* 0: absent */
    int shut;     /* window 0, otherwise 65535 */
    uint32_t len; /* payload, of 'x' */
};

/* Passes the segment, with valid checksums, to a host. The source's Ethernet address is that of
 * host 1 (of host 0 when `host` is 1). */
void raw_input(struct sim *s, unsigned host, const struct raw *r);
uint32_t raw_word(const uint8_t *p);

#endif
