/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_ext.c - walks options and extension headers of IPv6 (RFC 8200 4), without the state of a
 * stack.
 */
#include "ip6_ext.h"

/* RFC 8504 5.3 permits a limit; the value is that of Linux's max_dst_opts_number. */
#define MAX_OPTIONS 8

enum toec_opt_verdict toec_ip6_options(const toec_u8 *ext, unsigned len, int multicast,
                                       unsigned *at)
{
    unsigned i = TOEC_EXT_OPTIONS, seen = 0;

    for (; i < len; i += ext[i + 1] + 2u) {
        *at = i;
        while (ext[i] == TOEC_IP6OPT_PAD1)
            if (++i == len)
                return TOEC_OPTS_OK;
        *at = i;
        if (i + 1 >= len || i + ext[i + 1] + 2u > len)
            return TOEC_OPTS_BAD;
        if (ext[i] == TOEC_IP6OPT_PADN)
            continue;
        if (++seen > MAX_OPTIONS)
            return TOEC_OPTS_BAD;
        /* R8200-03: the two high bits determine the action for an unknown option. Router alert is
         * one to skip: it concerns routers. */
        switch (TOEC_IP6OPT_ACTION((unsigned)ext[i])) {
        case TOEC_IP6OPT_SKIP:
            break;
        case TOEC_IP6OPT_DISCARD:
            return TOEC_OPTS_DROP;
        case TOEC_IP6OPT_REPORT:
            return TOEC_OPTS_REPORT;
        default:
            return multicast ? TOEC_OPTS_DROP : TOEC_OPTS_REPORT;
        }
    }
    return TOEC_OPTS_OK;
}

int toec_ip6_chain_whole(unsigned next, const toec_u8 *p, toec_u32 len)
{
    toec_u32 off = 0, n;

    for (;;) {
        switch (next) {
        case TOEC_NH_HOP_BY_HOP:
        case TOEC_NH_ROUTING:
        case TOEC_NH_DEST_OPTS:
            if (len - off < TOEC_EXT_MIN)
                return 0;
            next = p[off + TOEC_EXT_NEXT];
            n = toec_ext_len(p + off);
            if (n > len - off)
                return 0;
            off += n;
            break;
        case TOEC_NH_FRAGMENT:
            if (len - off < TOEC_FRAG_LEN)
                return 0;
            next = p[off + TOEC_EXT_NEXT];
            off += TOEC_FRAG_LEN;
            break;
        case TOEC_IPPROTO_TCP:
            return len - off >= TOEC_TCP_LEN && len - off >= toec_tcp_hlen(p + off);
        case TOEC_IPPROTO_UDP:
            return len - off >= TOEC_UDP_LEN;
        case TOEC_NH_ICMP6:
            return len - off >= TOEC_ICMP6_LEN;
        default: /* no next header, or an unknown one, which ends the chain */
            return 1;
        }
    }
}
