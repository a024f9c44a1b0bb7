/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_headers.c - headers that the integrator builds (toec_config.segments): each frame of
 * core/ is what port.h promises of a segment's fields and the flow's latest frame.
 */
#include "tcpsim.h"

#define ETH   14
#define PORTS 4
#define FLOWS 8
#define MOST  1600

/* The integrator: the latest frame of each flow, and the frame that core/ must send next. */
static struct integrator {
    struct known {
        uint8_t frame[MOST];
        unsigned tcp; /* offset of the TCP header */
    } known[FLOWS];
    unsigned known_n;
    uint8_t expected[MOST];
    uint32_t expected_len;
    struct toec_tx_segment rest; /* of a burst, or a segment: what core/ must send next */
    int left;
    unsigned built, bursts, unknown;
    int result; /* of send(), unless 0: then TOEC_SEGMENT_BUILD */
    int swallow;
    unsigned swallowed;
} all;

static unsigned complement(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}

/* Returns the offset of the TCP header of a frame, or 0: it is another one. */
static unsigned tcp_at(const uint8_t *f, uint32_t len)
{
    if (len >= ETH + 40 && f[12] == 8 && f[13] == 0 && f[ETH + 9] == 6)
        return ETH + 20;
    return len >= ETH + 60 && f[12] == 0x86 && f[13] == 0xdd && f[ETH + 6] == 6 ? ETH + 40 : 0;
}

/* Returns the flow with these ports, which are unique here; makes one when `make`. */
static struct known *find(const uint8_t *ports, int make)
{
    unsigned i;

    for (i = 0; i < all.known_n; i++)
        if (memcmp(all.known[i].frame + all.known[i].tcp, ports, PORTS) == 0)
            return &all.known[i];
    if (!make)
        return 0;
    assert_true(all.known_n < FLOWS);
    return &all.known[all.known_n++];
}

static void build_ip(uint8_t *f, const struct known *k, const struct toec_tx_segment *g,
                     unsigned l4)
{
    uint8_t *ip = f + ETH;

    if (k->tcp == ETH + 40) {
        ip[0] = (uint8_t)(0x60 | g->tos >> 4);
        ip[1] = (uint8_t)((ip[1] & 15) | g->tos << 4);
        put16(ip + 4, l4);
        assert_int_equal(ip[7], g->hops);
        return;
    }
    ip[1] = g->tos;
    put16(ip + 2, 20 + l4);
    put16(ip + 10, 0);
    put16(ip + 10, complement(sum16(ip, 20, 0)));
    assert_int_equal(ip[8], g->hops);
}

static unsigned build_tcp(uint8_t *h, const struct toec_tx_segment *g)
{
    unsigned len = g->stamps ? 32 : 20;

    put32(h + 4, g->seq);
    put32(h + 8, g->ack);
    h[12] = (uint8_t)(len << 2);
    h[13] = g->flags;
    put16(h + 14, g->wnd);
    put32(h + 16, 0);
    if (g->stamps) {
        put32(h + 20, 0x0101080a);
        put32(h + 24, g->ts_val);
        put32(h + 28, g->ts_ecr);
    }
    return len;
}

static void build(const struct known *k, const struct toec_tx_segment *g)
{
    const struct conn *c = g->owner;
    uint8_t *f = all.expected, *h = f + k->tcp;
    unsigned hlen, addresses = k->tcp == ETH + 40 ? ETH + 8 : ETH + 12, i;
    uint32_t sum;

    memcpy(f, k->frame, k->tcp + PORTS);
    hlen = build_tcp(h, g);
    for (i = 0; i < g->len; i++)
        h[hlen + i] = c->tx[(g->off + i) & (c->tx_size - 1)];
    build_ip(f, k, g, hlen + g->len);
    sum = sum16(f + addresses, k->tcp - addresses, 6 + hlen + g->len);
    put16(h + 16, complement(sum16(h, hlen + g->len, sum)));
    all.expected_len = k->tcp + hlen + g->len;
}

static int send_segment(void *user, const struct toec_tx_segment *g)
{
    const struct conn *c = g->owner;
    uint8_t ports[PORTS];
    const struct known *k;

    (void)user;
    if (all.result)
        return all.result;
    if (all.swallow) {
        all.swallowed++;
        return 0;
    }
    put16(ports, c->local_port);
    put16(ports + 2, c->remote_port);
    k = find(ports, 0);
    if (!k || memcmp(k->frame, g->mac, 6) != 0) {
        all.unknown++;
        return TOEC_SEGMENT_BUILD;
    }
    all.rest = *g;
    all.left = 1;
    all.built++;
    all.bursts += g->len > g->mss;
    return TOEC_SEGMENT_BUILD;
}

static const struct toec_tx_segment_ops ops = {send_segment, 0};
static const struct toec_tx_segment_ops burst_ops = {send_segment, 1};

/* Builds the next segment of what was offered, as port.h wants bursts to be cut. */
static void build_next(const struct known *k)
{
    struct toec_tx_segment one = all.rest;

    if (one.len > one.mss) {
        one.len = one.mss;
        one.flags &= (uint8_t)~9u; /* FIN and PSH */
    }
    build(k, &one);
    all.rest.off += one.len;
    all.rest.seq += one.len;
    all.rest.len -= one.len;
    all.left = all.rest.len != 0;
}

/* Sees each frame of host 0. */
static int64_t on_link(struct sim *s, unsigned from, uint8_t *f, uint32_t len)
{
    unsigned tcp = tcp_at(f, len);
    struct known *k;

    (void)s;
    if (from != 0 || !tcp)
        return 0;
    k = find(f + tcp, 1);
    if (all.left) {
        build_next(k);
        assert_int_equal(len, all.expected_len);
        assert_memory_equal(f, all.expected, len);
    }
    memcpy(k->frame, f, tcp + PORTS);
    k->tcp = tcp;
    return 0;
}

static void begin(struct sim *s, int ip6)
{
    memset(&all, 0, sizeof(all));
    sim_ip6 = ip6;
    sim_init(s, 2);
    s->host[0].cfg.segments = &ops;
    s->router = on_link;
}

static void end(struct sim *s, struct conn *c)
{
    conn_abort(c);
    sim_run(s, 130 * SEC);
    sim_assert_clean(s);
    sim_stop(s);
}

static struct conn *open_one(struct sim *s)
{
    struct conn *c;

    sim_start(s);
    sim_listen(s, 1, 80, 1, 0);
    c = sim_connect(s, 0, 80);
    sim_run(s, SEC);
    assert_true(c->established);
    return c;
}

static void transfer(struct sim *s)
{
    struct conn *c = open_one(s);

    sim_transfer(s, c, 100000, 60 * SEC);
    sim_transfer(s, conn_peer(c), 100000, 60 * SEC);
    assert_in_range(all.built, s->host[0].cfg.max_gso ? 5 : 60, 1000);
    assert_false(all.left);
    end(s, c);
}

static void test_frames_are_as_promised(void **state)
{
    struct sim s;

    (void)state;
    begin(&s, 0);
    transfer(&s);
}

static void test_without_timestamps(void **state)
{
    struct sim s;

    (void)state;
    begin(&s, 0);
    s.host[0].cfg.tcp_without = TOEC_I_TIMESTAMPS;
    transfer(&s);
}

static void test_ip6(void **state)
{
    struct sim s;

    (void)state;
    begin(&s, 1);
    transfer(&s);
}

/* Losses, and marks of congestion: segments with SACK are not offered, those after them are. */
static void test_losses_and_ecn(void **state)
{
    struct sim s;

    (void)state;
    begin(&s, 0);
    s.host[0].cfg.ecn = TOEC_ECN_ON;
    s.impair.lose = 30;
    transfer(&s);
}

/* Bursts, which the integrator cuts. Without `bursts` core/ gives them headers itself. */
static void bursts(int ip6, const struct toec_tx_segment_ops *by)
{
    struct sim s;

    begin(&s, ip6);
    s.host[0].cfg.segments = by;
    s.host[0].cfg.max_gso = 20000;
    transfer(&s);
}

static void test_bursts(void **state)
{
    (void)state;
    bursts(0, &burst_ops);
    assert_in_range(all.bursts, 3, 1000);
    bursts(1, &burst_ops);
    assert_in_range(all.bursts, 3, 1000);
    bursts(0, &ops);
    assert_int_equal(all.bursts, 0);
}

/* No room: as for toec_port_transmit(), the segment stays pending. */
static void test_no_room(void **state)
{
    struct sim s;
    struct conn *c;
    uint64_t sent, full;

    (void)state;
    begin(&s, 0);
    c = open_one(&s);
    sent = sim_count(&s, 0, TOEC_C_tcp_tx);
    full = sim_count(&s, 0, TOEC_C_tx_full);
    all.result = -1;
    conn_write(c, 100, 1);
    assert_int_equal(toec_poll(s.host[0].stack, s.now), s.now);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_tx), sent);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tx_full), full + 1);
    all.result = 0;
    sim_run(&s, SEC);
    assert_int_equal(c->acked, 100);
    end(&s, c);
}

/* A segment that the integrator takes is sent: core/ builds no frame of it, and counts it. */
static void test_taken(void **state)
{
    struct sim s;
    struct conn *c;
    uint64_t sent, frames, bytes;

    (void)state;
    begin(&s, 0);
    c = open_one(&s);
    sent = sim_count(&s, 0, TOEC_C_tcp_tx);
    frames = sim_count(&s, 0, TOEC_C_tx_frames);
    bytes = sim_count(&s, 0, TOEC_C_tx_bytes);
    all.swallow = 1;
    conn_write(c, 100, 1);
    toec_poll(s.host[0].stack, s.now);
    assert_int_equal(all.swallowed, 1);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_tx), sent + 1);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tx_frames), frames + 1);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tx_bytes), bytes + ETH + 20 + 32 + 100);
    all.swallow = 0;
    sim_run(&s, 10 * SEC); /* it was lost on its way: sent again */
    assert_int_equal(c->acked, 100);
    assert_true(sim_count(&s, 0, TOEC_C_tcp_retransmits) > 0);
    end(&s, c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_are_as_promised),
        cmocka_unit_test(test_without_timestamps),
        cmocka_unit_test(test_ip6),
        cmocka_unit_test(test_losses_and_ecn),
        cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_taken),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
