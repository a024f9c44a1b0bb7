/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reass.c - IPv4 reassembly: orders, overlaps, limits, time, floods.
 */
#include "bench.h"
#include "random.h"

#define BLOCK 8

static uint8_t text[70000];

static void start(struct bench *b)
{
    unsigned i;

    for (i = 0; i < sizeof(text); i++)
        text[i] = i * 31 + (i >> 8);
    bench_init(b);
    bench_learn(b, peer_mac, PEER_IP);
}

/* Bytes [off, off + len) of a TCP datagram; more: not the last fragment. */
static void fragment_of(struct bench *b, uint16_t id, uint32_t off, uint32_t len, int more)
{
    struct ip4_spec spec = {PEER_IP, OWN_IP, 6, 64, 0, 0, 0, 0};
    static uint8_t f[70000];

    spec.id = id;
    spec.frag = off / 8 | (more ? 0x2000 : 0);
    bench_input(b, f, make_ip4(f, &spec, text + off, len));
}

static unsigned in_reassembly(struct bench *b)
{
    struct toec_usage u;

    toec_usage(b->s, &u);
    return u.datagrams;
}

static void expect_whole(struct bench *b, uint32_t len)
{
    assert_int_equal(b->tcp_in.l4_len, len);
    assert_int_equal(b->tcp_in.l4_head, len);
    assert_memory_equal(b->tcp_data, text, len);
    assert_true(toec_addr_is4(&b->tcp_in.src));
    assert_int_equal(b->tcp_in.src4, PEER_IP);
    assert_int_equal(in_reassembly(b), 0);
}

/* R1122-17: all orders of five fragments. */
static void every_order_of_five(void **state)
{
    unsigned order[5], n, i, k, seen, total = 0;
    struct bench b;

    (void)state;
    start(&b);
    for (n = 0; n < 3125; n++) {
        for (i = 0, k = n, seen = 0; i < 5; i++, k /= 5) {
            order[i] = k % 5;
            seen |= 1u << order[i];
        }
        if (seen != 31)
            continue;
        for (i = 0; i < 5; i++) {
            assert_int_equal(b.tcp_inputs, total);
            fragment_of(&b, n, order[i] * 40, order[i] == 4 ? 13 : 40, order[i] != 4);
        }
        assert_int_equal(b.tcp_inputs, ++total);
        expect_whole(&b, 173);
    }
    assert_int_equal(total, 120);
    bench_stop(&b);
}

/*
 * All triples of fragments within nine blocks, in the order given, each last or not: against a
 * model that keeps blocks according to the policy.
 */
struct policy {
    unsigned have, total, open;
    unsigned delivered, dropped, duplicates;
};

static void policy_input(struct policy *p, unsigned off, unsigned end, int last)
{
    unsigned mask = ((1u << end) - 1) & ~((1u << off) - 1);

    if (!p->open) {
        p->open = 1;
        p->have = p->total = 0;
    }
    if ((p->total && (last ? end != p->total : end > p->total)) ||
        (!p->total && last && p->have >> end)) {
        p->dropped++;
        p->open = 0;
        return;
    }
    if ((p->have & mask) == mask) {
        p->duplicates++;
        return;
    }
    if (p->have & mask) {
        p->dropped++;
        p->open = 0;
        return;
    }
    p->have |= mask;
    if (last)
        p->total = end;
    if (p->total && p->have == (1u << p->total) - 1) {
        p->delivered++;
        p->open = 0;
    }
}

static void every_triple_of_fragments(void **state)
{
    struct {
        unsigned off, end;
        int last;
    } kinds[90], *f;
    unsigned n = 0, a, c, d, off, end, i, id = 0;
    struct policy p;
    struct bench b;

    (void)state;
    start(&b);
    for (off = 0; off <= 8; off++)
        for (end = off + 1; end <= 9; end++) {
            kinds[n].off = off;
            kinds[n].end = end;
            kinds[n++].last = 0;
            kinds[n].off = off;
            kinds[n].end = end;
            kinds[n++].last = 1;
        }
    memset(&p, 0, sizeof(p));
    for (a = 0; a < n; a++)
        for (c = 0; c < n; c++)
            for (d = 0; d < n; d++) {
                unsigned triple[3] = {a, c, d};

                id++;
                p.open = 0;
                for (i = 0; i < 3; i++) {
                    f = (void *)&kinds[triple[i]];
                    if (f->off == 0 && f->last) /* not a fragment */
                        continue;
                    policy_input(&p, f->off, f->end, f->last);
                    fragment_of(&b, id, f->off * BLOCK, (f->end - f->off) * BLOCK, !f->last);
                    assert_int_equal(b.tcp_inputs, p.delivered);
                }
                assert_int_equal(bench_counter(&b, TOEC_C_ip4_frag_overlap), p.dropped);
                assert_int_equal(bench_counter(&b, TOEC_C_ip4_frag_duplicate), p.duplicates);
                if (id % 1000 == 0) { /* the rest would be evicted; let it go by time */
                    bench_pass(&b, 61 * SEC);
                    assert_int_equal(in_reassembly(&b), 0);
                    bench_forget_sent(&b);
                }
            }
    assert_true(p.delivered > 1000);
    bench_stop(&b);
}

static void first_bytes_win_over_duplicates(void **state)
{
    struct bench b;

    (void)state;
    start(&b);
    fragment_of(&b, 1, 0, 16, 1);
    text[3] ^= 0xff;
    fragment_of(&b, 1, 0, 16, 1);
    fragment_of(&b, 1, 0, 8, 1);
    text[3] ^= 0xff;
    fragment_of(&b, 1, 16, 5, 0);
    assert_int_equal(b.tcp_inputs, 1);
    expect_whole(&b, 21);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_frag_duplicate), 2);
    bench_stop(&b);
}

/* R791-02: the last byte may be number 65535, counted with the header, and not one more. */
static void longest_datagram(void **state)
{
    struct bench b;
    uint32_t off;

    (void)state;
    start(&b);
    for (off = 0; off + 1480 < 65515; off += 1480)
        fragment_of(&b, 1, off, 1480, 1);
    fragment_of(&b, 1, off, 65516 - off, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_frag_bad), 1);
    fragment_of(&b, 1, off, 65515 - off, 0);
    assert_int_equal(b.tcp_inputs, 1);
    expect_whole(&b, 65515);
    fragment_of(&b, 2, 65528, 1000, 0); /* "ping of death" */
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_frag_bad), 2);
    assert_int_equal(in_reassembly(&b), 0);
    bench_stop(&b);
}

/* The first fragment's options count as well: the whole would be longer than a datagram can be. */
static void longest_datagram_with_options(void **state)
{
    static const uint8_t options[40] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct ip4_spec spec = {PEER_IP, OWN_IP, 6, 64, 1, 0x2000, options, 0};
    uint32_t off, excess;
    struct bench b;
    uint8_t f[1600];

    (void)state;
    start(&b);
    for (excess = 0; excess < 2; excess++) {
        spec.id = (uint16_t)excess;
        spec.options_len = excess ? 4 : 40;
        bench_input(&b, f, make_ip4(f, &spec, text, 1400));
        for (off = 1400; off + 1480 < 65475; off += 1480)
            fragment_of(&b, spec.id, off, 1480, 1);
        fragment_of(&b, spec.id, off, (excess ? 65512 : 65475) - off, 0);
        assert_int_equal(in_reassembly(&b), 0);
        assert_int_equal(bench_counter(&b, TOEC_C_ip4_frag_bad), excess);
        assert_int_equal(b.tcp_inputs, 1);
    }
    assert_int_equal(b.tcp_in.l4_len, 65475);
    bench_stop(&b);
}

static void impossible_lengths(void **state)
{
    struct bench b;

    (void)state;
    start(&b);
    fragment_of(&b, 1, 8, 0, 0);
    fragment_of(&b, 1, 0, 0, 1);
    fragment_of(&b, 1, 0, 12, 1); /* only the last may end off a block */
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_frag_bad), 3);
    assert_int_equal(in_reassembly(&b), 0);
    bench_stop(&b);
}

/* Fragments belong together by source, protocol and ID. */
static void keys_are_kept_apart(void **state)
{
    struct ip4_spec spec = {PEER_IP, OWN_IP, 6, 64, 7, 0x2000, 0, 0};
    struct bench b;
    uint8_t f[128];

    (void)state;
    start(&b);
    bench_input(&b, f, make_ip4(f, &spec, text, 8));
    spec.frag = 1;
    spec.id = 8;
    bench_input(&b, f, make_ip4(f, &spec, text + 8, 8));
    spec.id = 7;
    spec.proto = 17;
    bench_input(&b, f, make_ip4(f, &spec, text + 8, 8));
    spec.proto = 6;
    spec.src = PEER_IP + 1;
    bench_input(&b, f, make_ip4(f, &spec, text + 8, 8));
    assert_int_equal(b.tcp_inputs, 0);
    assert_int_equal(in_reassembly(&b), 4);
    spec.src = PEER_IP;
    bench_input(&b, f, make_ip4(f, &spec, text + 8, 8));
    assert_int_equal(b.tcp_inputs, 1);
    bench_stop(&b);
}

/* The header is the first fragment's, options too, made whole again. */
static void header_of_the_first_fragment(void **state)
{
    static const uint8_t options[8] = {7, 7, 4, 0, 0, 0, 0, 0};
    struct ip4_spec spec = {PEER_IP, OWN_IP, 6, 33, 7, 1, 0, 0};
    struct bench b;
    uint8_t f[128];

    (void)state;
    start(&b);
    bench_input(&b, f, make_ip4(f, &spec, text + 8, 8));
    spec.frag = 0x2000;
    spec.options = options;
    spec.options_len = 8;
    bench_input(&b, f, make_ip4(f, &spec, text, 8));
    assert_int_equal(b.tcp_inputs, 1);
    assert_int_equal(b.tcp_in.l4_off, 14 + 28);
    assert_int_equal(b.tcp_in.ttl, 33);
    bench_stop(&b);
}

/* R1122-18, R1122-19 */
static void time_exceeded_if_the_first_was_there(void **state)
{
    const struct sent *f;
    struct bench b;

    (void)state;
    start(&b);
    fragment_of(&b, 1, 8, 8, 1);
    fragment_of(&b, 2, 0, 16, 1);
    bench_pass(&b, 59 * SEC);
    assert_int_equal(in_reassembly(&b), 2);
    assert_null(bench_next(&b));
    bench_pass(&b, 2 * SEC);
    assert_int_equal(in_reassembly(&b), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_frag_timeout), 2);
    f = bench_next(&b);
    assert_non_null(f);
    assert_int_equal(f->len, 14 + 20 + 8 + 36); /* all of the first fragment, as it was */
    assert_int_equal(f->data[34], 11);
    assert_int_equal(f->data[35], 1);
    assert_int_equal(naive_sum(f->data + 34, 44), 0);
    assert_int_equal(naive_sum(f->data + 42, 20), 0);
    assert_int_equal(peek16(f->data + 42 + 2), 36);
    assert_int_equal(peek16(f->data + 42 + 4), 2);
    assert_int_equal(peek16(f->data + 42 + 6), 0x2000);
    assert_memory_equal(f->data + 62, text, 16);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* RFC 1122 3.2.2: no error about an ICMP error, in fragments either. */
static void no_error_about_fragments_of_errors(void **state)
{
    struct ip4_spec spec = {PEER_IP, OWN_IP, 1, 64, 7, 0x2000, 0, 0};
    struct bench b;
    uint8_t f[128], msg[64];

    (void)state;
    start(&b);
    make_icmp(msg, 3, 1, 0, text, 32);
    bench_input(&b, f, make_ip4(f, &spec, msg, 24));
    make_icmp(msg, 8, 0, 0, text, 32);
    spec.id = 8;
    bench_input(&b, f, make_ip4(f, &spec, msg, 24));
    bench_pass(&b, 61 * SEC);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_error_sent), 1); /* about the echo */
    bench_stop(&b);
}

static void oldest_makes_room(void **state)
{
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    for (i = 0; i < 17; i++)
        fragment_of(&b, i, 0, 8, 1);
    assert_int_equal(in_reassembly(&b), 16);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_frag_evicted), 1);
    fragment_of(&b, 1, 8, 8, 0); /* the second oldest is still there */
    assert_int_equal(b.tcp_inputs, 1);
    fragment_of(&b, 0, 8, 8, 0); /* the oldest is not */
    assert_int_equal(b.tcp_inputs, 1);
    bench_stop(&b);
}

/* "Rose": a million first fragments over 60 s. Memory is bounded and is freed. */
static void flood_of_first_fragments(void **state)
{
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    for (i = 0; i < 1000000; i++) {
        fragment_of(&b, i * 2654435761u >> 16, 0, 8, 1);
        b.now += 60000;
        if (i % 1000 == 0) {
            bench_poll(&b);
            bench_forget_sent(&b);
        }
    }
    assert_true(in_reassembly(&b) <= 16);
    bench_pass(&b, 61 * SEC);
    assert_int_equal(in_reassembly(&b), 0);
    fragment_of(&b, 1, 0, 8, 1);
    fragment_of(&b, 1, 8, 8, 0);
    assert_int_equal(b.tcp_inputs, 1);
    bench_stop(&b);
}

/* "FragmentSmack": the longest datagram in fragments of one block, in random order. */
static void tiny_fragments_in_random_order(void **state)
{
    static uint16_t order[8189];
    struct bench b;
    unsigned i, k, round;
    uint16_t swap;

    (void)state;
    random_begin(40);
    start(&b);
    for (round = 0; round < 3; round++) {
        for (i = 0; i < 8189; i++)
            order[i] = i;
        for (i = 8188; i > 0; i--) {
            k = random_below(i + 1);
            swap = order[i];
            order[i] = order[k];
            order[k] = swap;
        }
        for (i = 0; i < 8189; i++)
            fragment_of(&b, round, order[i] * 8, 8, order[i] != 8188);
        assert_int_equal(b.tcp_inputs, round + 1);
        expect_whole(&b, 65512);
    }
    bench_stop(&b);
}

/* ... and of 64 datagrams at once, 1,024 pieces of each: sixteen are kept, the oldest makes room.
 */
static void tiny_fragments_of_many_datagrams(void **state)
{
    static uint16_t order[65536];
    struct bench b;
    unsigned i, k;
    uint16_t swap;

    (void)state;
    random_begin(5391);
    start(&b);
    for (i = 0; i < 65536; i++)
        order[i] = (uint16_t)i;
    for (i = 65535; i > 0; i--) {
        k = random_below(i + 1);
        swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (i = 0; i < 65536; i++) {
        fragment_of(&b, 100 + order[i] % 64, order[i] / 64 * 16, 8, 1);
        assert_true(in_reassembly(&b) <= 16);
        b.now += 10000;
        if (i % 1000 == 0) {
            bench_poll(&b);
            bench_forget_sent(&b);
        }
    }
    assert_true(bench_counter(&b, TOEC_C_ip4_frag_evicted) > 1000);
    fragment_of(&b, 1, 8, 8, 0); /* one that is whole has its turn */
    fragment_of(&b, 1, 0, 8, 1);
    assert_int_equal(b.tcp_inputs, 1);
    bench_pass(&b, 61 * SEC);
    assert_int_equal(in_reassembly(&b), 0);
    bench_stop(&b);
}

/* R1122-14: the reply to an echo request too long for one frame consists of matching fragments. */
static void long_echo(void **state)
{
    static const uint32_t lengths[] = {1473, 1474, 1480, 2960 - 8, 2961 - 8, 9000, 65507};
    struct ip4_spec spec = {PEER_IP, OWN_IP, 1, 64, 0, 0, 0, 0};
    static uint8_t msg[65536], f[2048], back[65536];
    const struct sent *sent;
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        uint32_t len = make_icmp(msg, 8, 0, 0x12340000 + i, text, lengths[i]), off, at = 0, id = 0;

        for (off = 0; off < len; off += 1480) {
            uint32_t n = len - off < 1480 ? len - off : 1480;

            spec.id = i;
            spec.frag = off / 8 | (off + n < len ? 0x2000 : 0);
            bench_input(&b, f, make_ip4(f, &spec, msg + off, n));
        }
        while ((sent = bench_next(&b)) != 0) {
            uint32_t n = peek16(sent->data + 16) - 20, frag = peek16(sent->data + 20);

            assert_true(sent->len <= 1514 && sent->len == 34 + n);
            assert_int_equal(naive_sum(sent->data + 14, 20), 0);
            assert_int_equal((frag & 0x1fff) * 8, at);
            assert_int_equal(frag & 0xe000, at + n < len ? 0x2000 : 0);
            if (at == 0)
                id = peek16(sent->data + 18);
            assert_int_equal(peek16(sent->data + 18), id);
            memcpy(back + at, sent->data + 34, n);
            at += n;
        }
        bench_forget_sent(&b);
        assert_int_equal(at, len);
        assert_int_equal(back[0], 0);
        assert_int_equal(naive_sum(back, len), 0);
        assert_memory_equal(back + 4, msg + 4, len - 4);
    }
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_sent), i);
    bench_stop(&b);
}

/* Errors about a fragmented datagram quote the reassembled one. */
static void error_about_a_reassembled_datagram(void **state)
{
    struct ip4_spec spec = {PEER_IP, OWN_IP, 132, 64, 5, 0x2000, 0, 0};
    const struct sent *sent;
    struct bench b;
    uint8_t f[128];

    (void)state;
    start(&b);
    bench_input(&b, f, make_ip4(f, &spec, text, 24));
    spec.frag = 3;
    bench_input(&b, f, make_ip4(f, &spec, text + 24, 9));
    sent = bench_next(&b);
    assert_non_null(sent);
    assert_int_equal(sent->len, 42 + 20 + 33);
    assert_int_equal(sent->data[34], 3);
    assert_int_equal(sent->data[35], 2);
    assert_int_equal(naive_sum(sent->data + 34, 8 + 53), 0);
    assert_memory_equal(sent->data + 62, text, 33);
    bench_stop(&b);
}

/* The L4 checksum of a reassembled datagram is summed in core/, also when fragments were vouched
 * for: no NIC has seen the whole. */
static void checksum_is_never_taken_on_trust(void **state)
{
    struct ip4_spec spec = {PEER_IP, OWN_IP, 6, 64, 5, 0x2000, 0, 0};
    struct toec_packet p;
    struct bench b;
    uint8_t f[128];

    (void)state;
    start(&b);
    memset(&p, 0, sizeof(p));
    p.flags = TOEC_RX_L4_CSUM_OK | TOEC_RX_IP_CSUM_OK;
    p.data = p.opaque = f;
    p.len = p.head_len = make_ip4(f, &spec, text, 24);
    toec_input(b.s, &p, b.now);
    spec.frag = 3;
    p.len = p.head_len = make_ip4(f, &spec, text + 24, 9);
    toec_input(b.s, &p, b.now);
    assert_int_equal(b.tcp_inputs, 1);
    assert_int_equal(b.tcp_flags, TOEC_RX_REASSEMBLED);
    bench_stop(&b);
}

/* R3168-08: a mark on any fragment marks the datagram; a mixture of ECN-capable and other
 * fragments is dropped. */
static void test_ecn(void **state)
{
    static const struct {
        uint8_t first, second;
        int result; /* -1: dropped */
    } cases[] = {{0, 0, 0}, {2, 2, 2},  {2, 3, 3},  {3, 2, 3},  {1, 3, 3},
                 {3, 3, 3}, {0, 3, -1}, {3, 0, -1}, {0, 2, -1}, {2, 1, 2}};
    unsigned i, j;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        uint8_t payload[16] = {0}, f[256];
        struct ip4_spec spec = {PEER_IP, OWN_IP, 6, 64, 7, 0, 0, 0};

        bench_init(&b);
        for (j = 0; j < 2; j++) {
            uint32_t n;

            spec.frag = j ? 1 : 0x2000;
            n = make_ip4(f, &spec, payload, 8);
            f[15] = (uint8_t)(0x48 | (j ? cases[i].second : cases[i].first));
            fix_ip4(f);
            bench_input(&b, f, n);
        }
        assert_int_equal(b.tcp_inputs, cases[i].result >= 0);
        if (cases[i].result >= 0)
            assert_int_equal(b.tcp_in.tos, 0x48 | cases[i].result);
        assert_int_equal(bench_counter(&b, TOEC_C_ip4_frag_ecn), cases[i].result < 0);
        bench_stop(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ecn),
        cmocka_unit_test(every_order_of_five),
        cmocka_unit_test(every_triple_of_fragments),
        cmocka_unit_test(first_bytes_win_over_duplicates),
        cmocka_unit_test(longest_datagram),
        cmocka_unit_test(longest_datagram_with_options),
        cmocka_unit_test(impossible_lengths),
        cmocka_unit_test(keys_are_kept_apart),
        cmocka_unit_test(header_of_the_first_fragment),
        cmocka_unit_test(time_exceeded_if_the_first_was_there),
        cmocka_unit_test(no_error_about_fragments_of_errors),
        cmocka_unit_test(oldest_makes_room),
        cmocka_unit_test(flood_of_first_fragments),
        cmocka_unit_test(tiny_fragments_in_random_order),
        cmocka_unit_test(tiny_fragments_of_many_datagrams),
        cmocka_unit_test(long_echo),
        cmocka_unit_test(error_about_a_reassembled_datagram),
        cmocka_unit_test(checksum_is_never_taken_on_trust),
    };

    return cmocka_run_group_tests_name("reass", tests, 0, 0);
}
