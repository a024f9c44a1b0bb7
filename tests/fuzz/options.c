/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - fuzz target: the walker of TCP options against another one written here from RFC 9293
 * 3.2, RFC 7323 and RFC 2018, and the writers against the walker.
 *
 * Input: [flags][which options to write][mss, 2][wscale][tsval, 4][tsecr, 4][option area, to 40].
 */
#include "tcp/tcp.h"
#include "tcp/tcp_opt.h"

#include "fuzz.h"

/* The result of a parser written from the RFCs. -1: malformed. */
static int read_options(struct toec_seg *g, const uint8_t *o, unsigned n)
{
    unsigned i = 0, k, len;

    while (i < n && o[i] != 0) {
        if (o[i] == 1) {
            i++;
            continue;
        }
        if (i + 2 > n || o[i + 1] < 2 || o[i + 1] > n - i)
            return -1;
        len = o[i + 1];
        if (o[i] == 2 && len == 4 && (g->flags & TOEC_TH_SYN))
            g->mss = (toec_u16)(o[i + 2] << 8 | o[i + 3]);
        if (o[i] == 3 && len == 3 && (g->flags & TOEC_TH_SYN)) {
            g->has_wscale = 1;
            g->wscale = o[i + 2] > 14 ? 14 : o[i + 2];
        }
        if (o[i] == 4 && len == 2 && (g->flags & TOEC_TH_SYN))
            g->sack_ok = 1;
        for (k = 2; o[i] == 5 && len % 8 == 2 && k < len && g->n_sack < 4; k += 8) {
            g->sack[g->n_sack].start = toec_get32(o + i + k);
            g->sack[g->n_sack++].end = toec_get32(o + i + k + 4);
        }
        if (o[i] == 8 && len == 10) {
            g->has_ts = 1;
            g->tsval = toec_get32(o + i + 2);
            g->tsecr = toec_get32(o + i + 6);
        }
        if (o[i] == 29) { /* RFC 5925 2.2: their number, and the last one */
            g->ao_n++;
            g->ao = o + i;
        }
        if (o[i] == 19)
            g->ao_n |= TOEC_AO_MD5;
        i += len;
    }
    return 0;
}

static void compare(const struct toec_seg *a, const struct toec_seg *b)
{
    unsigned i;

    FUZZ_CHECK(a->mss == b->mss && a->has_wscale == b->has_wscale && a->sack_ok == b->sack_ok);
    FUZZ_CHECK(!a->has_wscale || a->wscale == b->wscale);
    FUZZ_CHECK(a->has_ts == b->has_ts);
    FUZZ_CHECK(!a->has_ts || (a->tsval == b->tsval && a->tsecr == b->tsecr));
    FUZZ_CHECK(a->ao_n == b->ao_n && (!(a->ao_n & TOEC_AO_COUNT) || a->ao == b->ao));
    FUZZ_CHECK(a->n_sack == b->n_sack && a->n_sack <= 4);
    for (i = 0; i < a->n_sack; i++)
        FUZZ_CHECK(a->sack[i].start == b->sack[i].start && a->sack[i].end == b->sack[i].end);
}

/* Written options parse back unchanged. */
static void write_and_read(unsigned opts, unsigned mss, unsigned wscale, toec_u32 tsval,
                           toec_u32 tsecr)
{
    uint8_t o[40];
    struct toec_seg g;
    unsigned n;

    opts &= TOEC_I_TIMESTAMPS | TOEC_I_SACK | TOEC_I_WSCALE;
    n = toec_opt_syn(o, opts, mss, wscale, tsval, tsecr);
    FUZZ_CHECK(n <= 40 && n % 4 == 0);
    memset(&g, 0, sizeof(g));
    g.flags = TOEC_TH_SYN;
    FUZZ_CHECK(toec_opt_parse(&g, o, n) == 0);
    FUZZ_CHECK(g.mss == mss);
    FUZZ_CHECK(!!g.sack_ok == !!(opts & TOEC_I_SACK));
    FUZZ_CHECK(!!g.has_wscale == !!(opts & TOEC_I_WSCALE));
    FUZZ_CHECK(!g.has_wscale || g.wscale == wscale);
    FUZZ_CHECK(!!g.has_ts == !!(opts & TOEC_I_TIMESTAMPS));
    FUZZ_CHECK(!g.has_ts || (g.tsval == tsval && g.tsecr == tsecr));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    unsigned flags = fuzz_u8(&in), opts = fuzz_u8(&in), mss = fuzz_u16(&in);
    unsigned wscale = fuzz_u8(&in) % 15;
    toec_u32 tsval = fuzz_u32(&in), tsecr = fuzz_u32(&in);
    struct toec_seg got, want;
    const uint8_t *area;
    uint8_t *exact;
    size_t n;
    int rc;

    write_and_read(opts, mss, wscale, tsval, tsecr);
    area = fuzz_bytes(&in, 40, &n);
    exact = fuzz_exact(area, n);
    memset(&got, 0, sizeof(got));
    got.flags = (toec_u8)flags;
    want = got;
    rc = read_options(&want, exact, (unsigned)n);
    FUZZ_CHECK(toec_opt_parse(&got, exact, (unsigned)n) == rc);
    if (rc == 0)
        compare(&got, &want);
    free(exact);
    return 0;
}
