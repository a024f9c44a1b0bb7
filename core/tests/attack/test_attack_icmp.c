/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attack_icmp.c - forged ICMP errors (RFC 5927): every type and code, quoting data in flight
 * and other data, in every state. Only an attempt to connect may end by one, and only by one that
 * quotes its SYN. R5927-01, R5927-02
 */
#include "reach.h"

/* Types of errors: unreachable, source quench, redirect, time exceeded, parameter problem; of IPv6
 * unreachable, packet too big, time exceeded, parameter problem, and one that is not known. */
static const unsigned types4[] = {3, 4, 5, 11, 12}, types6[] = {1, 2, 3, 4, 100};

/* RFC 9293 MUST-55. */
static void test_matrix(void **state)
{
    static const int64_t off[] = {-1, 0, 1, 0x10000, -0x10000, 0x7fffffff};
    const unsigned *types = sim_ip6 ? types6 : types4, too_big = sim_ip6 ? 2 : 3;
    unsigned ended = 0;
    int s;

    (void)state;
    for (s = FIRST_STATE; s <= LAST_STATE; s++) {
        struct place p;
        unsigned i, k, code;

        reach(&p, (enum toec_state)s);
        for (i = 0; i < 5; i++) {
            for (code = 0; code < 16; code++) {
                for (k = 0; k < 6; k++) {
                    struct tseg g = seg_make(p.t.own_port, p.t.peer_port, F_ACK, 0, 0);
                    struct toec_info before, after;
                    enum toec_state now;

                    memset(&before, 0, sizeof(before));
                    if (p.t.c->flow)
                        toec_flow_info(p.t.c->host->stack, p.t.c->flow, &before);
                    /* offset 0 is the oldest byte under way: the SYN or FIN, where one is */
                    g.seq = p.t.iss + (s <= TOEC_SYN_RECEIVED ? 0 : 1) + (uint32_t)off[k];
                    craft_icmp(&p.t.s, types[i], code, 600, &g);
                    craft_poll(&p.t.s);
                    now = place_state(&p);
                    if (now == TOEC_CLOSED) {
                        /* nothing but the SYN quoted by a hard error does this */
                        assert_true(s <= TOEC_SYN_RECEIVED);
                        assert_true(sim_ip6 ? types[i] == 1 || types[i] == 4 : types[i] == 3);
                        assert_int_equal(off[k], 0);
                        ended++;
                        place_end(&p);
                        reach(&p, (enum toec_state)s);
                        continue;
                    }
                    assert_int_equal(now, s);
                    if (!p.t.c->flow)
                        continue;
                    toec_flow_info(p.t.c->host->stack, p.t.c->flow, &after);
                    assert_int_equal(after.cwnd, before.cwnd); /* no source quench, R792-03 */
                    if (off[k] || types[i] != too_big || (!sim_ip6 && code != 4))
                        assert_int_equal(after.mss_send, before.mss_send);
                }
            }
        }
        craft_forget(&p.t.s);
        place_end(&p);
    }
    assert_true(ended >= 2 * 2); /* port and protocol unreachable, for SYN-SENT and SYN-RECEIVED */
}

/* A guesser cannot force a tiny path MTU: it stays at least 552 bytes, 1280 for IPv6, whatever
 * next-hop MTU the message claims (RFC 5927 7.2, RFC 8201 4). */
static void test_mtu_floor(void **state)
{
    static const uint32_t mtu[] = {0, 1, 67, 68, 296, 551, 552, 1279, 1280};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(mtu) / sizeof(*mtu); i++) {
        struct talk t;
        struct tseg g;
        struct toec_info info;
        unsigned k;

        talk_open(&t);
        talk_send(&t, 14600);
        talk_skip(&t);
        for (k = 0; k < 40; k++) {
            g = seg_make(t.own_port, t.peer_port, F_ACK, t.iss + 1, 0);
            craft_icmp(&t.s, sim_ip6 ? 2 : 3, sim_ip6 ? 0 : 4, mtu[i], &g);
            craft_pass(&t.s, 500 * MSEC);
            if (t.s.sent_n > 2000)
                craft_forget(&t.s);
        }
        toec_flow_info(t.s.host[0].stack, t.c->flow, &info);
        assert_true(info.mss_send >= (sim_ip6 ? 1280 - 60 : 552 - 40));
        craft_forget(&t.s);
        talk_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrix),
                                       cmocka_unit_test(test_mtu_floor)};

    int failed = cmocka_run_group_tests_name("forged ICMP", tests, 0, 0);

    sim_ip6 = 1;
    return failed + cmocka_run_group_tests_name("forged ICMPv6", tests, 0, 0);
}
