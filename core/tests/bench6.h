/* SPDX-License-Identifier: Apache-2.0 */
/* bench6.h - the bench with IPv6: addresses, frames built apart from core/, and a peer that is
 * known. */
#ifndef BENCH6_H
#define BENCH6_H

#include "bench.h"

extern const struct toec_addr own6, peer6, router6, far6, prefix6, none6, all_nodes;
extern const uint8_t router_mac[6];

/* A stack with fd00::1/64, IPv4 too; started, addresses assigned, output discarded. */
void bench6_config(struct bench *b, enum toec_ip6_mode mode);
void bench6_init(struct bench *b, enum toec_ip6_mode mode);

struct ip6_spec {
    const struct toec_addr *src, *dst;
    uint8_t next, hops; /* hops 0: 64 */
    const uint8_t *src_mac;
};
/* An IPv6 frame; Ethernet addresses follow from the spec. Returns the length. */
uint32_t make_ip6(uint8_t *f, const struct ip6_spec *spec, const void *payload, uint32_t len);
/* ICMPv6 message into p, checksum right for these addresses. */
uint32_t make_icmp6(uint8_t *p, const struct ip6_spec *spec, int type, int code, uint32_t rest,
                    const void *data, uint32_t len);
/* Passes an ICMPv6 message to the stack. */
void input_icmp6(struct bench *b, const struct ip6_spec *spec, int type, int code, uint32_t rest,
                 const void *data, uint32_t len);
/* A neighbour discovery message about target with options; hop limit 255 when the spec has none. */
void input_nd(struct bench *b, const struct ip6_spec *spec, int type, uint32_t rest,
              const struct toec_addr *target, const void *options, uint32_t len);
/* The neighbour advertises itself, solicited or not. */
void bench6_learn(struct bench *b, const struct toec_addr *addr, const uint8_t *mac);
/* The link-layer address option. */
void mac_option(uint8_t opt[8], int type, const uint8_t *mac);
/* Frame of the stack: IPv6 with this upper layer and right checksum; its payload. */
const uint8_t *expect_icmp6(struct bench *b, int type, int code, const struct toec_addr *src,
                            const struct toec_addr *dst, uint32_t *len);
/* Not 0 when the ICMPv6 checksum of this frame is right. */
int icmp6_sum_ok(const uint8_t *frame);

#endif
