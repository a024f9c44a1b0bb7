/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_vlan.c - frames with VLAN tags (IEEE 802.1Q): with VLAN ID 0 they are untagged traffic, and
 * have the same effect and the same answers; others are dropped.
 */
#include "bench.h"
#include "bench6.h"

#define TAGS 3 /* most tags of a frame */

/* Inserts tags (TPID and TCI, ended by 0) into a frame. Returns its length. */
static uint32_t tag(uint8_t *f, uint32_t len, const uint32_t *tags)
{
    uint32_t at = 12;

    for (; *tags; tags++, at += 4, len += 4) {
        memmove(f + at + 4, f + at, len - at);
        poke32(f + at, *tags);
    }
    return len;
}

/* Passes a frame with these tags to the stack. */
static void input(struct bench *b, const uint8_t *frame, uint32_t len, const uint32_t *tags)
{
    uint8_t f[2048];

    memcpy(f, frame, len);
    bench_input(b, f, tag(f, len, tags));
}

/* ---- frames of every kind ---- */

static void ping(struct bench *b, const uint32_t *tags)
{
    struct ip4_spec spec = {PEER_IP, OWN_IP, 1, 64, 7, 0, 0, 0};
    uint8_t f[256], m[128];
    uint32_t n = make_icmp(m, 8, 0, 0x00010002, "0123456789abcdefghijk", 21);

    input(b, f, make_ip4(f, &spec, m, n), tags);
}

/* A ping in two fragments, the last one first. */
static void fragments(struct bench *b, const uint32_t *tags)
{
    struct ip4_spec spec = {PEER_IP, OWN_IP, 1, 64, 8, 0, 0, 0};
    uint8_t f[256], m[128];
    uint32_t n = make_icmp(m, 8, 0, 0x00010002, "0123456789abcdefghijk", 21);

    spec.frag = 16 / 8;
    input(b, f, make_ip4(f, &spec, m + 16, n - 16), tags);
    spec.frag = 0x2000;
    input(b, f, make_ip4(f, &spec, m, 16), tags);
}

/* UDP to a closed port: the answer quotes the datagram, with options. */
static void closed_port(struct bench *b, const uint32_t *tags)
{
    static const uint8_t udp[12] = {0, 9, 0, 10, 0, 12}, options[4] = {1, 1, 1, 0};
    struct ip4_spec spec = {PEER_IP, OWN_IP, 17, 64, 9, 0, options, 4};
    uint8_t f[256];

    input(b, f, make_ip4(f, &spec, udp, sizeof(udp)), tags);
}

static void question(struct bench *b, const uint32_t *tags)
{
    uint8_t f[64];

    input(b, f, make_arp(f, 1, peer_mac, PEER_IP, peer_mac, OWN_IP), tags);
}

static void ping6(struct bench *b, const uint32_t *tags)
{
    struct ip6_spec spec = {&peer6, &own6, 58, 64, peer_mac};
    uint8_t f[256], m[128];
    uint32_t n = make_icmp6(m, &spec, 128, 0, 0x00010002, "0123456789", 10);

    input(b, f, make_ip6(f, &spec, m, n), tags);
}

/* Without the option, the answer goes to the Ethernet address of the frame. */
static void solicit6(struct bench *b, const uint32_t *tags)
{
    struct ip6_spec spec = {&peer6, &own6, 58, 255, other_mac};
    uint8_t f[256], m[128];
    uint32_t n = make_icmp6(m, &spec, 135, 0, 0, own6.b, 16);

    input(b, f, make_ip6(f, &spec, m, n), tags);
}

/* An unknown protocol: the error quotes the packet. */
static void stranger6(struct bench *b, const uint32_t *tags)
{
    struct ip6_spec spec = {&peer6, &own6, 253, 64, peer_mac};
    uint8_t f[256];

    input(b, f, make_ip6(f, &spec, "what is this", 12), tags);
}

static void (*const kinds[])(struct bench *b, const uint32_t *tags) = {
    question, ping, fragments, closed_port, ping6, solicit6, stranger6,
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void start(struct bench *b)
{
    bench6_init(b, TOEC_IP6_STATIC);
    bench_learn(b, peer_mac, PEER_IP);
    bench6_learn(b, &peer6, peer_mac);
    bench_forget_sent(b);
}

/* ---- tests ---- */

static void priority_tags_are_untagged_traffic(void **state)
{
    static const uint32_t none[] = {0};
    static const uint32_t tags[][TAGS + 1] = {
        {0x81000000}, {0x8100f000}, {0x88a80000}, {0x81000000, 0x81002000, 0x88a8e000}};
    unsigned i, k;

    (void)state;
    for (i = 0; i < KINDS * 4; i++) {
        const uint32_t *these = tags[i / KINDS];
        const struct sent *want, *got;
        struct bench plain, tagged;

        start(&plain);
        start(&tagged);
        kinds[i % KINDS](&plain, none);
        kinds[i % KINDS](&tagged, these);
        for (k = 0; (want = bench_next(&plain)) != NULL; k++) {
            got = bench_next(&tagged);
            assert_non_null(got);
            assert_int_equal(got->len, want->len);
            assert_memory_equal(got->data, want->data, want->len);
        }
        assert_int_equal(k, 1); /* each kind has an answer */
        assert_null(bench_next(&tagged));
        assert_int_equal(bench_counter(&plain, TOEC_C_eth_priority), 0);
        assert_int_equal(bench_counter(&tagged, TOEC_C_eth_priority),
                         kinds[i % KINDS] == fragments ? 2 : 1);
        bench_stop(&plain);
        bench_stop(&tagged);
    }
}

/* TCP finds its segment, and the port functions its bytes in the frame as it arrived. */
static void segments_keep_their_place_in_the_frame(void **state)
{
    static const uint32_t tags[] = {0x8100a000, 0x81000000, 0};
    struct ip4_spec spec = {PEER_IP, OWN_IP, 6, 64, 0, 0, 0, 0};
    uint8_t f[256];
    struct bench b;

    (void)state;
    start(&b);
    input(&b, f, make_ip4(f, &spec, "a header of TCP, and data", 25), tags);
    assert_int_equal(b.tcp_inputs, 1);
    assert_int_equal(b.tcp_in.l4_off, 14 + 8 + 20);
    assert_int_equal(b.tcp_in.l4_len, 25);
    assert_memory_equal(b.tcp_data, "a header of TCP, and data", 25);
    bench_stop(&b);
}

static void frames_of_vlans_are_dropped(void **state)
{
    static const uint32_t tags[][TAGS + 1] = {{0x81000001},
                                              {0x8100a064},
                                              {0x81000fff},
                                              {0x88a80005},
                                              {0x81000000, 0x81000007},
                                              {0x81000007, 0x81000000}};
    unsigned i;

    (void)state;
    for (i = 0; i < KINDS * 6; i++) {
        struct bench b;

        start(&b);
        kinds[i % KINDS](&b, tags[i / KINDS]);
        assert_null(bench_next(&b));
        assert_int_equal(bench_counter(&b, TOEC_C_eth_vlan), kinds[i % KINDS] == fragments ? 2 : 1);
        assert_int_equal(bench_counter(&b, TOEC_C_eth_priority), 0);
        bench_stop(&b);
    }
}

/* Of every length: nothing is read beyond the contiguous bytes (make test-asan). */
static void tagged_frames_may_be_cut(void **state)
{
    static const uint32_t tags[] = {0x81000000, 0x88a80000, 0};
    struct ip4_spec spec = {PEER_IP, OWN_IP, 1, 64, 7, 0, 0, 0};
    uint8_t f[256], m[64];
    uint32_t n = make_icmp(m, 8, 0, 0x00010002, "0123456789", 10), len, cut;
    struct bench b;

    (void)state;
    start(&b);
    len = tag(f, make_ip4(f, &spec, m, n), tags);
    for (cut = 14; cut < len; cut++) {
        uint8_t *only = test_malloc(cut);

        memcpy(only, f, cut);
        bench_input(&b, only, cut);
        assert_null(bench_next(&b));
        test_free(only);
    }
    /* No type behind a tag: 14 to 17 bytes with one, 18 to 21 with two. */
    assert_int_equal(bench_counter(&b, TOEC_C_eth_short), 8);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_short), 20);
    b.head_len = 14 + 8 + 20 + 8; /* the payload in other pieces */
    bench_input(&b, f, len);
    assert_non_null(bench_next(&b));
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priority_tags_are_untagged_traffic),
        cmocka_unit_test(segments_keep_their_place_in_the_frame),
        cmocka_unit_test(frames_of_vlans_are_dropped),
        cmocka_unit_test(tagged_frames_may_be_cut),
    };

    return cmocka_run_group_tests_name("vlan", tests, NULL, NULL);
}
