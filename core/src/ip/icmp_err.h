/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icmp_err.h - an ICMP error about one of our segments or datagrams, of either family.
 */
#ifndef TOEC_ICMP_ERR_H
#define TOEC_ICMP_ERR_H

#include "ip.h"

/* An ICMP error quoting a segment that we (local) supposedly sent. */
struct toec_icmp_err {
    struct toec_addr local, remote;
    toec_u16 local_port, remote_port;
    toec_u32 seq;        /* of the quoted segment */
    toec_u8 proto;       /* TOEC_IPPROTO_TCP or _UDP */
    toec_u32 quoted_len; /* length of the quoted datagram, headers included */
    toec_u8 type, code;  /* TOEC_ICMP4_UNREACH, _TIME_EXCEEDED or _PARAM_PROBLEM */
    toec_u16 mtu; /* code TOEC_ICMP4_UNREACH_FRAG: next-hop MTU, at least 68 (for old routers that
                   * report none, from the plateau table of RFC 1191 7.1); else 0 */
};

/* Returns not 0 when this stack handles errors about this protocol. */
TOEC_INLINE int toec_icmp_quotable(unsigned proto)
{
#ifndef TOEC_NO_UDP
    if (proto == TOEC_IPPROTO_UDP)
        return 1;
#endif
    return proto == TOEC_IPPROTO_TCP;
}

#endif
