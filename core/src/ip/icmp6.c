/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icmp6.c - ICMPv6 (RFC 4443): echo, errors in and out; passes discovery to nd.c and queries to
 * mld.c.
 */
#include "icmp6.h"

#include "../tcp/tcp_if.h"
#include "ip4_in.h"
#include "ip6_addr.h"
#include "ip6_out.h"
#include "ip_out.h"
#include "mld.h"
#include "nd.h"

#define ECHO_BURST  100
#define ERROR_BURST 10
#define NA_RATE     1000 /* advertisements per second in response to solicitations */
#define NA_BURST    100
#define BUCKETS     (sizeof(((struct toec_ip6 *)0)->errors) / sizeof(struct toec_rate))
/* Bytes read of a quoted packet: the header, and ports and sequence number of TCP. */
#define QUOTE_LEN (TOEC_IP6_LEN + 8)

void toec_icmp6_init(struct toec_stack *s)
{
    unsigned i;

    toec_rate_init(&s->ip6.echo, s->cfg.icmp_echo_rate, ECHO_BURST);
    toec_rate_init(&s->ip6.na, NA_RATE, NA_BURST);
    for (i = 0; i < BUCKETS; i++)
        toec_rate_init(&s->ip6.errors[i], s->cfg.icmp_error_rate, ERROR_BURST);
}

/* Prepares an answer to `in`, from the address it was sent to. Returns -1 when there is no source
 * address. */
static int out_init(struct toec_stack *s, struct toec_outbuf *o, struct toec_path *path,
                    const struct toec_ip_in *in)
{
    memset(o, 0, sizeof(*o));
    o->src = &in->dst;
    if (toec_addr_is_multicast(&in->dst))
        o->src = toec_ip6_source(s, &in->src);
    o->dst = &in->src;
    o->proto = TOEC_NH_ICMP6;
    o->l4_len = TOEC_ICMP6_LEN;
    o->psrc = in->pkt;
    return !o->src || toec_ip6_path(s, &in->src, path) < 0 ? -1 : 0;
}

/* ---- echo ---- */

/* RFC 1624 eqn. 3, as in icmp4.c; the addresses, which the checksum covers, may change as well. */
static void make_reply_header(toec_u8 *reply, const struct toec_ip_in *in,
                              const struct toec_addr *src)
{
    toec_u16 sum = (toec_u16)~toec_get_sum(in->l4 + TOEC_ICMP6_SUM);

    memcpy(reply, in->l4, TOEC_ICMP6_LEN);
    reply[TOEC_ICMP6_TYPE] = TOEC_ICMP6_ECHO_REPLY;
    sum = toec_sum_add(sum, (toec_u16)~toec_get_sum(in->l4), 0);
    sum = toec_sum_add(sum, toec_get_sum(reply), 0);
    sum = toec_sum_add(sum, (toec_u16)~toec_sum(in->dst.b, 16), 0);
    sum = (toec_u16)~toec_sum_add(sum, toec_sum(src->b, 16), 0);
    toec_put_sum(reply + TOEC_ICMP6_SUM, sum ? sum : 0xffff);
}

/* Sends the reply o, fragmented when it exceeds the MTU. */
static int send_reply(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                      toec_time now)
{
    toec_u32 room = (path->mtu - TOEC_IP6_LEN - TOEC_FRAG_LEN) & ~7u;
    toec_u32 left = o->len, done = 0, id;
    toec_u8 *frag;
    int rc;

    if (TOEC_IP6_LEN + o->l4_len + o->len <= path->mtu)
        return toec_ip_post(s, path, o, now);
    id = toec_rand32(s); /* RFC 7739: unpredictable */
    frag = toec_out_l4(o) - TOEC_OUT_EXT;
    o->ext_len = TOEC_FRAG_LEN;
    o->ext_next = TOEC_NH_FRAGMENT;
    for (;;) {
        o->len = TOEC_MIN(left, room - o->l4_len);
        left -= o->len;
        frag[0] = TOEC_NH_ICMP6;
        frag[1] = 0;
        toec_put16(frag + TOEC_FRAG_OFFSET, done | (left ? TOEC_FRAG_MORE : 0));
        toec_put32(frag + TOEC_FRAG_ID, id);
        rc = toec_ip6_output(s, path, o, now);
        if (rc < 0 || left == 0)
            return rc;
        done += o->l4_len + o->len;
        o->off += o->len;
        o->l4_len = 0; /* only the first fragment has the ICMP header */
    }
}

static void echo(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    struct toec_outbuf o;
    struct toec_path path;

    TOEC_COUNT(s, icmp_echo_rx);
    if (toec_addr_is_zero(&in->src)) {
        TOEC_COUNT(s, ip6_bad_source);
        return;
    }
    if (!toec_rate_allow(&s->ip6.echo, now)) {
        TOEC_COUNT(s, icmp_echo_limited);
        return;
    }
    if (out_init(s, &o, &path, in) < 0)
        return;
    make_reply_header(toec_out_l4(&o), in, o.src);
    o.sum_off = TOEC_SUM_NONE;
    o.tos = in->tos;
    o.off = in->l4_off + TOEC_ICMP6_LEN;
    o.len = in->l4_len - TOEC_ICMP6_LEN;
    if (send_reply(s, &path, &o, now) < 0)
        TOEC_COUNT(s, tx_unresolved_drop);
    else
        TOEC_COUNT(s, icmp_echo_sent);
}

/* ---- errors out ---- */

/* RFC 4443 2.4 (e): returns not 0 for packets that must not cause an error. */
static int is_silent(const struct toec_ip_in *in, unsigned type, unsigned code)
{
    if (toec_addr_is_zero(&in->src))
        return 1;
    if (toec_addr_is_multicast(&in->dst) &&
        !(type == TOEC_ICMP6_PARAM_PROBLEM && code == TOEC_ICMP6_PARAM_OPTION))
        return 1;
    /* truncated headers never reach this function: first fragments hold them whole (RFC 7112) */
    return in->proto == TOEC_NH_ICMP6 &&
           (in->l4[0] < TOEC_ICMP6_INFO || in->l4[0] == TOEC_ICMP6_REDIRECT);
}

void toec_icmp6_error(struct toec_stack *s, const struct toec_ip_in *in, unsigned type,
                      unsigned code, toec_u32 rest, toec_time now)
{
    toec_u32 bucket = toec_addr_hash(&s->keys.flow, &in->src, 1) % BUCKETS;
    struct toec_outbuf o;
    struct toec_path path;
    toec_u8 *icmp;

    if (is_silent(in, type, code))
        return;
    if (!toec_rate_allow(&s->ip6.errors[bucket], now)) { /* RFC 4443 2.4 (f) */
        TOEC_COUNT(s, icmp_error_limited);
        return;
    }
    if (out_init(s, &o, &path, in) < 0)
        return;
    icmp = toec_out_l4(&o);
    memset(icmp, 0, TOEC_ICMP6_LEN);
    icmp[TOEC_ICMP6_TYPE] = (toec_u8)type;
    icmp[TOEC_ICMP6_CODE] = (toec_u8)code;
    toec_put32(icmp + TOEC_ICMP6_REST, rest);
    o.sum_off = TOEC_ICMP6_SUM;
    o.off = (toec_u32)(in->ip - in->pkt->data);
    /* RFC 4443 2.4 (c): as much as fits the minimum MTU */
    o.len = TOEC_MIN((toec_u32)TOEC_IP6_LEN + toec_ip6_payload(in->ip), in->pkt->len - o.off);
    o.len = TOEC_MIN(o.len, TOEC_IP6_MIN_MTU - TOEC_IP6_LEN - TOEC_ICMP6_LEN);
    if (toec_ip_post(s, &path, &o, now) < 0)
        TOEC_COUNT(s, tx_unresolved_drop);
    else
        TOEC_COUNT(s, icmp_error_sent);
}

/* ---- errors in ---- */

/* Translates the error to ICMP for IPv4, which TCP handles. Returns -1 when it has no equivalent.
 */
static int translate(struct toec_icmp_err *e, const toec_u8 *icmp)
{
    unsigned code = icmp[TOEC_ICMP6_CODE];
    toec_u32 rest = toec_get32(icmp + TOEC_ICMP6_REST);

    e->mtu = 0;
    e->type = TOEC_ICMP4_UNREACH;
    switch (icmp[TOEC_ICMP6_TYPE]) {
    case TOEC_ICMP6_UNREACH:
        e->code = code == TOEC_ICMP6_UNREACH_PORT    ? TOEC_ICMP4_UNREACH_PORT
                  : code == TOEC_ICMP6_UNREACH_ROUTE ? TOEC_ICMP4_UNREACH_NET
                  : code == TOEC_ICMP6_UNREACH_ADMIN || code == TOEC_ICMP6_UNREACH_POLICY ||
                          code == TOEC_ICMP6_UNREACH_REJECT
                      ? TOEC_ICMP4_UNREACH_ADMIN
                      : TOEC_ICMP4_UNREACH_HOST;
        return 0;
    case TOEC_ICMP6_TOO_BIG:
        if (rest < TOEC_IP6_MIN_MTU) /* R8201-01 */
            return -1;
        e->code = TOEC_ICMP4_UNREACH_FRAG;
        e->mtu = (toec_u16)TOEC_MIN(rest, 65535u);
        return 0;
    case TOEC_ICMP6_TIME_EXCEEDED:
        e->type = TOEC_ICMP4_TIME_EXCEEDED;
        e->code = (toec_u8)code;
        return 0;
    default: /* Parameter Problem */
        e->type = code == TOEC_ICMP6_PARAM_NEXT ? TOEC_ICMP4_UNREACH : TOEC_ICMP4_PARAM_PROBLEM;
        e->code = code == TOEC_ICMP6_PARAM_NEXT ? TOEC_ICMP4_UNREACH_PROTO : 0;
        return 0;
    }
}

/* Finds the quoted TCP segment or UDP datagram. Returns 0, or -1 when this stack cannot have sent
 * it. */
static int parse_quote(struct toec_stack *s, struct toec_icmp_err *e, const struct toec_ip_in *in)
{
    toec_u8 quote[QUOTE_LEN];
    const toec_u8 *tcp = quote + TOEC_IP6_LEN;

    if (in->l4_len < TOEC_ICMP6_LEN + QUOTE_LEN)
        return -1;
    toec_pkt_copy(s, quote, in->pkt, in->l4_off + TOEC_ICMP6_LEN, QUOTE_LEN);
    memcpy(e->local.b, quote + TOEC_IP6_SRC, 16);
    memcpy(e->remote.b, quote + TOEC_IP6_DST, 16);
    if (toec_ip6_version(quote) != 6 || !toec_icmp_quotable(quote[TOEC_IP6_NEXT]) ||
        !toec_own_find(s, &e->local))
        return -1;
    e->proto = quote[TOEC_IP6_NEXT];
    e->quoted_len = TOEC_IP6_LEN + toec_get16(quote + TOEC_IP6_PAYLOAD);
    e->local_port = toec_tcp_sport(tcp);
    e->remote_port = toec_tcp_dport(tcp);
    e->seq = toec_tcp_seq(tcp);
    return 0;
}

static void error_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    struct toec_icmp_err e;

    TOEC_COUNT(s, icmp_error_rx);
    if (translate(&e, in->l4) < 0 || parse_quote(s, &e, in) < 0) {
        TOEC_COUNT(s, icmp_error_bad_quote);
        return;
    }
    toec_icmp_deliver(s, &e, now);
}

/* ---- input ---- */

void toec_icmp6_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    toec_u16 sum;

    if (in->l4_head < TOEC_ICMP6_LEN) {
        TOEC_COUNT(s, icmp_short);
        return;
    }
    sum = toec_ip6_pseudo_sum(in->ip, TOEC_NH_ICMP6, in->l4_len);
    if (toec_sum_add(sum, toec_pkt_checksum(s, in->pkt, in->l4_off, in->l4_len), 0) != 0xffff) {
        TOEC_COUNT(s, icmp_bad_checksum);
        return;
    }
    if (s->cfg.link && in->l4[TOEC_ICMP6_TYPE] >= TOEC_ICMP6_ECHO) {
        /* the other stack handles informational messages (RFC 4443 2.1) */
        TOEC_COUNT(s, icmp_ignored);
        return;
    }
    switch (in->l4[TOEC_ICMP6_TYPE]) {
    case TOEC_ICMP6_ECHO:
        echo(s, in, now);
        return;
    case TOEC_ICMP6_UNREACH:
    case TOEC_ICMP6_TOO_BIG:
    case TOEC_ICMP6_TIME_EXCEEDED:
    case TOEC_ICMP6_PARAM_PROBLEM:
        error_input(s, in, now);
        return;
    case TOEC_ICMP6_RS:
    case TOEC_ICMP6_RA:
    case TOEC_ICMP6_NS:
    case TOEC_ICMP6_NA:
    case TOEC_ICMP6_REDIRECT:
        toec_nd_input(s, in, now);
        return;
    case TOEC_ICMP6_MLD_QUERY:
        toec_mld_query(s, in, now);
        return;
    default: /* RFC 4443 2.4 (a), (b) */
        TOEC_COUNT(s, icmp_unknown_type);
    }
}
