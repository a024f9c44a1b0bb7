/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_options.c - the option parser alone (RFC 9293 3.2): options of a wrong length, options
 * that count only on a SYN.
 */
#include "tcpsim.h"

#include "tcp/tcp.h"
#include "tcp/tcp_opt.h"
#include "tcp/tcp_uto.h"

static struct toec_seg parse(unsigned flags, const uint8_t *o, unsigned n, int result)
{
    struct toec_seg g;

    memset(&g, 0, sizeof(g));
    g.flags = flags;
    assert_int_equal(toec_opt_parse(&g, o, n), result);
    return g;
}

/* MUST-64: an option of a known kind but wrong length is ignored; options after it count. */
static void test_wrong_lengths(void **state)
{
    static const uint8_t kinds[] = {2, 3, 4, 5, 8, 28, 34};
    uint8_t o[40];
    unsigned i, len;

    (void)state;
    for (i = 0; i < sizeof(kinds); i++)
        for (len = 2; len <= 34; len++) {
            struct toec_seg g;

            memset(o, 0x11, sizeof(o));
            o[0] = kinds[i];
            o[1] = (uint8_t)len;
            o[len] = 8;
            memset(o + len + 1, 0, 1);
            g = parse(TOEC_TH_SYN, o, len, 0);
            assert_int_equal(g.mss != 0, kinds[i] == 2 && len == 4);
            assert_int_equal(g.has_wscale, kinds[i] == 3 && len == 3);
            assert_int_equal(g.sack_ok, kinds[i] == 4 && len == 2);
            assert_int_equal(g.n_sack, kinds[i] == 5 && len % 8 == 2 ? len / 8 : 0);
            assert_int_equal(g.has_ts, kinds[i] == 8 && len == 10);
            assert_int_equal(g.uto != 0, kinds[i] == 28 && len == 4);
            assert_int_equal(g.has_fo, kinds[i] == 34 &&
                                           (len == 2 || (len >= 6 && len <= 18 && len % 2 == 0)));
            g = parse(TOEC_TH_ACK, o, len, 0);
            assert_false(g.mss || g.has_wscale || g.sack_ok || g.has_fo);
        }
}

/* The usual twelve bytes of timestamps, and options that only begin like them. */
static void test_almost_the_usual(void **state)
{
    static const uint8_t usual[12] = {1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9};
    struct toec_seg g = parse(TOEC_TH_ACK, usual, 12, 0);
    uint8_t o[12];

    (void)state;
    assert_true(g.has_ts && g.tsval == 7 && g.tsecr == 9);
    memcpy(o, usual, 12);
    o[0] = 0; /* the end of the list */
    assert_false(parse(TOEC_TH_ACK, o, 12, 0).has_ts);
    memcpy(o, usual, 12);
    o[1] = 0; /* ... after the first byte */
    assert_false(parse(TOEC_TH_ACK, o, 12, 0).has_ts);
    memcpy(o, usual, 12);
    o[2] = 77;
    assert_false(parse(TOEC_TH_ACK, o, 12, 0).has_ts);
    memcpy(o, usual, 12);
    o[3] = 9; /* one byte remains, which is the end */
    o[11] = 0;
    assert_false(parse(TOEC_TH_ACK, o, 12, 0).has_ts);
    o[0] = 8; /* in reverse order */
    o[1] = 10;
    memset(o + 2, 1, 10);
    assert_true(parse(TOEC_TH_ACK, o, 12, 0).has_ts);
    o[0] = 77; /* beyond the end */
    o[1] = 13;
    parse(TOEC_TH_ACK, o, 12, -1);
    o[1] = 1;
    parse(TOEC_TH_ACK, o, 12, -1);
    parse(TOEC_TH_ACK, o, 1, -1);
}

/* An option that does not fit is not written, not even in part. */
static void test_no_room(void **state)
{
    struct toec_tcb t;
    uint8_t o[4];

    (void)state;
    memset(&t, 0, sizeof(t));
    t.uto.adv = 90;
    assert_int_equal(toec_uto_option(&t, o, 3), 0);
    assert_int_equal(toec_uto_option(&t, o, 4), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_lengths),
        cmocka_unit_test(test_almost_the_usual),
        cmocka_unit_test(test_no_room),
    };

    return cmocka_run_group_tests_name("tcp_options", tests, 0, 0);
}
