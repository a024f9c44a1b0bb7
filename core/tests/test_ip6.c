/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ip6.c - IPv6 input and output (RFC 8200): header checks, extension headers in every order,
 * options by their action bits, routes.
 */
#include "bench6.h"
#include "ip/ip6_ext.h"
#include "ip/ip_out.h"

static const struct ip6_spec from_peer = {&peer6, &own6, 6, 0, 0};

static void input(struct bench *b, const struct ip6_spec *s, const void *payload, uint32_t len)
{
    uint8_t f[2048];

    bench_input(b, f, make_ip6(f, s, payload, len));
}

/* An extension header of 8 bytes: options padded, or routing with segments left. */
static void ext(uint8_t *p, int next, int a, int b2)
{
    const uint8_t h[8] = {(uint8_t)next, 0, (uint8_t)a, (uint8_t)b2, 0, 0, 0, 0};

    memcpy(p, h, 8);
}

static void start(struct bench *b)
{
    bench6_init(b, TOEC_IP6_STATIC);
    bench6_learn(b, &peer6, peer_mac);
}

/* The error about the last input: type, code, pointer. */
static void expect_error(struct bench *b, int type, int code, uint32_t rest)
{
    const uint8_t *m = expect_icmp6(b, type, code, &own6, &peer6, 0);

    assert_int_equal(peek32(m + 4), rest);
}

static void delivers_tcp(void **state)
{
    struct bench b;
    uint8_t tcp[20] = {0};

    (void)state;
    start(&b);
    input(&b, &from_peer, tcp, sizeof(tcp));
    assert_int_equal(b.tcp_inputs, 1);
    assert_memory_equal(b.tcp_in.src.b, peer6.b, 16);
    assert_memory_equal(b.tcp_in.dst.b, own6.b, 16);
    assert_int_equal(b.tcp_in.l4_len, 20);
    assert_int_equal(b.tcp_in.l4_off, 54);
    bench_stop(&b);
}

static void bad_headers(void **state)
{
    static const struct toec_addr loopback = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
    static const struct toec_addr other_group = {
        {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9}};
    struct bench b;
    uint8_t f[256], tcp[20] = {0};
    struct ip6_spec s = from_peer;
    uint32_t len;

    (void)state;
    start(&b);
    len = make_ip6(f, &s, tcp, 20);
    bench_input(&b, f, 53);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_short), 1);
    f[14] = 0x50;
    bench_input(&b, f, len);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_bad_version), 1);
    f[14] = 0x60;
    poke16(f + 18, 21);
    bench_input(&b, f, len);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_bad_length), 1);
    /* Invalid sources: groups, loopback, IPv4-mapped, our own; :: with TCP. */
    s.src = &all_nodes;
    input(&b, &s, tcp, 20);
    s.src = &loopback;
    input(&b, &s, tcp, 20);
    s.src = mapped(PEER_IP);
    input(&b, &s, tcp, 20);
    s.src = &own6;
    input(&b, &s, tcp, 20);
    s.src = &none6;
    input(&b, &s, tcp, 20);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_bad_source), 5);
    s = from_peer;
    s.dst = &far6;
    input(&b, &s, tcp, 20);
    s.dst = mapped(OWN_IP);
    input(&b, &s, tcp, 20);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_not_ours), 2);
    len = make_ip6(f, &from_peer, tcp, 20);
    memcpy(f, broadcast_mac, 6);
    bench_input(&b, f, len);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_group_frame), 1);
    s.dst = &other_group; /* that we have not joined */
    input(&b, &s, tcp, 20);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_not_ours), 3);
    s.dst = &all_nodes; /* TCP to a group */
    input(&b, &s, tcp, 20);
    assert_int_equal(b.tcp_inputs, 0);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* R8200-01: hop-by-hop, destination options, routing, destination options, TCP; padding is cut. */
static void headers_in_order(void **state)
{
    struct bench b;
    uint8_t p[200] = {0};
    struct ip6_spec s = from_peer;

    (void)state;
    start(&b);
    ext(p, 60, 1, 4);
    ext(p + 8, 43, 1, 4);
    ext(p + 16, 60, 77, 0); /* a routing header with no segments left, of whatever type */
    ext(p + 24, 6, 5, 2);   /* router alert, which is to be skipped */
    s.next = 0;
    input(&b, &s, p, 32 + 20);
    assert_int_equal(b.tcp_inputs, 1);
    assert_int_equal(b.tcp_in.l4_len, 20);
    assert_int_equal(b.tcp_in.l4_off, 54 + 32);
    assert_int_equal(b.tcp_in.proto, 6);
    /* A hop-by-hop header after another header is invalid. */
    ext(p, 0, 1, 4);
    s.next = 60;
    input(&b, &s, p, 52);
    expect_error(&b, 4, 1, 40);
    assert_int_equal(b.tcp_inputs, 1);
    bench_stop(&b);
}

/* R8200-02: with the offset of the byte that names it. No Next Header draws no error. */
static void unknown_next_header(void **state)
{
    struct bench b;
    uint8_t p[64] = {0};
    struct ip6_spec s = from_peer;

    (void)state;
    start(&b);
    s.next = 99;
    input(&b, &s, p, 20);
    expect_error(&b, 4, 1, 6);
    s.next = 60;
    ext(p, 51, 1, 4);
    input(&b, &s, p, 20);
    expect_error(&b, 4, 1, 40);
    s.next = 59;
    input(&b, &s, p, 20);
    assert_null(bench_next(&b));
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_no_next), 1);
    bench_stop(&b);
}

/* R8200-03: four actions, to us and to a group. */
static void option_actions(void **state)
{
    static const struct {
        int type, passes, reported, reported_group;
    } table[] = {{0x3e, 1, 0, 0}, {0x7e, 0, 0, 0}, {0xbe, 0, 1, 1}, {0xfe, 0, 1, 0}};
    struct ip6_spec s = from_peer;
    uint8_t p[64] = {0};
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    for (i = 0; i < 4; i++) {
        unsigned inputs = b.tcp_inputs;

        b.now += SEC;
        ext(p, 6, table[i].type, 4);
        s.next = i & 1 ? 60 : 0;
        s.dst = &own6;
        input(&b, &s, p, 28);
        assert_int_equal(b.tcp_inputs - inputs, table[i].passes);
        if (table[i].reported)
            expect_error(&b, 4, 2, 42);
        assert_null(bench_next(&b));
        s.dst = &all_nodes;
        input(&b, &s, p, 28);
        if (table[i].reported_group)
            expect_error(&b, 4, 2, 42);
        assert_null(bench_next(&b));
    }
    bench_stop(&b);
}

static void malformed_options(void **state)
{
    struct ip6_spec s = from_peer;
    uint8_t p[600] = {0};
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    s.next = 0;
    ext(p, 6, 1, 5); /* beyond the header */
    input(&b, &s, p, 28);
    ext(p, 6, 0, 0); /* six of Pad1 are fine */
    input(&b, &s, p, 28);
    assert_int_equal(b.tcp_inputs, 1);
    memset(p, 0, sizeof(p));
    p[0] = 6;
    p[1] = 2;
    for (i = 2; i + 2 <= 22; i += 2)
        p[i] = 0x1e; /* ten options of no length */
    input(&b, &s, p, 24 + 20);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_bad_option), 2);
    p[1] = 200; /* longer than the packet */
    input(&b, &s, p, 44);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_bad_ext), 1);
    memset(p, 0, sizeof(p)); /* more headers than anybody needs */
    s.next = 60;
    for (i = 0; i < 12; i++)
        ext(p + 8 * i, i == 11 ? 6 : 60, 1, 4);
    input(&b, &s, p, 96 + 20);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_chain_long), 1);
    assert_int_equal(b.tcp_inputs, 1);
    bench_stop(&b);
}

/* R8200-12: RFC 5095; so every routing header with segments left. */
static void routing_header_refused(void **state)
{
    struct ip6_spec s = from_peer;
    uint8_t p[64] = {0};
    struct bench b;

    (void)state;
    start(&b);
    s.next = 43;
    p[0] = 6;
    p[1] = 2; /* one address of type 0 */
    p[3] = 1;
    input(&b, &s, p, 24 + 20);
    expect_error(&b, 4, 0, 42);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_routing), 1);
    assert_int_equal(b.tcp_inputs, 0);
    bench_stop(&b);
}

/* R8200-10: a UDP checksum of zero is wrong; a right one is answered with port unreachable. */
static void udp_checksum(void **state)
{
    struct ip6_spec s = from_peer;
    uint8_t f[128], udp[12] = {0, 53, 0, 53, 0, 12, 0, 0, 'h', 'i', 0, 0}, sum[40 + 12];
    struct bench b;

    (void)state;
    start(&b);
    s.next = 17;
    bench_input(&b, f, make_ip6(f, &s, udp, 12));
    assert_int_equal(bench_counter(&b, TOEC_C_udp_bad), 1);
    assert_null(bench_next(&b));
    memcpy(sum, peer6.b, 16);
    memcpy(sum + 16, own6.b, 16);
    poke32(sum + 32, 12);
    poke32(sum + 36, 17);
    memcpy(sum + 40, udp, 12);
    poke16(udp + 6, naive_sum(sum, sizeof(sum)));
    bench_input(&b, f, make_ip6(f, &s, udp, 12));
    expect_error(&b, 1, 4, 0);
    bench_stop(&b);
}

/* R8200-09: no IPv6 on a link with less than 1280. */
static void configuration(void **state)
{
    struct bench b;

    (void)state;
    bench6_config(&b, TOEC_IP6_STATIC);
    b.cfg.mtu = 1279;
    assert_int_equal(toec_size(&b.cfg), 0);
    b.cfg.mtu = 1280;
    assert_true(toec_size(&b.cfg) > 0);
    memset(b.cfg.ip, 0, 4);
    memset(b.cfg.gateway, 0, 4);
    assert_true(toec_size(&b.cfg) > 0); /* IPv6 alone */
    memcpy(b.cfg.ip6_addr, all_nodes.b, 16);
    assert_int_equal(toec_size(&b.cfg), 0);
    memcpy(b.cfg.ip6_addr, mapped(PEER_IP)->b, 16);
    assert_int_equal(toec_size(&b.cfg), 0);
    bench6_config(&b, TOEC_IP6_OFF);
    assert_int_equal(toec_size(&b.cfg), 0);
}

static void routes(void **state)
{
    static const struct toec_addr loopback = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
    struct toec_path path;
    struct toec_addr src;
    struct bench b;

    (void)state;
    start(&b);
    assert_int_equal(toec_path_to(b.s, &peer6, &path), 0);
    assert_memory_equal(path.next_hop.b, peer6.b, 16);
    assert_int_equal(path.mtu, 1500);
    assert_int_equal(path.hlen, 40);
    assert_int_equal(toec_path_to(b.s, &router6, &path), 0);
    assert_int_equal(toec_path_to(b.s, &far6, &path), TOEC_E_UNREACH);
    assert_int_equal(toec_path_to(b.s, &all_nodes, &path), TOEC_E_UNREACH);
    assert_int_equal(toec_path_to(b.s, &none6, &path), TOEC_E_UNREACH);
    assert_int_equal(toec_path_to(b.s, &loopback, &path), TOEC_E_UNREACH);
    assert_int_equal(toec_path_to(b.s, &own6, &path), TOEC_E_UNREACH);
    /* RFC 6724: the scope of the destination */
    assert_int_equal(toec_source_for(b.s, &peer6, &src), 0);
    assert_memory_equal(src.b, own6.b, 16);
    assert_int_equal(toec_source_for(b.s, &router6, &src), 0);
    assert_int_equal(src.b[0], 0xfe);
    bench_stop(&b);
    bench6_config(&b, TOEC_IP6_STATIC);
    memcpy(b.cfg.ip6_gateway, router6.b, 16);
    bench_start(&b);
    assert_int_equal(toec_path_to(b.s, &far6, &path), 0);
    assert_memory_equal(path.next_hop.b, router6.b, 16);
    bench_stop(&b);
}

/* R6437-01: the same for one flow, another for another, never predictable from outside. */
static void flow_labels(void **state)
{
    struct toec_outbuf o;
    struct toec_path path;
    uint32_t label[3];
    struct bench b;
    int i;

    (void)state;
    start(&b);
    assert_int_equal(toec_path_to(b.s, &peer6, &path), 0);
    for (i = 0; i < 3; i++) {
        const struct sent *f;

        memset(&o, 0, sizeof(o));
        o.src = &own6;
        o.dst = &peer6;
        o.proto = 6;
        o.l4_len = 20;
        o.sum_off = 16;
        o.tos = 2;
        toec_tcp_emit(toec_out_l4(&o), 80, i == 2 ? 40001 : 40000, (toec_u32)i, 2, 20, 0x10, 100);
        assert_int_equal(toec_ip_output(b.s, &path, &o, b.now), 0);
        f = bench_next(&b);
        label[i] = peek32(f->data + 14) & 0xfffff;
        assert_int_equal(peek32(f->data + 14) >> 20, 0x602);
        assert_int_equal(f->data[21], 64);
    }
    assert_int_equal(label[0], label[1]);
    assert_int_not_equal(label[0], label[2]);
    assert_int_not_equal(label[0], 0);
    bench_stop(&b);
}

/* R8200-11 (RFC 7112): where the chain of a first fragment ends, header by header. */
static void chains(void **state)
{
    static const struct {
        int next;
        uint8_t p[24];
        unsigned len;
        int whole;
    } table[] = {
        {17, {0}, 7, 0},           {17, {0}, 8, 1},           {58, {0}, 3, 0},
        {58, {0}, 8, 1},           {59, {0}, 0, 1},           {99, {0}, 0, 1},
        {0, {17, 0}, 1, 0},        {0, {17, 0}, 7, 0},        {0, {17, 0}, 15, 0},
        {0, {17, 0}, 16, 1},       {43, {17, 1}, 16, 0},      {60, {17, 1}, 24, 1},
        {60, {17, 1}, 12, 0},      {44, {17, 0}, 7, 0},       {44, {17, 0}, 16, 1},
        {44, {17, 0}, 15, 0},      {60, {44, 0}, 12, 0},      {6, {0}, 19, 0},
        {6, {[12] = 0x50}, 20, 1}, {6, {[12] = 0x60}, 20, 0}, {6, {[12] = 0x60}, 24, 1},
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(toec_ip6_chain_whole((unsigned)table[i].next, table[i].p, table[i].len) !=
                             0,
                         table[i].whole);
}

/* Truncated headers, or more headers than are parsed. */
static void short_headers(void **state)
{
    struct ip6_spec s = from_peer;
    uint8_t p[700] = {0};
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    s.next = 60;
    input(&b, &s, p, 7);
    s.next = 44;
    input(&b, &s, p, 7);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_bad_ext), 2);
    s.next = 0; /* an option of one byte at the very end */
    ext(p, 6, 0, 0);
    p[7] = 0x1e;
    input(&b, &s, p, 28);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_bad_option), 1);
    memset(p, 0, sizeof(p)); /* 520 bytes of padding */
    p[0] = 6;
    p[1] = 64;
    for (i = 2; i < 518; i += 257) {
        p[i] = 1;
        p[i + 1] = 255;
    }
    p[516] = 1;
    p[517] = 2;
    input(&b, &s, p, 520 + 20);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_chain_long), 1);
    assert_int_equal(b.tcp_inputs, 0);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delivers_tcp),
        cmocka_unit_test(bad_headers),
        cmocka_unit_test(headers_in_order),
        cmocka_unit_test(unknown_next_header),
        cmocka_unit_test(option_actions),
        cmocka_unit_test(malformed_options),
        cmocka_unit_test(routing_header_refused),
        cmocka_unit_test(udp_checksum),
        cmocka_unit_test(configuration),
        cmocka_unit_test(routes),
        cmocka_unit_test(flow_labels),
        cmocka_unit_test(chains),
        cmocka_unit_test(short_headers),
    };

    return cmocka_run_group_tests_name("ip6", tests, 0, 0);
}
