/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icmp4.c - Internet Control Message Protocol (RFC 792, RFC 1122 3.2.2).
 */
#include "icmp4.h"

#include "../tcp/tcp_if.h"
#include "ip4_in.h"
#include "ip4_out.h"
#include "ip_out.h"
#include "stack.h"

#define ECHO_BURST  100
#define ERROR_BURST 10
#define ERROR_TOS   0xc0 /* internetwork control (RFC 1812 4.3.2.5) */
#define ERROR_MAX   576  /* maximum bytes of an error datagram (RFC 1812 4.3.2.3) */
#define MIN_MTU     68   /* RFC 791 3.2: no link may have less */
/* Bytes read of a quoted datagram: a full IP header, and the ports and sequence number of TCP. */
#define QUOTE_TCP 8
#define QUOTE_MAX (TOEC_IP4_MAX_LEN + QUOTE_TCP)

void toec_icmp4_init(struct toec_stack *s)
{
    int i;

    toec_rate_init(&s->icmp4.echo, s->cfg.icmp_echo_rate, ECHO_BURST);
    for (i = 0; i < TOEC_ICMP4_BUCKETS; i++)
        toec_rate_init(&s->icmp4.errors[i], s->cfg.icmp_error_rate, ERROR_BURST);
}

static void out_init(struct toec_stack *s, struct toec_outbuf *o, const struct toec_ip_in *in)
{
    memset(o, 0, sizeof(*o));
    o->src = &s->addr;
    o->dst = &in->src;
    o->proto = TOEC_IPPROTO_ICMP;
    o->l4_len = TOEC_ICMP4_LEN;
    o->psrc = in->pkt;
}

/* ---- echo ---- */

/*
 * RFC 1624 eqn. 3: HC' = ~(~HC + ~m + m'), where m is the word of type and code. Only the type
 * changes between request and reply, so the payload is not read.
 */
static void make_reply_header(toec_u8 *reply, const toec_u8 *request)
{
    toec_u16 sum;

    memcpy(reply, request, TOEC_ICMP4_LEN);
    reply[TOEC_ICMP4_TYPE] = TOEC_ICMP4_ECHO_REPLY;
    sum = toec_sum_add((toec_u16)~toec_get_sum(request + TOEC_ICMP4_SUM),
                       (toec_u16)~toec_get_sum(request + TOEC_ICMP4_TYPE), 0);
    sum = toec_sum_add(sum, toec_get_sum(reply + TOEC_ICMP4_TYPE), 0);
    sum = (toec_u16)~sum;
    /* Of the two zeros of ones' complement only this one is correct for an all-zero reply (RFC 1624
     * 3). */
    toec_put_sum(reply + TOEC_ICMP4_SUM, sum ? sum : 0xffff);
}

/* Sends the reply o, fragmented when it exceeds the MTU. Returns as toec_ip4_send(). */
static int send_reply(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                      toec_time now)
{
    toec_u32 room = (path->mtu - TOEC_IP4_LEN) & ~7u; /* L4 data per fragment */
    toec_u32 left = o->len, done = 0, id;
    int rc;

    if (TOEC_IP4_LEN + o->l4_len + o->len <= path->mtu)
        return toec_ip_post(s, path, o, now);
    id = toec_rand32(s); /* RFC 6864 4.3; random, not a counter that others could read (RFC 7739) */
    for (;;) {
        o->len = TOEC_MIN(left, room - o->l4_len);
        left -= o->len;
        rc = toec_ip4_send(s, path, o, done / 8 | (left ? TOEC_IP4_MF : 0), id, now);
        if (rc < 0 || left == 0)
            return rc;
        done += o->l4_len + o->len;
        o->off += o->len;
        o->l4_len = 0; /* only the first fragment has the ICMP header */
    }
}

/* Answers with the same identifier, sequence number and data (R792-02, R1122-14). */
static void echo(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    struct toec_outbuf o;
    struct toec_path path;

    TOEC_COUNT(s, icmp_echo_rx);
    if (!toec_rate_allow(&s->icmp4.echo, now)) {
        TOEC_COUNT(s, icmp_echo_limited);
        return;
    }
    if (toec_ip4_path(s, in->src4, &path) < 0)
        return;
    out_init(s, &o, in);
    make_reply_header(toec_out_l4(&o), in->l4);
    o.sum_off = TOEC_SUM_NONE;
    o.tos = in->tos; /* RFC 1122 3.2.2.6 */
    o.off = in->l4_off + TOEC_ICMP4_LEN;
    o.len = in->l4_len - TOEC_ICMP4_LEN;
    if (send_reply(s, &path, &o, now) < 0)
        TOEC_COUNT(s, tx_unresolved_drop);
    else
        TOEC_COUNT(s, icmp_echo_sent);
}

/* ---- errors out ---- */

static int is_icmp_error(const struct toec_ip_in *in)
{
    /* of ICMP, only first fragments reach this function (Time Exceeded), and they hold at least 8
     * bytes */
    return in->proto == TOEC_IPPROTO_ICMP && in->l4[0] != TOEC_ICMP4_ECHO &&
           in->l4[0] != TOEC_ICMP4_ECHO_REPLY;
}

/*
 * R1122-10: sends no error about an error. The other conditions of RFC 1122 3.2.2 (no errors about
 * broadcasts, multicasts, invalid sources and later fragments) are already met: ip4_in.c drops the
 * former, ip4_reass.c the latter.
 */
void toec_icmp4_error(struct toec_stack *s, const struct toec_ip_in *in, unsigned type,
                      unsigned code, toec_time now)
{
    toec_u32 bucket = toec_word_hash(&s->keys.flow, in->src4, 1) % TOEC_ICMP4_BUCKETS;
    struct toec_outbuf o;
    struct toec_path path;
    toec_u8 *icmp;

    if (is_icmp_error(in))
        return;
    if (!toec_rate_allow(&s->icmp4.errors[bucket], now)) {
        TOEC_COUNT(s, icmp_error_limited);
        return;
    }
    if (toec_ip4_path(s, in->src4, &path) < 0)
        return;
    out_init(s, &o, in);
    icmp = toec_out_l4(&o);
    memset(icmp, 0, TOEC_ICMP4_LEN);
    icmp[TOEC_ICMP4_TYPE] = (toec_u8)type;
    icmp[TOEC_ICMP4_CODE] = (toec_u8)code;
    o.sum_off = TOEC_ICMP4_SUM;
    o.tos = ERROR_TOS;
    o.off = (toec_u32)(in->ip - in->pkt->data); /* R1122-11: as much as fits */
    o.len = TOEC_MIN(toec_ip4_total(in->ip), ERROR_MAX - TOEC_IP4_LEN - TOEC_ICMP4_LEN);
    if (toec_ip_post(s, &path, &o, now) < 0)
        TOEC_COUNT(s, tx_unresolved_drop);
    else
        TOEC_COUNT(s, icmp_error_sent);
}

/* ---- errors in ---- */

/*
 * Returns the next-hop MTU of "fragmentation needed". Routers before RFC 1191 leave it 0; then the
 * result is the next lower plateau below the length of the quoted datagram (R1191-04; RFC 1191 5,
 * 7.1).
 */
static toec_u16 next_mtu(const toec_u8 *icmp, const toec_u8 *quoted)
{
    static const toec_u16 plateau[] = {32000, 17914, 8166, 4352, 2002, 1492, 1006, 508, 296};
    toec_u32 mtu = toec_get16(icmp + TOEC_ICMP4_MTU), total = toec_ip4_total(quoted);
    unsigned i;

    if (mtu == 0) {
        for (i = 0; i < sizeof(plateau) / sizeof(plateau[0]) && plateau[i] >= total; i++)
            ;
        mtu = i < sizeof(plateau) / sizeof(plateau[0]) ? plateau[i] : MIN_MTU;
    }
    return (toec_u16)TOEC_MAX(mtu, MIN_MTU); /* RFC 1191 3 */
}

/* Finds the quoted TCP segment or UDP datagram. Returns 0, or -1 when this stack cannot have sent
 * it. */
static int parse_quote(struct toec_stack *s, struct toec_icmp_err *e, const struct toec_ip_in *in,
                       toec_u8 quote[QUOTE_MAX])
{
    toec_u32 len = TOEC_MIN(in->l4_len - TOEC_ICMP4_LEN, (toec_u32)QUOTE_MAX);
    const toec_u8 *tcp;
    unsigned hlen;

    if (len < TOEC_IP4_LEN + QUOTE_TCP)
        return -1;
    toec_pkt_copy(s, quote, in->pkt, in->l4_off + TOEC_ICMP4_LEN, len);
    hlen = toec_ip4_hlen(quote);
    if (toec_ip4_version(quote) != 4 || hlen < TOEC_IP4_LEN || hlen + QUOTE_TCP > len ||
        !toec_icmp_quotable(quote[TOEC_IP4_PROTO]) || toec_ip4_src(quote) != s->ip4 ||
        (toec_ip4_frag(quote) & TOEC_IP4_OFF_MASK) != 0)
        return -1;
    tcp = quote + hlen;
    e->proto = quote[TOEC_IP4_PROTO];
    e->quoted_len = toec_ip4_total(quote);
    e->local = s->addr;
    toec_addr_set4(&e->remote, toec_ip4_dst(quote));
    e->local_port = toec_tcp_sport(tcp);
    e->remote_port = toec_tcp_dport(tcp);
    e->seq = toec_tcp_seq(tcp);
    return 0;
}

/* R792-01; the error codes are those of Linux (icmp_err_convert). */
enum toec_reason toec_icmp_reason(const struct toec_icmp_err *e)
{
    if (e->type != TOEC_ICMP4_UNREACH)
        return TOEC_R_HOSTUNREACH;
    switch (e->code) {
    case TOEC_ICMP4_UNREACH_PROTO:
        return TOEC_R_NOPROTOOPT;
    case TOEC_ICMP4_UNREACH_PORT:
        return TOEC_R_REFUSED;
    case TOEC_ICMP4_UNREACH_NET:
    case TOEC_ICMP4_UNREACH_NET_UNKNOWN:
    case TOEC_ICMP4_UNREACH_NET_ADMIN:
    case TOEC_ICMP4_UNREACH_NET_TOS:
        return TOEC_R_NETUNREACH;
    default:
        return TOEC_R_HOSTUNREACH;
    }
}

void toec_icmp_deliver(struct toec_stack *s, const struct toec_icmp_err *e, toec_time now)
{
#ifndef TOEC_NO_UDP
    if (e->proto == TOEC_IPPROTO_UDP) {
        toec_udp_icmp_error(s, e, now);
        return;
    }
#endif
    toec_tcp_icmp_error(s, e, now);
}

static void error_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    toec_u8 quote[QUOTE_MAX];
    struct toec_icmp_err e;

    TOEC_COUNT(s, icmp_error_rx);
    if (parse_quote(s, &e, in, quote) < 0) {
        TOEC_COUNT(s, icmp_error_bad_quote);
        return;
    }
    e.type = in->l4[TOEC_ICMP4_TYPE];
    e.code = in->l4[TOEC_ICMP4_CODE];
    e.mtu = 0;
    if (e.type == TOEC_ICMP4_UNREACH && e.code == TOEC_ICMP4_UNREACH_FRAG)
        e.mtu = next_mtu(in->l4, quote);
    toec_icmp_deliver(s, &e, now);
}

/* ---- input ---- */

void toec_icmp4_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    if (in->l4_head < TOEC_ICMP4_LEN) {
        TOEC_COUNT(s, icmp_short);
        return;
    }
    if (toec_pkt_checksum(s, in->pkt, in->l4_off, in->l4_len) != 0xffff) {
        TOEC_COUNT(s, icmp_bad_checksum);
        return;
    }
    switch (in->l4[TOEC_ICMP4_TYPE]) {
    case TOEC_ICMP4_ECHO:
        echo(s, in, now);
        return;
    case TOEC_ICMP4_UNREACH:
    case TOEC_ICMP4_TIME_EXCEEDED:
    case TOEC_ICMP4_PARAM_PROBLEM:
        error_input(s, in, now);
        return;
    case TOEC_ICMP4_SOURCE_QUENCH: /* R792-03; RFC 9293 MUST-55 */
    case TOEC_ICMP4_REDIRECT:      /* routing is configured; redirects would allow spoofing */
        TOEC_COUNT(s, icmp_ignored);
        return;
    default: /* R1122-09: silently discarded */
        TOEC_COUNT(s, icmp_unknown_type);
    }
}
