/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_opt.c - TCP options (RFC 9293 3.2, RFC 7323, RFC 2018): parsing and writing.
 */
#include "tcp_opt.h"

static void parse_sack(struct toec_seg *g, const toec_u8 *o, unsigned len)
{
    unsigned i;

    if ((len - 2) % TOEC_TCPOPT_SACK_BLOCK_LEN)
        return;
    for (i = 2; i + TOEC_TCPOPT_SACK_BLOCK_LEN <= len && g->n_sack < 4; i += 8) {
        g->sack[g->n_sack].start = toec_get32(o + i);
        g->sack[g->n_sack].end = toec_get32(o + i + 4);
        g->n_sack++;
    }
}

/* Parses a Fast Open option that has n bytes before its cookie (RFC 7413 4.1.1). */
static void parse_fastopen(struct toec_seg *g, const toec_u8 *o, unsigned len, unsigned n)
{
    unsigned cookie = len - n;

    if (!(g->flags & TOEC_TH_SYN) || len < n || cookie % 2 ||
        (cookie && (cookie < TOEC_FO_COOKIE_MIN || cookie > TOEC_FO_COOKIE_MAX)))
        return;
    g->has_fo = 1;
    g->fo_len = (toec_u8)cookie;
    g->fo_exp = n == TOEC_FO_EXP_HEAD;
    g->fo = o + n;
}

/* Parses one option whose length field has been checked. A known kind with a wrong length is
 * ignored. */
static void parse_one(struct toec_seg *g, const toec_u8 *o, unsigned len)
{
    switch (o[0]) {
    case TOEC_TCPOPT_MSS:
        if (len == TOEC_TCPOPT_MSS_LEN && (g->flags & TOEC_TH_SYN))
            g->mss = toec_get16(o + 2);
        break;
    case TOEC_TCPOPT_WSCALE:
        if (len == TOEC_TCPOPT_WSCALE_LEN && (g->flags & TOEC_TH_SYN)) {
            g->has_wscale = 1;
            /* RFC 7323 2.3: a larger shift is used as 14 */
            g->wscale = o[2] < TOEC_WSCALE_MAX ? o[2] : (toec_u8)TOEC_WSCALE_MAX;
        }
        break;
    case TOEC_TCPOPT_SACK_PERM:
        if (len == TOEC_TCPOPT_SACK_PERM_LEN && (g->flags & TOEC_TH_SYN))
            g->sack_ok = 1;
        break;
    case TOEC_TCPOPT_SACK:
        parse_sack(g, o, len);
        break;
    case TOEC_TCPOPT_TS:
        if (len == TOEC_TCPOPT_TS_LEN) {
            g->has_ts = 1;
            g->tsval = toec_get32(o + 2);
            g->tsecr = toec_get32(o + 6);
        }
        break;
    case TOEC_TCPOPT_FASTOPEN:
        parse_fastopen(g, o, len, TOEC_FO_HEAD);
        break;
    case TOEC_TCPOPT_EXP:
        if (len >= TOEC_FO_EXP_HEAD && toec_get16(o + 2) == TOEC_TCPOPT_EXP_FASTOPEN)
            parse_fastopen(g, o, len, TOEC_FO_EXP_HEAD);
        break;
    case TOEC_TCPOPT_AO:
        g->ao_n++;
        g->ao = o;
        break;
    case TOEC_TCPOPT_MD5:
        g->ao_n |= TOEC_AO_MD5;
        break;
    case TOEC_TCPOPT_UTO:
        if (len == TOEC_TCPOPT_UTO_LEN)
            g->uto = toec_get16(o + 2);
        break;
    default:
        break; /* RFC 9293 3.2: unknown options are ignored */
    }
}

/* RFC 9293 MUST-4, MUST-5, MUST-6, MUST-7, MUST-64: options are parsed in any segment and at any
 * offset; unknown ones are skipped by their length. */
int toec_opt_parse(struct toec_seg *g, const toec_u8 *opt, unsigned len)
{
    unsigned i = 0;

    /* Fast path for nearly every segment of a flow: NOP NOP TS (RFC 7323 appendix A). */
    if (len == 12 && opt[0] == 1 && opt[1] == 1 && opt[2] == 8 && opt[3] == 10) {
        g->has_ts = 1;
        g->tsval = toec_get32(opt + 4);
        g->tsecr = toec_get32(opt + 8);
        return 0;
    }
    while (i < len) {
        unsigned n;

        if (opt[i] == TOEC_TCPOPT_END)
            return 0;
        if (opt[i] == TOEC_TCPOPT_NOP) {
            i++;
            continue;
        }
        if (i + 1 >= len)
            return -1;
        n = opt[i + 1];
        if (n < 2 || i + n > len) /* RFC 9293 3.2: illegal length */
            return -1;
        parse_one(g, opt + i, n);
        i += n;
    }
    return 0;
}

void toec_opt_without(struct toec_seg *g, unsigned opts)
{
    if (opts & TOEC_I_TIMESTAMPS)
        g->has_ts = 0;
    if (opts & TOEC_I_SACK)
        g->sack_ok = 0;
    if (opts & TOEC_I_WSCALE)
        g->has_wscale = 0;
}

/* RFC 9293 MUST-68, MUST-69: each option has a length, and padding is NOP. R7323-07. */
unsigned toec_opt_ts(toec_u8 *o, toec_u32 tsval, toec_u32 tsecr)
{
    o[0] = TOEC_TCPOPT_NOP;
    o[1] = TOEC_TCPOPT_NOP;
    o[2] = TOEC_TCPOPT_TS;
    o[3] = TOEC_TCPOPT_TS_LEN;
    toec_put32(o + 4, tsval);
    toec_put32(o + 8, tsecr);
    return 12;
}

/* Writes the options in Linux's order: the SACK-permitted option fills the two bytes that align the
 * timestamps. All four then leave 20 bytes for others (RFC 7413). RFC 9293 MUST-14, MUST-65, MAY-3,
 * SHLD-5: every SYN carries the MSS, and no other segment; the latter is also true of
 * SACK-permitted (R2018-01). */
unsigned toec_opt_syn(toec_u8 *o, unsigned opts, unsigned mss, unsigned wscale, toec_u32 tsval,
                      toec_u32 tsecr)
{
    unsigned n = 4;

    o[0] = TOEC_TCPOPT_MSS;
    o[1] = TOEC_TCPOPT_MSS_LEN;
    toec_put16(o + 2, mss);
    if (opts & TOEC_I_TIMESTAMPS) {
        toec_opt_ts(o + n, tsval, tsecr);
        if (opts & TOEC_I_SACK) { /* in place of the two NOPs */
            o[n] = TOEC_TCPOPT_SACK_PERM;
            o[n + 1] = TOEC_TCPOPT_SACK_PERM_LEN;
        }
        n += 12;
    } else if (opts & TOEC_I_SACK) {
        o[n] = TOEC_TCPOPT_NOP;
        o[n + 1] = TOEC_TCPOPT_NOP;
        o[n + 2] = TOEC_TCPOPT_SACK_PERM;
        o[n + 3] = TOEC_TCPOPT_SACK_PERM_LEN;
        n += 4;
    }
    if (opts & TOEC_I_WSCALE) {
        o[n] = TOEC_TCPOPT_NOP;
        o[n + 1] = TOEC_TCPOPT_WSCALE;
        o[n + 2] = TOEC_TCPOPT_WSCALE_LEN;
        o[n + 3] = (toec_u8)wscale;
        n += 4;
    }
    return n;
}

unsigned toec_opt_sack(toec_u8 *o, const struct toec_tcb *t, unsigned room)
{
    unsigned i, n, at = 4, dup = (unsigned)toec_dsack_due(t);

    if (room < 12 || t->n_ooo + dup == 0)
        return 0;
    n = (room - 4) / TOEC_TCPOPT_SACK_BLOCK_LEN;
    if (n > 4)
        n = 4; /* R2018-04 */
    if (n > t->n_ooo + dup)
        n = t->n_ooo + dup;
    o[0] = TOEC_TCPOPT_NOP;
    o[1] = TOEC_TCPOPT_NOP;
    o[2] = TOEC_TCPOPT_SACK;
    o[3] = (toec_u8)(2 + n * TOEC_TCPOPT_SACK_BLOCK_LEN);
    if (dup) { /* R2883-01: first; the block that contains it, if any, is the latest and comes
                  second */
        toec_put32(o + 4, t->dsack.start);
        toec_put32(o + 8, t->dsack.end);
        at += 8;
    }
    for (i = 0; i + dup < n; i++, at += 8) { /* R2018-03, R2018-05: the latest first */
        toec_put32(o + at, t->ooo[i].start);
        toec_put32(o + at + 4, t->ooo[i].end);
    }
    return at;
}
