/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_fragment.c - any fragment of IPv6 behind headers of any length, into any incomplete datagram:
 * reads stay within the packet, the headers put before the payload stay within the datagram's
 * memory, and the arguments of reassembly satisfy the assumptions of its own proof (fragments.c).
 */
#include "proof.h"

#include "ip/ip6_reass.c"

#define HEAD (TOEC_ETH_LEN + TOEC_REASS_HEAD + 64)

static toec_u8 frame[HEAD];
static struct toec_stack s;
static struct toec_packet p;
static struct toec_datagram d;

int toec_ip6_chain_whole(unsigned next, const toec_u8 *at, toec_u32 len)
{
    (void)next;
    READABLE(at, len);
    return nondet_u8() & 1;
}

struct toec_datagram *toec_reass_get(struct toec_stack *stack, const struct toec_ip_in *in,
                                     toec_u32 id, unsigned proto, toec_time now)
{
    (void)stack;
    (void)in;
    (void)id;
    (void)proto;
    (void)now;
    return &d;
}

enum toec_reass_result toec_reass_put(struct toec_stack *stack, struct toec_datagram *to,
                                      const struct toec_ip_in *part, toec_u32 off, int last)
{
    enum toec_reass_result r = (enum toec_reass_result)nondet_u8();

    (void)stack;
    PROVE(to == &d);
    PROVE(off % 8 == 0 && part->l4_len >= 1 && off + part->l4_len <= TOEC_REASS_TOTAL);
    PROVE(last || part->l4_len % 8 == 0);
    PROVE(part->l4_off <= p.len && part->l4_len <= p.len - part->l4_off);
    READABLE(part->l4, part->l4_head);
    /* whole: the first fragment is this one, or has come before */
    ASSUME(r != TOEC_REASS_WHOLE || off == 0 || d.hlen);
    return r;
}

/* take_head(): so many bytes are copied to just before the payload, and one of them is changed. */
void head(struct toec_datagram *to, const struct toec_ip_in *in, unsigned next_at)
{
    unsigned before = (unsigned)(in->l4 - in->ip);

    PROVE(before <= MAX_BEFORE && next_at < before);
    READABLE(in->ip, before);
    READABLE(in->l4, TOEC_EXT_NEXT + 1);
    to->hlen = (toec_u16)before;
}

/* complete(): the packet lies within the datagram, behind room for Ethernet's header. */
void whole(struct toec_stack *stack, struct toec_datagram *of, toec_time now)
{
    (void)stack;
    (void)now;
    PROVE(of->hlen >= TOEC_IP6_LEN && of->hlen <= MAX_BEFORE);
    PROVE(of->total <= sizeof(d.frame) - TOEC_REASS_HEAD);
}

void proof(void)
{
    struct toec_ip_in in;
    unsigned before = nondet_u16(), head = nondet_u16();

    d.dead = nondet_u8() & 1;
    d.hlen = nondet_u16();
    d.total = nondet_u32();
    ASSUME(d.hlen == 0 || (d.hlen >= TOEC_IP6_LEN && d.hlen <= MAX_BEFORE));
    ASSUME(d.total >= 1 && d.total <= TOEC_REASS_TOTAL);
    /* as the walk leaves it (ip6_walk.c), with a fragment header at l4 */
    ASSUME(before >= TOEC_IP6_LEN && head >= TOEC_FRAG_LEN && TOEC_ETH_LEN + before + head <= HEAD);
    ANYTHING(frame);
    in.pkt = &p;
    in.ip = frame + TOEC_ETH_LEN;
    in.l4 = in.ip + before;
    in.l4_off = TOEC_ETH_LEN + before;
    in.l4_head = head;
    p.len = nondet_u32();
    ASSUME(p.len <= TOEC_ETH_LEN + TOEC_IP6_LEN + 65535 && in.l4_off <= p.len);
    ASSUME(in.l4_len >= head && in.l4_len <= p.len - in.l4_off);
    toec_reass6_input(&s, &in, nondet_u16() % before, nondet_u64());
}
