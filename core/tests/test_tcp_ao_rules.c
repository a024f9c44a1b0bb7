/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_ao_rules.c - TCP-AO: which keys are accepted, which segments are accepted, handling of
 * peers without a key (RFC 5925 3.1, 7). Of two stacks: test_tcp_ao_pair.c.
 */
#include "ao_keys.h"

/* ---- keys ---- */

struct one {
    struct sim s;
    uint32_t id;
};

/* A stack with room for n keys, a listener, and a crafted peer. */
static void start_one(struct one *o, uint32_t n)
{
    memset(o, 0, sizeof(*o));
    craft_init(&o->s);
    o->s.host[0].cfg.max_ao_keys = n;
    o->s.host[0].cfg.ao = n ? &sim_ao : NULL;
    craft_start(&o->s);
    sim_listen(&o->s, 0, PORT, 0, &o->id);
}

static int listen_add(struct one *o, struct toec_ao_mkt k)
{
    return toec_listen_ao_add(o->s.host[0].stack, o->id, &k);
}

static uint32_t keys_used(struct one *o)
{
    struct toec_usage u;

    toec_usage(o->s.host[0].stack, &u);
    return u.ao_keys;
}

static void test_config(void **state)
{
    struct toec_memory with, without;
    struct sim s;

    (void)state;
    sim_init(&s, 1);
    assert_int_equal(toec_memory(&s.host[0].cfg, &without), 0);
    s.host[0].cfg.max_ao_keys = 16;
    assert_int_equal(toec_size(&s.host[0].cfg), 0); /* no function that reads payload */
    s.host[0].cfg.ao = &sim_ao;
    assert_int_equal(toec_memory(&s.host[0].cfg, &with), 0);
    assert_true(with.ao_key >= TOEC_AO_SECRET_MAX + 40);
    assert_true(with.total >= without.total + 16 * with.ao_key);
    s.host[0].cfg.max_ao_keys = (1u << 20) + 1;
    assert_int_equal(toec_size(&s.host[0].cfg), 0);
}

/* Invalid keys are rejected. */
static void test_invalid(void **state)
{
    struct toec_ao_mkt k = mkt(IP_B, 32, 1, 2);
    struct conn *c;
    struct one o;

    (void)state;
    start_one(&o, 4);
    k.secret_len = 0;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k.secret_len = TOEC_AO_SECRET_MAX + 1;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k = mkt(IP_B, 33, 1, 2);
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k = mkt(IP_B, 32, 1, 2);
    k.secret = NULL;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k = mkt(IP_B, 32, 1, 2);
    k.alg = (enum toec_ao_alg)3;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k = mkt(IP_B, 32, 1, 2);
    k.flags = 8;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k.flags = TOEC_AO_SET_CURRENT; /* a listener sends nothing */
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k = mkt(IP_B, 32, 1, 2);
    assert_int_equal(toec_listen_ao_add(o.s.host[0].stack, o.id + 1, &k), TOEC_E_INVAL);
    memset(&k.remote, 0, sizeof(k.remote));
    k.remote.b[0] = 0xfd;
    k.prefix = 129;
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    k.prefix = 128;
    assert_int_equal(listen_add(&o, k), 0);
    /* of a connection: it must be the peer's */
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(flow_add(c, k), TOEC_E_INVAL);
    assert_int_equal(flow_add(c, mkt(IP_B + 1, 32, 1, 2)), TOEC_E_INVAL);
    k = mkt(IP_B, 32, 1, 2);
    k.remote_port = 81;
    assert_int_equal(flow_add(c, k), TOEC_E_INVAL);
    k.remote_port = 80;
    assert_int_equal(flow_add(c, k), 0);
    assert_int_equal(keys_used(&o), 2);
    conn_close(c);
    assert_int_equal(toec_unlisten(o.s.host[0].stack, o.id), 0);
    assert_int_equal(keys_used(&o), 0);
    assert_int_equal(listen_add(&o, k), TOEC_E_INVAL);
    sim_stop(&o.s);
}

/* A prefix of any length covers exactly the addresses with the same first bits. R5925-03. */
static void test_prefixes(void **state)
{
    struct toec_ao_mkt k, other;
    struct one o;
    uint8_t n;

    (void)state;
    start_one(&o, 4);
    for (n = 1; n <= 32; n++) {
        k = mkt(IP_B, n, 1, 2);
        assert_int_equal(listen_add(&o, k), 0);
        if (n < 32)
            assert_int_equal(listen_add(&o, mkt(IP_B ^ (0x80000000u >> n), 32, 1, 3)),
                             TOEC_E_INUSE);
        other = mkt(IP_B ^ (0x80000000u >> (n - 1)), 32, 1, 3);
        assert_int_equal(listen_add(&o, other), 0);
        assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id, &other.remote, 32, 1, 3),
                         0);
        assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id, &k.remote, n, 1, 2), 0);
    }
    sim_stop(&o.s);
}

/* RFC 5925 3.1: no two keys with an ID in common for one connection. R5925-03, R5925-04. */
static void test_ids(void **state)
{
    struct toec_ao_mkt k;
    struct conn *c;
    struct one o;

    (void)state;
    start_one(&o, 8);
    assert_int_equal(listen_add(&o, mkt(IP_B & 0xffffff00u, 24, 1, 2)), 0);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 1, 3)), TOEC_E_INUSE);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 3, 2)), TOEC_E_INUSE);
    assert_int_equal(listen_add(&o, mkt(0, 0, 3, 2)), TOEC_E_INUSE);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 3, 4)), 0);
    assert_int_equal(listen_add(&o, mkt(0x0a000100u, 25, 1, 2)), 0); /* others */
    k = mkt(0x0b000000u, 8, 1, 2);
    k.remote_port = 1;
    assert_int_equal(listen_add(&o, k), 0);
    k.remote_port = 2;
    assert_int_equal(listen_add(&o, k), 0);
    k.remote_port = 0;
    assert_int_equal(listen_add(&o, k), TOEC_E_INUSE);
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), 0);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 3)), TOEC_E_INUSE);
    assert_int_equal(flow_add(c, mkt(IP_B, 24, 2, 2)), TOEC_E_INUSE);
    assert_int_equal(toec_ao_use(o.s.host[0].stack, c->flow, 9, -1), TOEC_E_INVAL);
    assert_int_equal(toec_ao_use(o.s.host[0].stack, c->flow, -1, 9), TOEC_E_INVAL);
    assert_int_equal(toec_ao_delete(o.s.host[0].stack, c->flow, 1, 9), TOEC_E_INVAL);
    assert_int_equal(toec_ao_delete(o.s.host[0].stack, c->flow, 1, 2), TOEC_E_INUSE);
    conn_close(c);
    /* deleted by all that names it */
    k = mkt(IP_B, 32, 3, 4);
    assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id, &k.remote, 31, 3, 4),
                     TOEC_E_INVAL);
    assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id, &k.remote, 32, 3, 5),
                     TOEC_E_INVAL);
    assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id + 1, &k.remote, 32, 3, 4),
                     TOEC_E_INVAL);
    assert_int_equal(toec_listen_ao_delete(o.s.host[0].stack, o.id, &k.remote, 32, 3, 4), 0);
    assert_int_equal(keys_used(&o), 4);
    sim_stop(&o.s);
}

/* All keys in use: rejected, counted, no state remains. */
static void test_no_room(void **state)
{
    struct conn *c;
    struct one o;

    (void)state;
    start_one(&o, 2);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 1, 2)), 0);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 3, 4)), 0);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 5, 6)), TOEC_E_NOBUFS);
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), TOEC_E_NOBUFS);
    assert_int_equal(sim_count(&o.s, 0, TOEC_C_tcp_ao_no_room), 2);
    assert_int_equal(keys_used(&o), 2);
    conn_close(c);
    sim_stop(&o.s);
}

/* ... and the same of connections: the third finds none. */
static void test_no_room_for_a_third(void **state)
{
    struct conn *c[3];
    struct one o;
    unsigned i;

    (void)state;
    start_one(&o, 2);
    for (i = 0; i < 3; i++) {
        c[i] = sim_connect(&o.s, 0, 80);
        assert_int_equal(flow_add(c[i], mkt(IP_B, 32, 1, 2)), i < 2 ? 0 : TOEC_E_NOBUFS);
    }
    assert_int_equal(sim_count(&o.s, 0, TOEC_C_tcp_ao_no_room), 1);
    for (i = 0; i < 3; i++)
        conn_close(c[i]);
    assert_int_equal(keys_used(&o), 0);
    sim_stop(&o.s);
}

/* A connection opened without keys gets none (RFC 5925 7.3; R5925-06), and reports none. */
static void test_too_late(void **state)
{
    struct toec_ao_info info;
    struct conn *c;
    struct one o;

    (void)state;
    start_one(&o, 4);
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(toec_fastopen(o.s.host[0].stack, c->flow, 0, o.s.now), 0);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), TOEC_E_INVAL);
    conn_close(c);
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(toec_ao_info(o.s.host[0].stack, c->flow, &info), TOEC_E_INVAL);
    assert_int_equal(toec_ao_use(o.s.host[0].stack, c->flow, 1, 2), TOEC_E_INVAL);
    assert_int_equal(toec_ao_delete(o.s.host[0].stack, c->flow, 1, 2), TOEC_E_INVAL);
    assert_int_equal(toec_ao_accept_icmp(o.s.host[0].stack, c->flow, 1), TOEC_E_INVAL);
    craft_poll(&o.s);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), TOEC_E_INVAL);
    conn_close(c);
    /* Fast Open has no room beside it */
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), 0);
    assert_int_equal(toec_fastopen(o.s.host[0].stack, c->flow, 1, o.s.now), 0);
    conn_close(c);
    assert_int_equal(keys_used(&o), 0);
    sim_stop(&o.s);
}

/* ---- strangers: segments with options that mean nothing, or not enough ---- */

/* A segment from the peer's port 5000 with these n bytes of options. */
static void raw(struct one *o, uint16_t port, unsigned flags, uint32_t ack, const uint8_t *opt,
                uint32_t n)
{
    uint8_t t[60] = {0x13, 0x88};

    put16(t + 2, port);
    put32(t + 4, 1000);
    put32(t + 8, ack);
    t[12] = (uint8_t)((20 + n) / 4 << 4);
    t[13] = (uint8_t)flags;
    put16(t + 14, 65535);
    if (n)
        memcpy(t + 20, opt, n);
    craft_send_raw(&o->s, t, 20 + n);
    craft_poll(&o->s);
}

static const uint8_t an_option[16] = {29, 16, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static void dropped(struct one *o, enum toec_counter why, uint64_t n)
{
    craft_expect_none(&o->s);
    assert_int_equal(sim_count(&o->s, 0, why), n);
}

/* RFC 5925 7.5, 7.7; R5925-12, R5925-14, R5925-15: no reply, for any error. */
static void test_strangers(void **state)
{
    uint8_t two[32], md5[36] = {0};
    struct one o;

    (void)state;
    start_one(&o, 4);
    memcpy(two, an_option, 16);
    memcpy(two + 16, an_option, 16);
    memcpy(md5, an_option, 16);
    md5[16] = 19;
    md5[17] = 18;
    /* no key: none for a SYN, no connection, no listener */
    raw(&o, PORT, F_SYN, 0, an_option, 16);
    dropped(&o, TOEC_C_tcp_ao_no_key, 1);
    raw(&o, PORT, F_ACK, 77, an_option, 16);
    dropped(&o, TOEC_C_tcp_ao_no_flow, 1);
    raw(&o, 81, F_SYN, 0, an_option, 16);
    dropped(&o, TOEC_C_tcp_ao_no_flow, 2);
    raw(&o, 81, F_ACK, 77, NULL, 0); /* without it there is an answer */
    assert_int_equal(craft_expect(&o.s).flags, F_RST);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 1, 2)), 0);
    raw(&o, PORT, F_SYN, 0, NULL, 0);
    dropped(&o, TOEC_C_tcp_ao_missing, 1);
    raw(&o, PORT, F_ACK, 77, NULL, 0);
    dropped(&o, TOEC_C_tcp_ao_missing, 2);
    raw(&o, PORT, F_SYN, 0, md5 + 16, 20); /* as if it did not exist */
    dropped(&o, TOEC_C_tcp_ao_missing, 3);
    raw(&o, PORT, F_SYN, 0, an_option, 16);
    dropped(&o, TOEC_C_tcp_ao_bad_mac, 1);
    raw(&o, PORT, F_SYN, 0, two, 32);
    dropped(&o, TOEC_C_tcp_ao_bad_option, 1);
    raw(&o, PORT, F_SYN, 0, md5, 36);
    dropped(&o, TOEC_C_tcp_ao_bad_option, 2);
    two[2] = 9;
    raw(&o, PORT, F_SYN, 0, two, 16);
    dropped(&o, TOEC_C_tcp_ao_no_key, 2);
    assert_int_equal(toec_flow_count(o.s.host[0].stack), 0);
    sim_stop(&o.s);
}

/* A peer without a matching key connects as usual, also with RFC 2385's option, and no segment with
 * the TCP-AO option reaches its connection. */
static void test_another_peer(void **state)
{
    uint8_t md5[20] = {19, 18};
    struct tseg g;
    struct one o;

    (void)state;
    start_one(&o, 4);
    assert_int_equal(listen_add(&o, mkt(IP_B + 1, 32, 1, 2)), 0);
    assert_int_equal(listen_add(&o, mkt(IP_B & ~7u, 29, 3, 4)), 0);
    assert_int_equal(
        toec_listen_ao_delete(
            o.s.host[0].stack, o.id,
            &(struct toec_addr){{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 0}}, 29, 3, 4),
        0);
    raw(&o, PORT, F_SYN, 0, md5, 20);
    g = craft_expect(&o.s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    raw(&o, PORT, F_RST | F_ACK, g.seq + 1, an_option, 16);
    dropped(&o, TOEC_C_tcp_ao_no_key, 1);
    assert_int_equal(toec_flow_count(o.s.host[0].stack), 1);
    sim_stop(&o.s);
}

/* Without keys configured the option is one that is not known: RFC 9293 MUST-6. */
static void test_not_configured(void **state)
{
    struct tseg g;
    struct one o;

    (void)state;
    start_one(&o, 0);
    raw(&o, PORT, F_SYN, 0, an_option, 16);
    g = craft_expect(&o.s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    raw(&o, 81, F_SYN, 0, an_option, 16);
    assert_int_equal(craft_expect(&o.s).flags, F_RST | F_ACK);
    raw(&o, PORT, F_RST, 0, an_option, 16); /* not its number */
    assert_int_equal(toec_flow_count(o.s.host[0].stack), 1);
    assert_int_equal(listen_add(&o, mkt(IP_B, 32, 1, 2)), TOEC_E_NOBUFS);
    sim_stop(&o.s);
}

/* RFC 5925 7.8 protects synchronized connections, not an attempt to connect: a hard error ends it,
 * as without a key. */
static void test_icmp_opening(void **state)
{
    struct conn *c;
    struct tseg g;
    struct one o;

    (void)state;
    start_one(&o, 1);
    c = sim_connect(&o.s, 0, 80);
    assert_int_equal(flow_add(c, mkt(IP_B, 32, 1, 2)), 0);
    craft_poll(&o.s);
    g = craft_expect(&o.s);
    assert_int_equal(g.flags, F_SYN);
    craft_icmp(&o.s, 3, 3, 0, &g);
    assert_true(c->gone);
    assert_int_equal(c->gone_reason, TOEC_R_REFUSED);
    assert_int_equal(sim_count(&o.s, 0, TOEC_C_tcp_ao_icmp_ignored), 0);
    sim_stop(&o.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config),         cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_prefixes),       cmocka_unit_test(test_ids),
        cmocka_unit_test(test_no_room),        cmocka_unit_test(test_too_late),
        cmocka_unit_test(test_strangers),      cmocka_unit_test(test_another_peer),
        cmocka_unit_test(test_not_configured), cmocka_unit_test(test_no_room_for_a_third),
        cmocka_unit_test(test_icmp_opening),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
