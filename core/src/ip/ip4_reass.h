/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip4_reass.h - reassembly of both families (RFC 791 3.2, RFC 1122 3.3.2, RFC 8200 4.5) in memory
 * provided at init: the set of datagrams, and its use by IPv4. ip6_reass.c uses it for IPv6.
 */
#ifndef TOEC_IP4_REASS_H
#define TOEC_IP4_REASS_H

#include "../base/hash.h"
#include "../base/pool.h"
#include "../base/timer.h"
#include "ip.h"

/* Offset of the payload: leaves room for the Ethernet header and the headers before the payload. */
#define TOEC_REASS_HEAD  336
#define TOEC_REASS_TOTAL 65535u
#define TOEC_REASS_IP6   0x100u /* replaces proto, which is not part of the IPv6 key */

struct toec_datagram {
    struct toec_hnode node;
    struct toec_datagram *newer, *older;
    struct toec_timer timer;
    struct toec_addr src, dst;
    toec_u32 id;
    toec_u16 proto;
    toec_u16 hlen;     /* bytes of headers before the payload, from the first fragment; 0: not yet
                        * received */
    toec_u8 ecn;       /* 1 << ECN field of each fragment received, ORed */
    toec_u8 dead;      /* IPv6: overlapped; later fragments are dropped too (RFC 5722 4) */
    toec_u32 first;    /* IPv6: bytes of the first fragment */
    toec_u32 total;    /* payload bytes; 0: last fragment not yet received */
    toec_u32 end;      /* end of the farthest fragment received */
    toec_u32 received; /* bytes received */
    toec_u32 have[8192 / 32]; /* blocks of 8 bytes: the offset field has 13 bits */
    toec_u8 frame[TOEC_REASS_HEAD + TOEC_REASS_TOTAL];
};

struct toec_reass {
    struct toec_pool pool;
    struct toec_htab by_key;
    struct toec_datagram *oldest, *newest;
};

unsigned long toec_reass_size(const struct toec_config *cfg);
void toec_reass_init(struct toec_stack *s, void *mem);

/* ---- shared by both families ---- */

/* Returns the datagram of this key; creates it if it is new. */
struct toec_datagram *toec_reass_get(struct toec_stack *s, const struct toec_ip_in *in, toec_u32 id,
                                     unsigned proto, toec_time now);
enum toec_reass_result {
    TOEC_REASS_STORED,
    TOEC_REASS_AGAIN,
    TOEC_REASS_OVERLAP,
    TOEC_REASS_WHOLE
};
/* Stores the payload of in at [off, off + l4_len); last: it ends the datagram. */
enum toec_reass_result toec_reass_put(struct toec_stack *s, struct toec_datagram *d,
                                      const struct toec_ip_in *in, toec_u32 off, int last);
/* Removes d from the set; its memory stays until toec_reass_free(). */
void toec_reass_forget(struct toec_stack *s, struct toec_datagram *d);
void toec_reass_free(struct toec_stack *s, struct toec_datagram *d);
/* Returns the bits to or into the ECN field; -1: the fragments' fields are incompatible. */
int toec_reass_ecn(const struct toec_datagram *d);
/* Sets *p to the packet stored in d, len bytes from the IP header on. */
void toec_reass_packet(const struct toec_datagram *d, struct toec_packet *p, toec_u32 len);

void toec_reass_timer(struct toec_stack *s, struct toec_timer *t, toec_time now);
/* Processes a fragment (MF set or offset not 0) of a datagram for us, header checked. */
void toec_reass_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);

#endif
