/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - counts the TCP payload of IPv4 frames by the sender's address: all of it, and what had
 * been sent before. It sees frames before the impairment, so it counts what the senders did.
 */
#ifndef RELAY_TALLY_H
#define RELAY_TALLY_H

#include <stdint.h>

#define TALLY_SENDERS 16u
#define TALLY_FLOWS   4096u /* a power of two */

struct tally_sender {
    uint8_t ip[4];
    uint64_t segments; /* with payload */
    uint64_t bytes;    /* payload */
    uint64_t repeated; /* bytes of it that had been sent before */
};

struct tally_flow {
    uint32_t source, destination, ports; /* ports 0: unused */
    uint32_t next;                       /* the sequence number after the highest one */
};

struct tally {
    struct tally_sender sender[TALLY_SENDERS];
    unsigned senders;
    uint64_t uncounted; /* segments of flows or senders beyond those that fit */
    struct tally_flow flow[TALLY_FLOWS];
};

/* Counts a frame; ignores all that is not TCP over IPv4 with payload or SYN. */
void tally_frame(struct tally *t, const uint8_t *frame, uint32_t len);

#endif
