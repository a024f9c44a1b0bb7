/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmtu.h - the cache of path MTUs (RFC 1191 6, RFC 8201 5.2): what is known of each destination,
 * for all who send there. Bounded; an entry lives for ten minutes after it was last lowered.
 */
#ifndef TOEC_PMTU_H
#define TOEC_PMTU_H

#include "../base/hash.h"
#include "../base/pool.h"
#include "../base/timer.h"
#include "ip.h"

#define TOEC_PMTU_ENTRIES 256u
/*
 * What ICMP cannot push a path below. IPv4: 552, as Linux (min_pmtu), rather than the 68 of RFC
 * 1191 3, so that nobody makes us send crumbs; paths that are smaller still get datagrams of 552
 * bytes without DF, for routers to cut. IPv6: 1280, and what claims less is not believed (RFC 8201
 * 4).
 */
#define TOEC_PMTU_MIN4 552u
#define TOEC_PMTU_MIN6 1280u

struct toec_pmtu_entry {
    struct toec_hnode node; /* first, where the pool keeps its link */
    struct toec_pmtu_entry *newer, *older;
    struct toec_timer timer;
    struct toec_addr dst;
    toec_u16 mtu;     /* 0: only UDP has been told one */
    toec_u8 no_df;    /* the path is smaller than what we send: DF stays clear */
    toec_u16 udp_mtu; /* 0: none but the above */
    toec_u8 udp_no_df;
};

struct toec_pmtu {
    struct toec_pool pool;
    struct toec_htab by_dst;
    struct toec_pmtu_entry *oldest, *newest;
    toec_u32 gen; /* moves with every change, so that flows see that there was one */
};

unsigned long toec_pmtu_size(void);
void toec_pmtu_init(struct toec_stack *s, void *mem);
/* MTU to dst when less than that of the link is known, else 0. */
toec_u32 toec_pmtu_get(struct toec_stack *s, const struct toec_addr *dst, int *no_df);
/* The path to dst carries mtu and no more. */
void toec_pmtu_set(struct toec_stack *s, const struct toec_addr *dst, toec_u32 mtu, int no_df,
                   toec_time now);
/*
 * For UDP, whose errors quote nothing that is hard to guess (RFC 5927 7; RFC 8201 4 asks for a
 * check that it cannot make): what they claim counts for UDP alone, so that nobody shrinks the
 * segments of TCP by way of it. What TCP has found out counts for both.
 */
toec_u32 toec_pmtu_get_udp(struct toec_stack *s, const struct toec_addr *dst, int *no_df);
void toec_pmtu_set_udp(struct toec_stack *s, const struct toec_addr *dst, toec_u32 mtu, int no_df,
                       toec_time now);
/* The entry `is` again, until the deadline (restore.c). */
void toec_pmtu_again(struct toec_stack *s, const struct toec_pmtu_entry *is, toec_time deadline);
void toec_pmtu_timer(struct toec_stack *s, struct toec_timer *t);

#endif
