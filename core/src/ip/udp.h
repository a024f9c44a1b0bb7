/* SPDX-License-Identifier: Apache-2.0 */
/* udp.h - UDP (RFC 768, RFC 1122 4.1, RFC 8200 8.1) for integrators; the API is in core.h. */
#ifndef TOEC_UDP_H
#define TOEC_UDP_H

#include "../base/hash.h"
#include "../base/pool.h"
#include "ip.h"

struct toec_icmp_err;

#define TOEC_UDP_IP4 1u
#define TOEC_UDP_IP6 2u

struct toec_udp {
    struct toec_hnode node; /* first, where the pool keeps its link; bound by port, or by tuple */
    void *owner;
    struct toec_addr local, remote; /* local 0: any address of `families` */
    toec_u16 local_port, remote_port;
    toec_u8 families; /* of any address: TOEC_UDP_IP4, TOEC_UDP_IP6 */
    toec_u8 connected;
    toec_u8 has_last; /* last, last_port: where the last datagram went, as ICMP may quote it */
    toec_u16 last_port;
    struct toec_addr last;
};

struct toec_udp_state {
    struct toec_pool pool;
    struct toec_htab bound, connected;
};

unsigned long toec_udp_size(const struct toec_config *cfg);
void toec_udp_init(struct toec_stack *s, void *mem);
/* A datagram for one of our addresses. 0 when it was dealt with (or dropped, counted); -1: nobody
 * has the port, tell the sender. */
int toec_udp_input(struct toec_stack *s, const struct toec_ip_in *in);
/* An ICMP error quotes a datagram that we (local) are said to have sent. */
void toec_udp_icmp_error(struct toec_stack *s, const struct toec_icmp_err *e, toec_time now);

#endif
