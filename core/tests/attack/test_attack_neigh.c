/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attack_neigh.c - a link full of unknown neighbours (RFC 6583): a million claims of ARP or
 * neighbour discovery, and SYNs from a million addresses on the link, whose replies need
 * resolution. The table keeps its bound, a flow with a resolved neighbour continues without another
 * solicitation, new clients connect. A local program that sends to a million targets: test_arp.c,
 * test_nd.c.
 */
#include "../tcptalk.h"

/* A sanitized build is five times slower: runs a tenth there. */
#ifdef __SANITIZE_ADDRESS__
#define CROWD 100000u
#else
#define CROWD 1000000u
#endif
#define NEIGHBOURS 256u /* the default of max_neighbours */
#define NEWCOMERS  20u
#define GAP        (100 * USEC) /* between packets: a hundred seconds for a million */

struct crowd {
    struct talk t;
    uint32_t said; /* bytes each way of the continuing flow */
    unsigned most, newcomers;
};

/* Address number `who` of the link, none that tcpsim.h uses; its last byte is never the peer's. */
static uint32_t address4(uint32_t who)
{
    return 0x0a010000u + who * 4 + 3;
}

static void address6(uint8_t *b, uint32_t who)
{
    memset(b, 0, 16);
    b[0] = 0xfd;
    b[8] = 5;
    put32(b + 11, who);
    b[15] = 3;
}

static void put_mac(uint8_t *mac, uint32_t who)
{
    mac[0] = 2;
    mac[1] = 5;
    put32(mac + 2, who);
}

/* ---- packets of anybody ---- */

/* RFC 826; tpa 0: the sender's own address, as in announcements (RFC 5227). */
static void arp(struct sim *s, uint32_t who, unsigned op, uint32_t tpa)
{
    uint8_t f[60] = {0};

    memset(f, 0xff, 6);
    put_mac(f + 6, who);
    put32(f + 12, 0x08060001u);
    put32(f + 16, 0x08000604u);
    put16(f + 20, op);
    put_mac(f + 22, who);
    put32(f + 28, address4(who));
    put32(f + 38, tpa ? tpa : address4(who));
    sim_inject(s, 0, f, sizeof(f));
}

/* RFC 4861: type 135 solicits the target, 136 advertises it as the sender's. */
static void discovery(struct sim *s, uint32_t who, unsigned type, const uint8_t *target)
{
    uint8_t m[32] = {0}, src[16];

    address6(src, who);
    m[0] = (uint8_t)type;
    m[4] = type == 136 ? 0x20 : 0; /* override */
    memcpy(m + 8, target, 16);
    m[24] = type == 136 ? 2 : 1;
    m[25] = 1;
    put_mac(m + 26, who);
    craft_icmp6(s, src, 255, m, sizeof(m));
}

/* A segment without options or payload to our listener. */
static void segment(struct sim *s, uint32_t who, unsigned flags, uint32_t seq, uint32_t ack)
{
    uint32_t l4 = sim_ip6 ? 54 : 34;
    uint8_t f[74] = {0}, *ip = f + 14, *t = f + l4;

    memcpy(f, s->host[0].cfg.mac, 6);
    put_mac(f + 6, who);
    if (sim_ip6) {
        put16(f + 12, 0x86dd);
        put32(ip, 6u << 28);
        put32(ip + 4, 20u << 16 | 6 << 8 | 64);
        address6(ip + 8, who);
        memcpy(ip + 24, s->host[0].cfg.ip6_addr, 16);
    } else {
        put16(f + 12, 0x0800);
        put32(ip, 0x45u << 24 | 40);
        put32(ip + 8, 64u << 24 | 6u << 16);
        put32(ip + 12, address4(who));
        put32(ip + 16, IP_A);
        put16(ip + 10, ~sum16(ip, 20, 0));
    }
    put32(t, 7000u << 16 | OWN_PORT);
    put32(t + 4, seq);
    put32(t + 8, ack);
    put32(t + 12, 5u << 28 | flags << 16 | 65535);
    put16(t + 16, ~sum16(t, 20, sum16(ip + (sim_ip6 ? 8 : 12), sim_ip6 ? 32 : 8, 6 + 20)));
    sim_inject(s, 0, f, l4 + 20);
}

/* ---- clients served during the attack ---- */

static void flush(struct crowd *c)
{
    while (frames_due(&c->t.s.net, c->t.s.now))
        sim_step(&c->t.s, c->t.s.now);
    craft_poll(&c->t.s);
    craft_forget(&c->t.s);
}

/* A hundred bytes each way, immediately: the neighbour is known, no solicitation is sent. */
static void exchange(struct crowd *c)
{
    struct talk *t = &c->t;
    struct toec_usage u;

    flush(c);
    talk_say(t, F_ACK | F_PSH, c->said, c->said, 100);
    talk_read(t, 100);
    talk_skip(t);
    talk_send(t, 100);
    talk_hear(t, F_ACK, c->said, c->said + 100, 100);
    c->said += 100;
    talk_say(t, F_ACK, c->said, c->said, 0);
    assert_int_equal(t->c->received, c->said);
    assert_int_equal(t->c->acked, c->said);
    craft_forget(&t->s);
    assert_false(t->s.arp_asked);
    toec_usage(t->s.host[0].stack, &u);
    assert_true(u.neighbours <= NEIGHBOURS);
    c->most = u.neighbours > c->most ? u.neighbours : c->most;
}

/* An existing host resolves our address, connects and is reset. */
static void newcomer(struct crowd *c, uint32_t who)
{
    struct sim *s = &c->t.s;
    struct tseg g;
    struct conn *is;

    flush(c);
    if (sim_ip6)
        discovery(s, who, 135, s->host[0].cfg.ip6_addr);
    else
        arp(s, who, 1, IP_A);
    segment(s, who, F_SYN, 1000, 0);
    while (frames_due(&s->net, s->now))
        sim_step(s, s->now);
    craft_poll(s);
    do {
        g = craft_expect(s);
    } while (g.flags != (F_SYN | F_ACK) || g.ack != 1001);
    segment(s, who, F_ACK, 1001, g.seq + 1);
    flush(c);
    is = s->host[0].conns;
    assert_true(is != c->t.c && is->established && !is->gone);
    c->newcomers++;
    conn_abort(is);
    flush(c);
}

/* ---- the crowd ---- */

static void begin(struct crowd *c)
{
    memset(c, 0, sizeof(*c));
    talk_init(&c->t);
    c->t.s.host[0].cfg.prefix_len = 8;
    c->t.s.host[0].tx_buf = c->t.s.host[0].rx_buf = 4096;
    talk_passive(&c->t);
    c->t.s.peer_silent = 1;
    c->t.s.arp_asked = 0;
}

/* After packet i: advances time, uses the flow every second, connects new clients occasionally. */
static void go_on(struct crowd *c, unsigned i)
{
    c->t.s.now += GAP;
    if (i % 64 == 63)
        flush(c);
    if (i % 10000 == 9999)
        exchange(c);
    if (i % (CROWD / NEWCOMERS) == CROWD / NEWCOMERS - 1)
        newcomer(c, 2 * CROWD + i);
}

static void end(struct crowd *c)
{
    struct toec_usage u;
    unsigned i;

    print_message("neighbours: %u at most, %u of %u newcomers connected\n", c->most, c->newcomers,
                  NEWCOMERS);
    assert_int_equal(c->newcomers, NEWCOMERS);
    c->t.s.peer_silent = 0;
    exchange(c);
    for (i = 0; i < 70; i++) { /* entries not used are flushed after ten minutes */
        craft_forget(&c->t.s);
        craft_pass(&c->t.s, 10 * SEC);
    }
    toec_usage(c->t.s.host[0].stack, &u);
    assert_true(u.neighbours <= 1);
    craft_forget(&c->t.s);
    talk_end(&c->t);
}

/* Announcements, unsolicited replies, and requests for our address: only the last are learned.
 * IPv6: advertisements, solicitations for others (a scan of the /64), and for our address. */
static void test_claims(void **state)
{
    struct crowd c;
    uint8_t target[16];
    unsigned i;

    (void)state;
    begin(&c);
    for (i = 0; i < CROWD; i++) {
        address6(target, CROWD + i);
        if (sim_ip6 && i % 3 == 0)
            address6(target, i);
        if (sim_ip6)
            discovery(&c.t.s, i, i % 3 == 0 ? 136 : 135,
                      i % 3 == 2 ? c.t.s.host[0].cfg.ip6_addr : target);
        else
            arp(&c.t.s, i, i % 3 == 1 ? 2 : 1, i % 3 == 0 ? 0 : IP_A);
        go_on(&c, i);
    }
    assert_int_equal(c.most, NEIGHBOURS);
    end(&c);
}

/* The reply to each SYN needs a neighbour that does not exist: pending entries evict only each
 * other and use at most a quarter of the table. */
static void test_syns(void **state)
{
    struct crowd c;
    unsigned i;

    (void)state;
    begin(&c);
    for (i = 0; i < CROWD; i++) {
        segment(&c.t.s, i, F_SYN, i, 0);
        go_on(&c, i);
    }
    assert_in_range(c.most, NEIGHBOURS / 4, NEIGHBOURS / 4 + 1 + NEWCOMERS);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_claims), cmocka_unit_test(test_syns)};
    int failed = cmocka_run_group_tests_name("neighbours", tests, 0, 0);

    sim_ip6 = 1;
    return failed + cmocka_run_group_tests_name("neighbours of IPv6", tests, 0, 0);
}
