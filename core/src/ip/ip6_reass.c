/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_reass.c - IPv6 reassembly (RFC 8200 4.5, RFC 5722, RFC 7112): checks fragments and builds the
 * reassembled packet. ip4_reass.c manages the memory and the bitmap of blocks.
 */
#include "ip6_reass.h"

#include "icmp6.h"
#include "ip6_ext.h"
#include "ip6_in.h"

#ifdef TOEC_NO_REASSEMBLY
void toec_reass6_input(struct toec_stack *s, const struct toec_ip_in *in, unsigned next_at,
                       toec_time now)
{
    (void)in;
    (void)next_at;
    (void)now;
    TOEC_COUNT(s, ip6_frags_rx);
}
#else

/* The headers before the fragment header, with the Ethernet header, must fit before the payload. */
#define MAX_BEFORE ((toec_u32)(TOEC_REASS_HEAD - TOEC_ETH_LEN))

static void refuse(struct toec_stack *s, const struct toec_ip_in *in, unsigned code,
                   toec_u32 pointer, toec_time now)
{
    TOEC_COUNT(s, ip6_frag_bad);
    toec_icmp6_error(s, in, TOEC_ICMP6_PARAM_PROBLEM, code, pointer, now);
}

/* Checks a fragment by itself. Returns 0, or -1 when dropped and counted. */
static int check(struct toec_stack *s, const struct toec_ip_in *in, const struct toec_ip_in *part,
                 toec_u32 off, int last, toec_time now)
{
    toec_u32 before = (toec_u32)(in->l4 - in->ip);

    if (!last && part->l4_len % 8 != 0) { /* R8200-07 */
        refuse(s, in, TOEC_ICMP6_PARAM_FIELD, TOEC_IP6_PAYLOAD, now);
        return -1;
    }
    /* R8200-08: more than 65535 bytes with the headers before it */
    if (off + part->l4_len > TOEC_REASS_TOTAL - (before - TOEC_IP6_LEN)) {
        refuse(s, in, TOEC_ICMP6_PARAM_FIELD, before + TOEC_FRAG_OFFSET, now);
        return -1;
    }
    if (part->l4_len == 0 || before > MAX_BEFORE) {
        TOEC_COUNT(s, ip6_frag_bad);
        return -1;
    }
    /* R8200-11 (RFC 7112 5): the first fragment holds the whole chain. */
    if (off == 0 && !toec_ip6_chain_whole(in->l4[TOEC_EXT_NEXT], part->l4, part->l4_head)) {
        TOEC_COUNT(s, ip6_frag_chain);
        toec_icmp6_error(s, in, TOEC_ICMP6_PARAM_PROBLEM, TOEC_ICMP6_PARAM_CHAIN, 0, now);
        return -1;
    }
    return 0;
}

/* Stores the headers of the first fragment, without the fragment header, before the payload. */
static void take_head(struct toec_datagram *d, const struct toec_ip_in *in, unsigned next_at)
{
    unsigned before = (unsigned)(in->l4 - in->ip);
    toec_u8 *ip = d->frame + TOEC_REASS_HEAD - before;

    d->hlen = (toec_u16)before;
    memcpy(ip, in->ip, before);
    ip[next_at] = in->l4[TOEC_EXT_NEXT];
}

static void complete(struct toec_stack *s, struct toec_datagram *d, toec_time now)
{
    toec_u8 *ip = d->frame + TOEC_REASS_HEAD - d->hlen;
    toec_u32 payload = d->hlen - TOEC_IP6_LEN + d->total;
    int ecn = toec_reass_ecn(d);
    struct toec_packet p;
    struct toec_ip_in in;

    toec_reass_forget(s, d);
    if (payload > TOEC_REASS_TOTAL) { /* the first fragment has longer headers than the last */
        TOEC_COUNT(s, ip6_frag_bad);
        toec_reass_free(s, d);
        return;
    }
    if (ecn < 0) {
        TOEC_COUNT(s, ip6_frag_ecn);
        toec_reass_free(s, d);
        return;
    }
    TOEC_COUNT(s, ip6_reassembled);
    ip[1] |= (toec_u8)(ecn << 4);
    toec_put16(ip + TOEC_IP6_PAYLOAD, payload);
    toec_reass_packet(d, &p, TOEC_IP6_LEN + payload);
    toec_ip6_parse(&in, &p, TOEC_ETH_LEN);
    in.fragmented = 1;
    toec_ip6_walk(s, &in, now);
    toec_reass_free(s, d);
}

/* R8200-05: sends Time Exceeded if the first fragment has arrived; quotes what was received of it.
 */
void toec_reass6_timeout(struct toec_stack *s, struct toec_datagram *d, toec_time now)
{
    struct toec_packet p;
    struct toec_ip_in in;

    if (!d->dead) {
        TOEC_COUNT(s, ip6_frag_timeout);
        if (d->hlen) {
            toec_reass_packet(d, &p, d->hlen + TOEC_MIN(d->first, d->total ? d->total : d->end));
            toec_ip6_parse(&in, &p, TOEC_ETH_LEN);
            in.fragmented = 1;
            toec_icmp6_error(s, &in, TOEC_ICMP6_TIME_EXCEEDED, TOEC_ICMP6_EXCEEDED_REASS, 0, now);
        }
    }
    toec_reass_free(s, d);
}

void toec_reass6_input(struct toec_stack *s, const struct toec_ip_in *in, unsigned next_at,
                       toec_time now)
{
    unsigned word = toec_get16(in->l4 + TOEC_FRAG_OFFSET);
    int last = (word & TOEC_FRAG_MORE) == 0;
    toec_u32 off = word & 0xfff8u;
    struct toec_ip_in part = *in;
    enum toec_reass_result r;
    struct toec_datagram *d;

    TOEC_COUNT(s, ip6_frags_rx);
    part.l4 += TOEC_FRAG_LEN;
    part.l4_off += TOEC_FRAG_LEN;
    part.l4_len -= TOEC_FRAG_LEN;
    part.l4_head -= TOEC_FRAG_LEN;
    if (check(s, in, &part, off, last, now))
        return;
    d = toec_reass_get(s, in, toec_get32(in->l4 + TOEC_FRAG_ID), TOEC_REASS_IP6, now);
    if (d->dead) {
        TOEC_COUNT(s, ip6_frag_overlap);
        return;
    }
    r = toec_reass_put(s, d, &part, off, last);
    if (r == TOEC_REASS_AGAIN) {
        TOEC_COUNT(s, ip6_frag_duplicate);
        return;
    }
    if (r == TOEC_REASS_OVERLAP) { /* R8200-04: later fragments of it are dropped as well */
        TOEC_COUNT(s, ip6_frag_overlap);
        d->dead = 1;
        return;
    }
    if (off == 0) {
        take_head(d, in, next_at);
        d->first = part.l4_len;
    }
    if (r == TOEC_REASS_WHOLE)
        complete(s, d, now);
}
#endif
