/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nd.c - neighbours (RFC 4861): which messages count, what they change, when we solicit;
 * duplicate address detection (RFC 4862 5.4).
 */
#include "bench6.h"
#include "ip/ip_out.h"

static const struct ip6_spec from_peer = {&peer6, &own6, 58, 255, 0};

static void start(struct bench *b)
{
    bench6_init(b, TOEC_IP6_STATIC);
}

static struct toec_neigh *entry(struct bench *b)
{
    return toec_neigh_find(b->s, &peer6);
}

/* ---- which messages count ---- */

/* R4861-01, R4861-05: each violation is dropped silently; without one it is answered. */
static void solicitation_validity(void **state)
{
    struct ip6_spec s = from_peer;
    uint8_t opt[16], f[256], p[64];
    const uint8_t *m;
    struct bench b;
    uint32_t len;
    unsigned bad = 0;

    (void)state;
    start(&b);
    mac_option(opt, 1, peer_mac);
    s.hops = 254;
    input_nd(&b, &s, 135, 0, &own6, opt, 8);
    bad++;
    s.hops = 255;
    memcpy(p + 32, own6.b, 16);
    input_icmp6(&b, &s, 135, 1, 0, p + 32, 16); /* code */
    bad++;
    input_icmp6(&b, &s, 135, 0, 0, p + 32, 15); /* length */
    bad++;
    input_nd(&b, &s, 135, 0, &all_nodes, opt, 8); /* target */
    bad++;
    opt[1] = 0; /* R4861-09 */
    input_nd(&b, &s, 135, 0, &own6, opt, 8);
    bad++;
    opt[1] = 2; /* beyond the end */
    input_nd(&b, &s, 135, 0, &own6, opt, 8);
    bad++;
    opt[1] = 1;
    s.src = &none6; /* from ::, to a unicast address, and with a source address option */
    input_nd(&b, &s, 135, 0, &own6, 0, 0);
    bad++;
    assert_int_equal(bench_counter(&b, TOEC_C_nd_bad), bad);
    make_icmp6(p, &from_peer, 135, 0, 0, own6.b, 16);
    p[3] ^= 1;
    bench_input(&b, f, make_ip6(f, &from_peer, p, 24));
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_bad_checksum), 1);
    assert_null(bench_next(&b));
    input_nd(&b, &from_peer, 135, 0, &own6, opt, 8);
    m = expect_icmp6(&b, 136, 0, &own6, &peer6, &len);
    assert_int_equal(m[4] & 0xe0, 0x60); /* solicited, override, no router */
    assert_int_equal(len, 32);
    assert_memory_equal(m + 8, own6.b, 16);
    assert_int_equal(m[24], 2);
    assert_memory_equal(m + 26, own_mac, 6);
    assert_int_equal(entry(&b)->state, TOEC_NEIGH_STALE);
    bench_stop(&b);
}

/* R4861-10 (RFC 6980): not even a fragment that is whole. */
static void no_fragments(void **state)
{
    struct ip6_spec s = from_peer;
    uint8_t f[256], p[64] = {58, 0, 0, 0, 0, 0, 0, 1};
    struct bench b;

    (void)state;
    start(&b);
    make_icmp6(p + 8, &s, 135, 0, 0, own6.b, 16);
    s.next = 44;
    bench_input(&b, f, make_ip6(f, &s, p, 32));
    assert_int_equal(bench_counter(&b, TOEC_C_nd_bad), 1);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* R4861-02 */
static void advertisement_validity(void **state)
{
    struct ip6_spec s = from_peer;
    struct toec_path path;
    struct toec_outbuf o;
    uint8_t opt[8];
    struct bench b;

    (void)state;
    start(&b);
    memset(&o, 0, sizeof(o));
    o.src = &own6;
    o.dst = &peer6;
    o.sum_off = TOEC_SUM_NONE;
    assert_int_equal(toec_path_to(b.s, &peer6, &path), 0);
    assert_int_equal(toec_ip_output(b.s, &path, &o, b.now), TOEC_SEND_WAIT);
    mac_option(opt, 2, peer_mac);
    s.hops = 64;
    input_nd(&b, &s, 136, 0x60000000, &peer6, opt, 8);
    s.hops = 255;
    s.dst = &all_nodes;
    input_nd(&b, &s, 136, 0x60000000, &peer6, opt, 8); /* solicited, to everyone */
    s.dst = &own6;
    input_nd(&b, &s, 136, 0x60000000, &all_nodes, opt, 8);
    mac_option(opt, 2, broadcast_mac);
    input_nd(&b, &s, 136, 0x60000000, &peer6, opt, 8);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_bad), 4);
    assert_int_equal(entry(&b)->state, TOEC_NEIGH_INCOMPLETE);
    mac_option(opt, 2, peer_mac);
    input_nd(&b, &s, 136, 0x60000000, &far6, opt, 8); /* unsolicited */
    assert_null(toec_neigh_find(b.s, &far6));
    input_nd(&b, &s, 136, 0x60000000, &peer6, opt, 8);
    assert_int_equal(entry(&b)->state, TOEC_NEIGH_REACHABLE);
    bench_stop(&b);
}

/* R4861-07: RFC 4861 7.2.5, each combination for a known neighbour. */
static void override_and_solicited(void **state)
{
    static const struct {
        unsigned flags; /* solicited 0x40, override 0x20 */
        int option;     /* 0: none, 1: the known address, 2: another one */
        int state, other;
    } table[] = {
        {0x00, 1, TOEC_NEIGH_REACHABLE, 0}, {0x00, 2, TOEC_NEIGH_STALE, 0},
        {0x20, 2, TOEC_NEIGH_STALE, 1},     {0x40, 2, TOEC_NEIGH_STALE, 0},
        {0x60, 2, TOEC_NEIGH_REACHABLE, 1}, {0x40, 0, TOEC_NEIGH_REACHABLE, 0},
        {0x20, 1, TOEC_NEIGH_REACHABLE, 0}, {0x60, 1, TOEC_NEIGH_REACHABLE, 0},
    };
    uint8_t opt[8];
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    bench6_learn(&b, &peer6, peer_mac);
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        memcpy(entry(&b)->mac, peer_mac, 6);
        toec_neigh_reachable(b.s, entry(&b), b.now);
        mac_option(opt, 2, table[i].option == 2 ? other_mac : peer_mac);
        input_nd(&b, &from_peer, 136, table[i].flags << 24, &peer6, opt, table[i].option ? 8 : 0);
        assert_int_equal(entry(&b)->state, table[i].state);
        assert_memory_equal(entry(&b)->mac, table[i].other ? other_mac : peer_mac, 6);
    }
    bench_stop(&b);
}

/* ---- when we solicit ---- */

static int try_send(struct bench *b, struct toec_path *path)
{
    struct toec_outbuf o;

    memset(&o, 0, sizeof(o));
    o.src = &own6;
    o.dst = &peer6;
    o.proto = 253;
    o.sum_off = TOEC_SUM_NONE;
    return toec_ip_output(b->s, path, &o, b->now);
}

static void expect_solicit(struct bench *b, const struct toec_addr *dst)
{
    struct toec_addr group;
    const uint8_t *m;

    toec_addr_solicited(&group, &peer6);
    m = expect_icmp6(b, 135, 0, &own6, dst ? dst : &group, 0);
    assert_int_equal((m - 54)[21], 255);
    assert_memory_equal(m + 8, peer6.b, 16);
    assert_int_equal(m[24], 1);
    assert_memory_equal(m + 26, own_mac, 6);
}

/* R4861-04: three, a second apart, then unreachable, then all over again. */
static void three_solicitations(void **state)
{
    struct toec_path path;
    struct bench b;
    int i;

    (void)state;
    start(&b);
    assert_int_equal(toec_path_to(b.s, &peer6, &path), 0);
    for (i = 0; i < 3; i++) {
        assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT);
        expect_solicit(&b, 0);
        assert_null(bench_next(&b));
        bench_pass(&b, SEC + 2 * MSEC);
    }
    assert_int_equal(try_send(&b, &path), TOEC_SEND_UNREACH);
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_failed), 1);
    bench_pass(&b, 4 * SEC);
    bench_forget_sent(&b);
    assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT);
    expect_solicit(&b, 0);
    bench_stop(&b);
}

/* R4861-06: REACHABLE, STALE after about 30 s, DELAY 5 s, three unicast probes, then multicast.
 */
static void unreachability_detection(void **state)
{
    struct toec_path path;
    struct bench b;
    int i;

    (void)state;
    start(&b);
    bench6_learn(&b, &peer6, peer_mac);
    assert_int_equal(entry(&b)->state, TOEC_NEIGH_STALE);
    assert_int_equal(toec_path_to(b.s, &peer6, &path), 0);
    assert_int_equal(try_send(&b, &path), 0); /* used: DELAY */
    bench_forget_sent(&b);
    bench_pass(&b, 4900 * MSEC);
    assert_null(bench_next(&b));
    toec_path_confirm(b.s, &path, b.now); /* the layer above vouches: no probe */
    assert_int_equal(entry(&b)->state, TOEC_NEIGH_REACHABLE);
    bench_pass(&b, 14 * SEC); /* 0.5 to 1.5 times 30 s */
    assert_int_equal(entry(&b)->state, TOEC_NEIGH_REACHABLE);
    bench_pass(&b, 32 * SEC);
    assert_int_equal(entry(&b)->state, TOEC_NEIGH_STALE);
    assert_int_equal(try_send(&b, &path), 0);
    bench_forget_sent(&b);
    bench_pass(&b, 5 * SEC + 2 * MSEC);
    for (i = 0; i < 3; i++) {
        expect_solicit(&b, &peer6);
        assert_null(bench_next(&b));
        assert_int_equal(entry(&b)->state, TOEC_NEIGH_PROBE);
        bench_pass(&b, SEC + 2 * MSEC);
    }
    expect_solicit(&b, 0);
    assert_int_equal(entry(&b)->state, TOEC_NEIGH_INCOMPLETE);
    bench_stop(&b);
}

/* RFC 6583: solicitations for a million unused addresses evict no reachable neighbour. */
static void floods_push_out_nobody(void **state)
{
    struct toec_addr a = peer6;
    struct toec_path path, known;
    struct toec_usage u;
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    bench6_learn(&b, &peer6, peer_mac);
    assert_int_equal(toec_path_to(b.s, &peer6, &known), 0);
    assert_int_equal(try_send(&b, &known), 0);
    for (i = 0; i < 1000000; i++) { /* a hundred seconds */
        a.b[8] = 9;
        poke32(a.b + 12, i);
        assert_int_equal(toec_path_to(b.s, &a, &path), 0);
        (void)try_send(&b, &path);
        b.now += 100000;
        if (i % 100 == 0)
            bench_poll(&b);
        if (i % 10000 == 0) { /* once a second, and its reply is processed */
            assert_int_equal(try_send(&b, &known), 0);
            toec_path_confirm(b.s, &known, b.now);
            toec_usage(b.s, &u);
            assert_true(u.neighbours <= 65); /* a quarter of the table waits */
        }
        bench_forget_sent(&b);
    }
    assert_non_null(entry(&b));
    assert_memory_equal(entry(&b)->mac, peer_mac, 6);
    assert_int_equal(try_send(&b, &known), 0);
    bench_stop(&b);
}

/* ---- duplicate address detection ---- */

/* R4862-01, R4862-02: solicits once from ::, to the solicited-node group it has joined; then
 * advertises. R6980-01: in one piece. */
static void detects_no_duplicate(void **state)
{
    struct toec_own_addr own[8];
    struct bench b;
    unsigned probes = 0, reports = 0, adverts = 0;
    const struct sent *f;

    (void)state;
    bench6_config(&b, TOEC_IP6_STATIC);
    bench_start(&b);
    assert_int_equal(toec_own_addresses(b.s, own, 8), 2);
    assert_true(own[0].tentative && own[1].tentative && !own[1].usable);
    input_icmp6(&b, &from_peer, 128, 0, 1, "x", 1); /* RFC 4862 5.4: not ours yet */
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_not_ours), 1);
    bench_pass(&b, 4 * SEC);
    while ((f = bench_next(&b)) != 0) {
        if (peek16(f->data + 12) != 0x86dd)
            continue;
        if (f->data[20] == 0) { /* hop-by-hop with router alert: MLDv2, RFC 3810 5 */
            reports++;
            assert_int_equal(f->data[21], 1);
            assert_int_equal(peek16(f->data + 56), 0x0502);
            assert_int_equal(f->data[62], 143);
            continue;
        }
        assert_int_equal(f->data[20], 58); /* no fragment header */
        assert_true(icmp6_sum_ok(f->data));
        assert_int_equal(f->data[21], 255);
        if (f->data[54] == 135) {
            probes++;
            assert_true(reports > 0);
            assert_memory_equal(f->data + 22, none6.b, 16);
            assert_int_equal(f->data[38], 0xff);
        } else {
            adverts++;
            assert_int_equal(f->data[54], 136);
            assert_memory_equal(f->data + 38, all_nodes.b, 16);
        }
    }
    assert_int_equal(probes, 2);
    assert_int_equal(adverts, 2);
    assert_true(reports >= 2);
    assert_int_equal(toec_own_addresses(b.s, own, 8), 2);
    assert_true(own[0].usable && own[1].usable);
    bench_stop(&b);
}

/* R4862-03: another host has it, or tests it: a static address is dropped; a new link-local one is
 * generated. Solicitations for it get no reply. */
static void duplicates(void **state)
{
    struct toec_own_addr own[8], again[8];
    struct ip6_spec s = {&peer6, &all_nodes, 58, 255, 0};
    struct toec_addr group;
    uint8_t opt[8];
    struct bench b;

    (void)state;
    bench6_config(&b, TOEC_IP6_STATIC);
    bench_start(&b);
    toec_own_addresses(b.s, own, 8);
    toec_addr_solicited(&group, &own[1].addr);
    s.dst = &group;
    mac_option(opt, 1, peer_mac);
    input_nd(&b, &s, 135, 0, &own[1].addr, opt, 8); /* solicits, and does not test */
    assert_null(bench_next(&b));
    assert_int_equal(bench_counter(&b, TOEC_C_nd_dad_failed), 0);
    s.dst = &all_nodes;
    mac_option(opt, 2, peer_mac);
    input_nd(&b, &s, 136, 0x20000000, &own6, opt, 8);
    assert_int_equal(toec_own_addresses(b.s, own, 8), 2);
    assert_false(own[1].tentative || own[1].usable);
    toec_addr_solicited(&group, &own[0].addr);
    s.src = &none6;
    s.dst = &group;
    input_nd(&b, &s, 135, 0, &own[0].addr, 0, 0);
    toec_own_addresses(b.s, again, 8);
    assert_true(again[0].tentative);
    assert_memory_not_equal(again[0].addr.b, own[0].addr.b, 16);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_dad_failed), 2);
    bench_pass(&b, 4 * SEC);
    toec_own_addresses(b.s, again, 8);
    assert_true(again[0].usable);
    assert_false(again[1].usable);
    bench_stop(&b);
}

/* RFC 7527: a looped-back solicitation is our own. Other hosts' solicitations are no replies
 * either.
 */
static void own_probe_is_no_duplicate(void **state)
{
    struct toec_own_addr own[8];
    struct bench b;
    const struct sent *f;
    uint8_t copy[256];

    (void)state;
    bench6_config(&b, TOEC_IP6_STATIC);
    bench_start(&b);
    bench_pass(&b, SEC + 2 * MSEC);
    while ((f = bench_next(&b)) != 0) {
        memcpy(copy, f->data, f->len);
        if (f->data[54] == 135 && f->data[20] == 58)
            bench_input(&b, copy, f->len);
    }
    bench_pass(&b, 4 * SEC);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_dad_failed), 0);
    toec_own_addresses(b.s, own, 8);
    assert_true(own[0].usable && own[1].usable);
    bench_stop(&b);
}

/* R7217-01: the same secret, the same address; another one, or another interface, another. After a
 * conflict: duplicates(); of another prefix: test_nd_router.c. */
static void stable_identifiers(void **state)
{
    struct toec_own_addr own[4][8];
    struct bench b;
    int i;

    (void)state;
    for (i = 0; i < 4; i++) {
        bench6_config(&b, TOEC_IP6_STATIC);
        memset(b.cfg.ip6_secret, i == 2 ? 2 : 1, 16);
        b.cfg.secret[0] = (uint8_t)i; /* of this start alone */
        b.cfg.mac[5] ^= i == 3;
        bench_start(&b);
        toec_own_addresses(b.s, own[i], 8);
        bench_stop(&b);
    }
    assert_memory_equal(own[0][0].addr.b, own[1][0].addr.b, 16);
    assert_memory_not_equal(own[0][0].addr.b, own[2][0].addr.b, 16);
    assert_memory_not_equal(own[0][0].addr.b, own[3][0].addr.b, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solicitation_validity),
        cmocka_unit_test(no_fragments),
        cmocka_unit_test(advertisement_validity),
        cmocka_unit_test(override_and_solicited),
        cmocka_unit_test(three_solicitations),
        cmocka_unit_test(unreachability_detection),
        cmocka_unit_test(floods_push_out_nobody),
        cmocka_unit_test(detects_no_duplicate),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(own_probe_is_no_duplicate),
        cmocka_unit_test(stable_identifiers),
    };

    return cmocka_run_group_tests_name("nd", tests, 0, 0);
}
