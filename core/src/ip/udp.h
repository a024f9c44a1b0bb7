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
    struct toec_hnode node; /* first, so that the pool's free link overwrites nothing else; hashed
                             * by port (bound) or by 4-tuple (connected) */
    void *owner;
    struct toec_addr local, remote; /* local 0: any address of `families` */
    toec_u16 local_port, remote_port;
    toec_u8 families; /* when bound to any address: TOEC_UDP_IP4, TOEC_UDP_IP6 */
    toec_u8 connected;
    toec_u8 has_last; /* last, last_port: destination of the last datagram, which ICMP may quote */
    toec_u16 last_port;
    struct toec_addr last;
};

struct toec_udp_state {
    struct toec_pool pool;
    struct toec_htab bound, connected;
};

unsigned long toec_udp_size(const struct toec_config *cfg);
void toec_udp_init(struct toec_stack *s, void *mem);
/* Processes a datagram for one of our addresses. Returns 0 when it was delivered or dropped and
 * counted, -1 when no endpoint has the port: the caller sends an ICMP error. */
int toec_udp_input(struct toec_stack *s, const struct toec_ip_in *in);
/* Processes an ICMP error that quotes a datagram that we (local) supposedly sent. */
void toec_udp_icmp_error(struct toec_stack *s, const struct toec_icmp_err *e, toec_time now);

#endif
