/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neigh.h - the neighbour cache: IPv4 address to Ethernet address by ARP (RFC 826, with the states
 * of RFC 4861 7.3.2), a bounded table.
 */
#ifndef TOEC_NEIGH_H
#define TOEC_NEIGH_H

#include "hash.h"
#include "ip.h"
#include "pool.h"
#include "rate.h"
#include "timer.h"

enum toec_neigh_state {
    TOEC_NEIGH_FREE = 0,
    TOEC_NEIGH_INCOMPLETE, /* asked, not yet answered: senders wait */
    TOEC_NEIGH_REACHABLE,  /* confirmed within the last 30 s */
    TOEC_NEIGH_STALE,      /* known, not confirmed lately: used, and probed on use */
    TOEC_NEIGH_PROBE,      /* used while unicast requests verify it */
    TOEC_NEIGH_FAILED      /* did not answer: senders are told so until it is freed */
};

struct toec_neigh {
    struct toec_hnode node; /* in neigh_table.by_ip; pool.h links free entries through it */
    struct toec_neigh *newer, *older; /* list of unresolved entries, or none */
    struct toec_timer timer;
    toec_u32 ip;
    toec_u32 gen; /* of this use of the entry: differs from that of any path of another use */
    toec_u8 mac[6];
    toec_u8 state;
    toec_u8 tries;      /* requests sent in this state */
    toec_u8 used;       /* something was sent through it since last looked at */
    toec_u8 unresolved; /* in the unresolved list */
    toec_time confirmed;
};

struct toec_neigh_table {
    struct toec_pool pool;
    struct toec_htab by_ip;
    struct toec_neigh *oldest, *newest; /* unresolved entries */
    toec_u32 unresolved, max_unresolved;
    toec_u32 hand; /* of the clock that looks for an entry to evict */
    toec_u32 next_gen;
    struct toec_timer announce;
    toec_u32 announcements; /* still to send */
    toec_time defended;     /* when our address was last defended */
};

unsigned long toec_neigh_size(const struct toec_config *cfg);
void toec_neigh_init(struct toec_stack *s, void *mem, toec_time now);
void toec_neigh_timer(struct toec_stack *s, struct toec_timer *t, toec_time now);
void toec_neigh_announce_timer(struct toec_stack *s, toec_time now);
/* An ARP packet (Ethernet frame of ethertype ARP, not for another host). */
void toec_arp_input(struct toec_stack *s, const struct toec_packet *p, toec_time now);

/*
 * The Ethernet address to send to for this path: 0 with *mac set, TOEC_SEND_WAIT (resolution is
 * under way) or TOEC_SEND_UNREACH.
 */
int toec_neigh_lookup(struct toec_stack *s, struct toec_path *path, const toec_u8 **mac,
                      toec_time now);

#endif
