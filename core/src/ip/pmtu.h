/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmtu.h - the cache of path MTUs by destination (RFC 1191 6, RFC 8201 5.2), shared by all senders.
 * Bounded; an entry expires ten minutes after it was last lowered.
 */
#ifndef TOEC_PMTU_H
#define TOEC_PMTU_H

#include "../base/hash.h"
#include "../base/pool.h"
#include "../base/timer.h"
#include "ip.h"

#define TOEC_PMTU_ENTRIES 256u
/*
 * The lower bound for ICMP. IPv4: 552, as Linux (min_pmtu), rather than the 68 of RFC 1191 3, so
 * that an attacker cannot force tiny segments. Smaller paths get datagrams of 552 bytes without DF,
 * which routers fragment. IPv6: 1280, smaller claims are ignored (RFC 8201 4).
 */
#define TOEC_PMTU_MIN4 552u
#define TOEC_PMTU_MIN6 1280u

struct toec_pmtu_entry {
    struct toec_hnode node; /* first, so that the pool's free link overwrites nothing else */
    struct toec_pmtu_entry *newer, *older;
    struct toec_timer timer;
    struct toec_addr dst;
    toec_u16 mtu;     /* 0: only UDP has received an error */
    toec_u8 no_df;    /* the path MTU is below the size we send: DF stays clear */
    toec_u16 udp_mtu; /* 0: same as mtu */
    toec_u8 udp_no_df;
};

struct toec_pmtu {
    struct toec_pool pool;
    struct toec_htab by_dst;
    struct toec_pmtu_entry *oldest, *newest;
    toec_u32 gen; /* incremented by every change, so that flows notice it */
};

unsigned long toec_pmtu_size(void);
void toec_pmtu_init(struct toec_stack *s, void *mem);
/* Returns the MTU to dst if one below that of the link is known, else 0. */
toec_u32 toec_pmtu_get(struct toec_stack *s, const struct toec_addr *dst, int *no_df);
/* Records that the path to dst has this MTU. */
void toec_pmtu_set(struct toec_stack *s, const struct toec_addr *dst, toec_u32 mtu, int no_df,
                   toec_time now);
/*
 * For UDP. ICMP errors about UDP quote nothing that is hard to guess (RFC 5927 7); RFC 8201 4 asks
 * for a check that UDP cannot make. So their claims apply to UDP only, and an attacker cannot
 * shrink TCP's segments through UDP. Values found by TCP apply to both.
 */
toec_u32 toec_pmtu_get_udp(struct toec_stack *s, const struct toec_addr *dst, int *no_df);
void toec_pmtu_set_udp(struct toec_stack *s, const struct toec_addr *dst, toec_u32 mtu, int no_df,
                       toec_time now);
/* Restores the entry `is`, with this deadline (restore.c). */
void toec_pmtu_again(struct toec_stack *s, const struct toec_pmtu_entry *is, toec_time deadline);
void toec_pmtu_timer(struct toec_stack *s, struct toec_timer *t);

#endif
