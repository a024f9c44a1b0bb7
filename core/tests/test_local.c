/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local.c - frames to an address of the stack's own: sent only to an integrator that loops
 * them back, accepted only from it (toec_config.local, toec_tx.local, TOEC_RX_LOCAL).
 */
#include "bench6.h"
#include "ip/ip_out.h"

static void begin(struct bench *b, int local)
{
    bench6_config(b, TOEC_IP6_STATIC);
    b->cfg.local = (toec_u32)local;
    bench_start(b);
    bench_pass(b, 5 * SEC); /* duplicates are looked for */
    while (bench_next(b))
        ;
}

static int try_send(struct bench *b, const struct toec_addr *own, struct toec_path *path)
{
    struct toec_outbuf o;

    memset(&o, 0, sizeof(o));
    o.src = own;
    o.dst = own;
    o.proto = 253; /* RFC 3692: for experiments */
    o.sum_off = TOEC_SUM_NONE;
    return toec_ip_output(b->s, path, &o, b->now);
}

static void give(struct bench *b, const uint8_t *frame, uint32_t len, uint32_t flags)
{
    struct toec_packet p;

    memset(&p, 0, sizeof(p));
    p.data = frame;
    p.head_len = p.len = len;
    p.flags = flags;
    p.opaque = (void *)(uintptr_t)frame;
    toec_input(b->s, &p, b->now);
}

static void sent_as_local(void **state)
{
    const struct toec_addr *own[2] = {mapped(OWN_IP), &own6};
    unsigned i;

    (void)state;
    for (i = 0; i < 2; i++) {
        struct toec_path path;
        const struct sent *f;
        struct bench b;

        begin(&b, 1);
        assert_int_equal(toec_path_to(b.s, own[i], &path), 0);
        assert_int_equal(try_send(&b, own[i], &path), 0);
        f = bench_next(&b);
        assert_non_null(f);
        assert_int_equal(f->local, 1);
        assert_memory_equal(f->data, own_mac, 6);
        assert_null(bench_next(&b)); /* no resolution of the address */
        assert_int_equal(toec_path_to(b.s, i ? &peer6 : mapped(PEER_IP), &path), 0);
        assert_int_equal(try_send(&b, i ? &peer6 : mapped(PEER_IP), &path), TOEC_SEND_WAIT);
        f = bench_next(&b);
        assert_non_null(f);
        assert_int_equal(f->local, 0);
        bench_stop(&b);
    }
}

static void not_without_leave(void **state)
{
    struct toec_path path;
    struct bench b;

    (void)state;
    begin(&b, 0);
    assert_int_equal(toec_path_to(b.s, mapped(OWN_IP), &path), TOEC_E_UNREACH);
    assert_int_equal(toec_path_to(b.s, &own6, &path), TOEC_E_UNREACH);
    bench_stop(&b);
}

/* A stack of IPv6 alone is not at 0.0.0.0. */
static void not_without_an_address(void **state)
{
    struct toec_path path;
    struct bench b;

    (void)state;
    bench6_config(&b, TOEC_IP6_STATIC);
    memset(b.cfg.ip, 0, 4);
    b.cfg.prefix_len = 0;
    memset(b.cfg.gateway, 0, 4);
    b.cfg.local = 1;
    bench_start(&b);
    assert_int_equal(toec_path_to(b.s, mapped(0), &path), TOEC_E_UNREACH);
    bench_stop(&b);
}

/* From the wire it is "LAND", whatever the stack may send to itself. */
static void taken_from_the_integrator_alone(void **state)
{
    static const struct ip4_spec to_self = {OWN_IP, OWN_IP, 6, 64, 0x1234, 0x4000, 0, 0};
    uint8_t payload[40], f[128];
    struct bench b;
    uint32_t len;

    (void)state;
    memset(payload, 0x5a, sizeof(payload));
    begin(&b, 1);
    len = make_ip4(f, &to_self, payload, sizeof(payload));
    give(&b, f, len, 0);
    assert_int_equal(b.tcp_inputs, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_bad_source), 1);
    give(&b, f, len, TOEC_RX_LOCAL);
    assert_int_equal(b.tcp_inputs, 1);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_bad_source), 1);
    bench_stop(&b);
}

static void taken_from_the_integrator_alone6(void **state)
{
    struct ip6_spec to_self = {.next = 6, .hops = 64};
    uint8_t payload[40], f[128];
    struct bench b;
    uint32_t len;

    (void)state;
    memset(payload, 0x5a, sizeof(payload));
    begin(&b, 1);
    to_self.src = &own6;
    to_self.dst = &own6;
    len = make_ip6(f, &to_self, payload, sizeof(payload));
    give(&b, f, len, 0);
    assert_int_equal(b.tcp_inputs, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_bad_source), 1);
    give(&b, f, len, TOEC_RX_LOCAL);
    assert_int_equal(b.tcp_inputs, 1);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sent_as_local),
        cmocka_unit_test(not_without_leave),
        cmocka_unit_test(not_without_an_address),
        cmocka_unit_test(taken_from_the_integrator_alone),
        cmocka_unit_test(taken_from_the_integrator_alone6),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
