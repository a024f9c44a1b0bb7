/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_if.h - the door between TCP (tcp*.c) and the rest of core/: what stack.c, ip4_in.c and
 * icmp4.c call. TCP's own state hangs at toec_stack.tcp.
 */
#ifndef TOEC_TCP_IF_H
#define TOEC_TCP_IF_H

#include "../ip/ip.h"
#include "../base/timer.h"

/* Bytes TCP needs for this (validated, defaults filled in) configuration; a multiple of 64. */
unsigned long toec_tcp_size(const struct toec_config *cfg);
/* Sets TCP up in mem (aligned to 64 bytes) and s->tcp. The rest of s is initialised already. */
void toec_tcp_init(struct toec_stack *s, void *mem, toec_time now);

/* A TCP segment for one of our addresses. in->l4_head and in->l4_len are not yet checked. */
void toec_tcp_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);

/* A timer with kind >= TOEC_TMR_TCP has expired; it is no longer pending. */
void toec_tcp_timer(struct toec_stack *s, struct toec_timer *t, enum toec_timer_kind kind,
                    toec_time now);

/*
 * Sends what is owed. Called once per toec_poll(), after due timers. Returns the earliest time TCP
 * wants to be called again beside its timers (TOEC_NEVER: none). Need not count work that waits for
 * transmit or a neighbour (see toec_ip_output()).
 */
toec_time toec_tcp_poll(struct toec_stack *s, toec_time now);

/* An ICMP error quoting a segment that we (local) are said to have sent. */
struct toec_icmp_err {
    struct toec_addr local, remote;
    toec_u16 local_port, remote_port;
    toec_u32 seq;        /* of the quoted segment */
    toec_u8 proto;       /* TOEC_IPPROTO_TCP or _UDP */
    toec_u32 quoted_len; /* length of the quoted datagram, headers and all */
    toec_u8 type, code;  /* TOEC_ICMP4_UNREACH, _TIME_EXCEEDED or _PARAM_PROBLEM */
    toec_u16 mtu; /* code TOEC_ICMP4_UNREACH_FRAG: next-hop MTU, at least 68 (old routers that name
                   * none: by the plateau table of RFC 1191 7.1); else 0 */
};

/* Not 0 when errors about this protocol have somebody to hear them here. */
TOEC_INLINE int toec_icmp_quotable(unsigned proto)
{
#ifndef TOEC_NO_UDP
    if (proto == TOEC_IPPROTO_UDP)
        return 1;
#endif
    return proto == TOEC_IPPROTO_TCP;
}

/* What the error means to the owner of a flow or endpoint (icmp4.c). */
enum toec_reason toec_icmp_reason(const struct toec_icmp_err *e);
void toec_tcp_icmp_error(struct toec_stack *s, const struct toec_icmp_err *e, toec_time now);

/* Fills flows, half_open, listeners, time_wait. */
void toec_tcp_usage(const struct toec_stack *s, struct toec_usage *out);

#endif
