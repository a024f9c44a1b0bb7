/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip4_reass.h - reassembly of both families (RFC 791 3.2, RFC 1122 3.3.2, RFC 8200 4.5) in memory
 * given at init: the set of datagrams, and IPv4's use of it. IPv6's is in ip6_reass.c.
 */
#ifndef TOEC_IP4_REASS_H
#define TOEC_IP4_REASS_H

#include "../base/hash.h"
#include "../base/pool.h"
#include "../base/timer.h"
#include "ip.h"

/* Payload starts here, so that the Ethernet header and what stands before the payload fit. */
#define TOEC_REASS_HEAD  336
#define TOEC_REASS_TOTAL 65535u
#define TOEC_REASS_IP6   0x100u /* as proto: the key of IPv6 has none */

struct toec_datagram {
    struct toec_hnode node;
    struct toec_datagram *newer, *older;
    struct toec_timer timer;
    struct toec_addr src, dst;
    toec_u32 id;
    toec_u16 proto;
    toec_u16 hlen;  /* what stands before the payload, by the first fragment; 0: not yet received */
    toec_u8 ecn;    /* 1 << ECN field of each fragment received, ORed */
    toec_u8 dead;   /* IPv6: overlapped; later fragments are dropped too (RFC 5722 4) */
    toec_u32 first; /* IPv6: bytes of the first fragment */
    toec_u32 total; /* payload bytes; 0: last fragment not yet received */
    toec_u32 end;   /* end of the farthest fragment received */
    toec_u32 received;        /* bytes received */
    toec_u32 have[8192 / 32]; /* of 8 bytes: the offset field has 13 bits */
    toec_u8 frame[TOEC_REASS_HEAD + TOEC_REASS_TOTAL];
};

struct toec_reass {
    struct toec_pool pool;
    struct toec_htab by_key;
    struct toec_datagram *oldest, *newest;
};

unsigned long toec_reass_size(const struct toec_config *cfg);
void toec_reass_init(struct toec_stack *s, void *mem);

/* ---- what both families use ---- */

/* The datagram of this key, made when it is new. */
struct toec_datagram *toec_reass_get(struct toec_stack *s, const struct toec_ip_in *in, toec_u32 id,
                                     unsigned proto, toec_time now);
enum toec_reass_result {
    TOEC_REASS_STORED,
    TOEC_REASS_AGAIN,
    TOEC_REASS_OVERLAP,
    TOEC_REASS_WHOLE
};
/* Takes the bytes of in's payload for [off, off + l4_len); last: nothing follows them. */
enum toec_reass_result toec_reass_put(struct toec_stack *s, struct toec_datagram *d,
                                      const struct toec_ip_in *in, toec_u32 off, int last);
/* Takes d out of the set; its memory stays until toec_reass_free(). */
void toec_reass_forget(struct toec_stack *s, struct toec_datagram *d);
void toec_reass_free(struct toec_stack *s, struct toec_datagram *d);
/* What the ECN field is to be or'ed with; -1: the fragments' do not go together. */
int toec_reass_ecn(const struct toec_datagram *d);
/* The packet whose header and payload stand in d, len bytes from the IP header on. */
void toec_reass_packet(const struct toec_datagram *d, struct toec_packet *p, toec_u32 len);

void toec_reass_timer(struct toec_stack *s, struct toec_timer *t, toec_time now);
/* A fragment (MF set or offset not 0) of a datagram for us, header checked. */
void toec_reass_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);

#endif
