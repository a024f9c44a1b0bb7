/* SPDX-License-Identifier: Apache-2.0 */
/* udp_header.c - any UDP datagram with any length field: the payload handed on lies within the
 * datagram. */
#include "proof.h"

#include "ip/udp.c"

#define HEAD 64

static toec_u8 frame[HEAD];
static struct toec_stack s;
static struct toec_packet p;
static struct toec_udp socket;

int sum_ok(struct toec_stack *stack, const struct toec_ip_in *udp)
{
    (void)stack;
    PROVE(udp->l4_off <= p.len && udp->l4_len <= p.len - udp->l4_off);
    return nondet_u8() & 1;
}

struct toec_udp *look_up(struct toec_stack *stack, const struct toec_addr *local,
                         const struct toec_addr *remote, toec_u16 port, toec_u16 rport)
{
    (void)stack;
    (void)port;
    (void)rport;
    READABLE(local, sizeof(*local));
    READABLE(remote, sizeof(*remote));
    return nondet_u8() ? &socket : 0;
}

static void receive(void *user, void *owner, const struct toec_udp_in *d)
{
    (void)user;
    (void)owner;
    PROVE(d->off <= p.len && d->len <= p.len - d->off);
}

void proof(void)
{
    static struct toec_udp_ops ops;
    struct toec_ip_in in;
    unsigned n = nondet_u8(), hlen = nondet_u8();

    ASSUME(hlen >= TOEC_IP4_LEN && hlen <= 40 && n <= HEAD && n >= hlen);
    ANYTHING(frame);
    ANYTHING(in);
    p.data = frame + HEAD - n;
    p.head_len = n;
    p.len = nondet_u32();
    ASSUME(p.len >= n && p.len <= 65589);
    in.pkt = &p;
    in.ip = p.data;
    in.l4 = p.data + hlen;
    in.l4_off = hlen;
    in.l4_head = n - hlen;
    ASSUME(in.l4_len >= in.l4_head && in.l4_len <= p.len - hlen);
    ops.receive = receive;
    s.cfg.udp = &ops;
    s.cfg.max_udp = nondet_u32();
    (void)toec_udp_input(&s, &in);
}
