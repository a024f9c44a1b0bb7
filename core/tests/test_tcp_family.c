/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_family.c - where TCP differs between IPv6 and IPv4, and where it must not: two complete
 * stacks and a middlebox that inspects and changes frames.
 */
#include "tcpsim.h"

struct middle {
    unsigned syn_data, longest[2]; /* payload of a SYN; longest payload of each host */
    unsigned hops[2];              /* TTL or hop limit of each host's last segment */
    unsigned segments[2], drop[2];
    int strip;         /* remove the MSS option from SYNs */
    const uint8_t *to; /* redirect the SYNs of host 0 to this address */
    const uint8_t *mac;
    uint8_t copy[60]; /* IP and TCP headers of host 0's last segment with payload */
};

/* Replaces len bytes at p, an even offset, by those at new; updates the sum (RFC 1624 eqn. 3). */
static void change(uint8_t *sum, uint8_t *p, const uint8_t *new, unsigned len)
{
    uint32_t s = ~get16(sum) & 0xffff;
    unsigned i;

    for (i = 0; i < len; i += 2)
        s += (~get16(p + i) & 0xffff) + get16(new + i);
    while (s >> 16)
        s = (s & 0xffff) + (s >> 16);
    put16(sum, ~s);
    memcpy(p, new, len);
}

static void redirect(const struct middle *m, uint8_t *f)
{
    uint8_t *ip = f + 14, *tcp = ip + (sim_ip6 ? 40 : 20);

    if (m->mac)
        memcpy(f, m->mac, 6);
    if (!m->to)
        return;
    if (sim_ip6) {
        change(tcp + 16, ip + 24, m->to, 16);
    } else {
        uint8_t old[4];

        memcpy(old, ip + 16, 4);
        change(tcp + 16, ip + 16, m->to, 4);
        memcpy(ip + 16, old, 4);
        change(ip + 10, ip + 16, m->to, 4);
    }
}

static int64_t look(struct sim *s, unsigned from, uint8_t *f, uint32_t len)
{
    static const uint8_t nops[4] = {1, 1, 1, 1};
    struct middle *m = s->router_state;
    uint8_t *ip = f + 14, *tcp = ip + (sim_ip6 ? 40 : 20);
    unsigned text;

    if (get16(f + 12) != (sim_ip6 ? 0x86dd : 0x0800) || ip[sim_ip6 ? 6 : 9] != 6)
        return 0;
    text = len - (unsigned)(tcp - f) - (tcp[12] >> 4) * 4u;
    m->segments[from]++;
    m->hops[from] = ip[sim_ip6 ? 7 : 8];
    m->longest[from] = text > m->longest[from] ? text : m->longest[from];
    if (from == 0 && text)
        memcpy(m->copy, ip, sizeof(m->copy));
    if (tcp[13] & F_SYN) {
        if (text)
            m->syn_data = text;
        if (m->strip) {
            assert_int_equal(tcp[20], 2); /* the MSS option comes first */
            change(tcp + 16, tcp + 20, nops, 4);
        }
        if (from == 0)
            redirect(m, f);
    }
    return m->drop[from] && text ? -1 : 0;
}

static void begin(struct sim *s, struct middle *m, int ip6)
{
    random_begin(57);
    sim_ip6 = ip6;
    memset(m, 0, sizeof(*m));
    sim_init(s, 2);
    s->router = look;
    s->router_state = m;
}

/* Connects host 0 to host 1. */
static struct conn *open_one(struct sim *s)
{
    sim_start(s);
    sim_listen(s, 1, 80, 0, 0);
    return sim_connect(s, 0, 80);
}

static void end(struct sim *s)
{
    struct conn *c;

    for (c = s->host[0].conns; c; c = c->next)
        if (c->flow)
            conn_abort(c);
    sim_run(s, 700 * SEC);
    sim_assert_clean(s);
    sim_stop(s);
    sim_ip6 = 0;
}

static struct toec_info info_of(struct conn *c)
{
    struct toec_info i;

    toec_flow_info(c->host->stack, c->flow, &i);
    return i;
}

/* Returns the MSS by which this end sends, before options are subtracted. */
static unsigned peer_takes(struct conn *c)
{
    struct toec_info i = info_of(c);

    return i.mss_send + ((i.opts & TOEC_I_TIMESTAMPS) ? 12u : 0);
}

/* RFC 9293 MUST-15: without the MSS option, 536 bytes over IPv4 and 1220 over IPv6, both ways. */
static void test_default_mss(void **state)
{
    static const unsigned want[2] = {536, 1220};
    unsigned ip6;

    (void)state;
    for (ip6 = 0; ip6 < 2; ip6++) {
        struct middle m;
        struct sim s;
        struct conn *c;

        begin(&s, &m, (int)ip6);
        m.strip = 1;
        c = open_one(&s);
        sim_run(&s, SEC);
        assert_int_equal(peer_takes(c), want[ip6]);
        assert_int_equal(peer_takes(conn_peer(c)), want[ip6]);
        conn_write(c, 20000, 1);
        conn_write(conn_peer(c), 20000, 1);
        sim_run(&s, SEC);
        assert_int_equal(c->acked, 20000);
        assert_int_equal(m.longest[0], want[ip6] - 12);
        assert_int_equal(m.longest[1], want[ip6] - 12);
        end(&s);
    }
}

/* ... also for connections that a SYN cookie opens, */
static void test_default_mss_of_cookies(void **state)
{
    static const unsigned want[2] = {536, 1220};
    unsigned ip6, i;

    (void)state;
    for (ip6 = 0; ip6 < 2; ip6++) {
        struct middle m;
        struct sim s;
        struct conn *c[8];

        begin(&s, &m, (int)ip6);
        m.strip = 1;
        sim_start(&s);
        sim_listen(&s, 1, 80, 1, 0);
        for (i = 0; i < 8; i++)
            c[i] = sim_connect(&s, 0, 80);
        sim_run(&s, SEC);
        for (i = 0; i < 8; i++) {
            conn_write(c[i], 3000, 1);
            assert_true(c[i]->established);
        }
        sim_run(&s, SEC);
        assert_true(sim_count(&s, 1, TOEC_C_tcp_cookies_taken) >= 4);
        for (i = 0; i < 8; i++)
            assert_int_equal(peer_takes(conn_peer(c[i])), want[ip6]);
        end(&s);
    }
}

/* ... and for data on the SYN to an unknown server. */
static void test_default_mss_of_syn_data(void **state)
{
    static const unsigned want[2] = {536, 1220};
    unsigned ip6;

    (void)state;
    for (ip6 = 0; ip6 < 2; ip6++) {
        struct middle m;
        struct sim s;
        struct conn *c;

        begin(&s, &m, (int)ip6);
        c = open_one(&s);
        assert_true(toec_fastopen(s.host[0].stack, c->flow, 1, s.now) > 0);
        conn_write(c, 5000, 1);
        sim_run(&s, SEC);
        assert_in_range(m.syn_data, want[ip6] - 40, want[ip6] - 20);
        assert_int_equal(c->acked, 5000);
        end(&s);
    }
}

/* RFC 9293 MUST-49: TTL and hop limit are configurable, default 64. */
static void test_ttl(void **state)
{
    unsigned ip6;

    (void)state;
    for (ip6 = 0; ip6 < 2; ip6++) {
        struct middle m;
        struct sim s;
        struct conn *c;

        begin(&s, &m, (int)ip6);
        s.host[0].cfg.ttl = 7;
        c = open_one(&s);
        sim_run(&s, SEC);
        assert_true(c->established);
        assert_int_equal(m.hops[0], 7);
        assert_int_equal(m.hops[1], 64);
        end(&s);
    }
}

/* RFC 9293 MUST-57: a SYN to a multicast or broadcast address (IP or Ethernet) is dropped
 * silently. */
static void test_syn_to_many(void **state)
{
    static const uint8_t ip4[3][4] = {{10, 0, 0, 255}, {255, 255, 255, 255}, {224, 0, 0, 1}};
    static const uint8_t all_nodes[16] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    static const uint8_t to_all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t to_nodes[6] = {0x33, 0x33, 0, 0, 0, 1};
    const struct {
        const uint8_t *to, *mac;
        int ip6;
        enum toec_counter counter; /* TOEC_C_MAX: answered */
    } cases[] = {
        {0, 0, 0, TOEC_C_MAX},
        {0, to_all, 0, TOEC_C_ip4_group_frame},
        {ip4[0], 0, 0, TOEC_C_ip4_not_ours},
        {ip4[0], to_all, 0, TOEC_C_ip4_not_ours},
        {ip4[1], to_all, 0, TOEC_C_ip4_not_ours},
        {ip4[2], to_all, 0, TOEC_C_ip4_not_ours},
        {0, 0, 1, TOEC_C_MAX},
        {0, to_nodes, 1, TOEC_C_ip6_group_frame},
        {all_nodes, 0, 1, TOEC_C_ip6_bad_source},
        {all_nodes, to_nodes, 1, TOEC_C_ip6_bad_source},
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct middle m;
        struct sim s;
        struct conn *c;

        begin(&s, &m, cases[i].ip6);
        m.to = cases[i].to;
        m.mac = cases[i].mac;
        c = open_one(&s);
        sim_run(&s, 10 * SEC);
        if (cases[i].counter == TOEC_C_MAX) {
            assert_true(c->established);
        } else {
            assert_int_equal(m.segments[1], 0);
            assert_int_equal(m.segments[0], 4); /* at 0, 1, 3, 7 s */
            assert_true(sim_count(&s, 1, cases[i].counter) >= 4);
        }
        end(&s);
    }
}

/* ---- Packet Too Big ---- */

/* Quotes host 0's last segment with payload, its sequence number shifted by `forge` bytes. */
static void too_big(struct sim *s, const struct middle *m, uint32_t mtu, unsigned forge)
{
    uint8_t f[14 + 40 + 8 + 60], *ip = f + 14, *icmp = ip + 40;
    uint8_t pseudo[40] = {0};
    uint16_t sum;
    uint32_t seq;

    memset(f, 0, sizeof(f));
    memcpy(f, s->host[0].cfg.mac, 6);
    memcpy(f + 6, s->host[1].cfg.mac, 6);
    put16(f + 12, 0x86dd);
    ip[0] = 0x60;
    put16(ip + 4, 68);
    ip[6] = 58;
    ip[7] = 64;
    memcpy(ip + 8, m->copy + 24, 16);
    memcpy(ip + 24, m->copy + 8, 16);
    icmp[0] = 2;
    put16(icmp + 4, mtu >> 16);
    put16(icmp + 6, mtu);
    memcpy(icmp + 8, m->copy, 60);
    seq = (get16(icmp + 52) << 16 | get16(icmp + 54)) + forge;
    put16(icmp + 52, seq >> 16);
    put16(icmp + 54, seq);
    memcpy(pseudo, ip + 8, 32);
    pseudo[35] = 68;
    pseudo[39] = 58;
    sum = (uint16_t)~toec_sum_add(toec_sum(pseudo, 40), toec_sum(icmp, 68), 0);
    memcpy(icmp + 2, &sum, 2);
    sim_inject(s, 0, f, sizeof(f));
    sim_run(s, USEC);
}

/* R8201-03: the message must quote data in flight. R8201-02: it never raises the size. R8201-01: it
 * never lowers the MTU below 1280. */
static void test_packet_too_big(void **state)
{
    struct middle m;
    struct sim s;
    struct conn *c;

    (void)state;
    begin(&s, &m, 1);
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, 0);
    c = sim_connect(&s, 0, 80);
    sim_run(&s, 10 * MSEC);
    m.drop[0] = 1;
    conn_write(c, 1000, 1);
    s.host[0].deadline = s.now;
    sim_run(&s, MSEC);
    assert_true(info_of(c).in_flight > 0);
    assert_int_equal(info_of(c).pmtu, 1500);
    too_big(&s, &m, 1300, 1000000);
    assert_int_equal(info_of(c).pmtu, 1500);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_icmp_ignored), 1);
    too_big(&s, &m, 1600, 0);
    too_big(&s, &m, 1279, 0);
    assert_int_equal(info_of(c).pmtu, 1500);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_pmtu_lowered), 0);
    too_big(&s, &m, 1300, 0);
    assert_int_equal(info_of(c).pmtu, 1300);
    too_big(&s, &m, 1400, 0);
    assert_int_equal(info_of(c).pmtu, 1300);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_pmtu_lowered), 1);
    m.drop[0] = 0;
    sim_run(&s, 5 * SEC);
    assert_int_equal(c->acked, 1000);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_mss),
        cmocka_unit_test(test_default_mss_of_cookies),
        cmocka_unit_test(test_default_mss_of_syn_data),
        cmocka_unit_test(test_ttl),
        cmocka_unit_test(test_syn_to_many),
        cmocka_unit_test(test_packet_too_big),
    };

    return cmocka_run_group_tests_name("tcp_family", tests, 0, 0);
}
