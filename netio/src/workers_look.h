/* SPDX-License-Identifier: Apache-2.0 */
/* workers_look.h - finds out for which workers of one address a frame is (workers.c). */
#ifndef TOE_NETIO_WORKERS_LOOK_H
#define TOE_NETIO_WORKERS_LOOK_H

#include <stdint.h>

enum seen_kind {
    SEEN_ANY,  /* for any one worker: the stack counts what it drops */
    SEEN_ALL,  /* for all: each stack has its own neighbours, and detects duplicate addresses */
    SEEN_FLOW, /* for the worker that has the connection */
    SEEN_DROP  /* a fragment of TCP: only the first one has ports */
};

struct seen {
    enum seen_kind kind;
    int ip6;
    uint16_t port; /* of this side */
    uint8_t flags; /* of TCP; 0: an ICMP error about the connection */
    uint64_t hash; /* of the connection, the same in both directions */
};

#define SEEN_FIN 1u
#define SEEN_SYN 2u
#define SEEN_RST 4u
#define SEEN_ACK 16u

/* Looks at a frame of len contiguous bytes, which may have one VLAN tag. sent: it leaves, else it
 * has arrived. Of sent segments only those with SYN, FIN or RST are SEEN_FLOW. */
void workers_look(const uint8_t *frame, uint32_t len, int sent, const uint64_t key[2],
                  struct seen *out);

#endif
