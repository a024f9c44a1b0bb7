/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_fields.c - segments whose headers the integrator has read (toec_input_flow()): two
 * stacks that receive so behave, frame by frame and in all counters, as two that read headers
 * themselves; what is not of the flow is refused without a trace.
 */
#include "random.h"
#include "tcpsim.h"

#define ETH   14
#define BYTES 200000
#define ACK   0x10u
#define USUAL (ACK | 0x02u | 0x04u | 0x20u) /* SYN, RST, URG */

/* What a run has shown: each frame of both hosts, in order. */
struct seen {
    uint64_t frames, digest;
    uint64_t counts[2][TOEC_C_MAX];
    toec_time end;
    unsigned taken, refused;
};
static struct seen seen;

static int sums(const uint8_t *p, uint32_t len, uint32_t with)
{
    uint32_t sum = sum16(p, len, with);

    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

/* Reads the IP header; returns the offset behind the datagram, 0: not what port.h demands. */
static uint32_t read_ip(const struct toec_packet *p, struct toec_rx_segment *g)
{
    const uint8_t *ip = p->data + ETH;
    uint32_t stop;

    g->v6 = p->len >= ETH + 60 && get16(p->data + 12) == 0x86dd;
    if (!g->v6 && (p->len < ETH + 40 || get16(p->data + 12) != 0x0800))
        return 0;
    stop = g->v6 ? ETH + 40 + get16(ip + 4) : ETH + get16(ip + 2);
    if (g->v6 ? ip[0] >> 4 != 6 || ip[6] != 6
              : ip[0] != 0x45 || ip[9] != 6 || (get16(ip + 6) & 0x3fff) || !sums(ip, 20, 0))
        return 0;
    g->remote = ip + (g->v6 ? 8 : 12);
    g->local = g->remote + (g->v6 ? 16 : 4);
    g->tos = g->v6 ? (uint8_t)(get16(ip) >> 4) : ip[1];
    g->header = ip + (g->v6 ? 40 : 20);
    return stop <= p->len ? stop : 0;
}

/* Returns not 0 when the frame is a segment as port.h demands it. */
static int read_headers(const struct toec_packet *p, struct toec_rx_segment *g)
{
    uint32_t stop, len, hlen;
    const uint8_t *h;

    memset(g, 0, sizeof(*g));
    g->pkt = p;
    stop = read_ip(p, g);
    h = g->header;
    if (!stop || p->data + stop < h + 20)
        return 0;
    len = (uint32_t)(p->data + stop - h);
    hlen = (uint32_t)(h[12] >> 4) * 4;
    g->stamps = hlen == 32 && get32(h + 20) == 0x0101080a;
    if ((hlen != 20 && !g->stamps) || hlen > len || (h[13] & USUAL) != ACK ||
        !sums(g->remote, (uint32_t)(h - g->remote) + len, 6 + len))
        return 0;
    g->remote_port = (uint16_t)get16(h);
    g->local_port = (uint16_t)get16(h + 2);
    g->seq = get32(h + 4);
    g->ack = get32(h + 8);
    g->flags = h[13];
    g->wnd = (uint16_t)get16(h + 14);
    if (g->stamps) {
        g->ts_val = get32(h + 24);
        g->ts_ecr = get32(h + 28);
    }
    g->off = (uint32_t)(h + hlen - p->data);
    g->len = len - hlen;
    return 1;
}

static int takes(struct sim *s, struct host *h, const struct toec_packet *p)
{
    struct toec_rx_segment g;
    struct conn *c;

    if (memcmp(p->data, h->cfg.mac, 6) != 0 || !read_headers(p, &g))
        return 0;
    for (c = h->conns; c; c = c->next) {
        if (!c->flow)
            continue;
        if (toec_input_flow(h->stack, c->flow, &g, s->now) == 0) {
            seen.taken++;
            return 1;
        }
        seen.refused++;
    }
    return 0;
}

static int64_t on_link(struct sim *s, unsigned from, uint8_t *f, uint32_t len)
{
    uint32_t i;

    (void)s;
    seen.frames++;
    seen.digest = (seen.digest ^ from) * 1099511628211u;
    for (i = 0; i < len; i++)
        seen.digest = (seen.digest ^ f[i]) * 1099511628211u;
    return 0;
}

struct way {
    int ip6;
    unsigned lose, corrupt, without;
};

/* Two connections at once, data both ways, and their ends. */
static void run(const struct way *w, int by_fields)
{
    struct sim s;
    struct conn *c[2];
    unsigned i;

    memset(&seen, 0, sizeof(seen));
    random_begin(25);
    sim_ip6 = w->ip6;
    sim_init(&s, 2);
    s.impair.lose = w->lose;
    s.impair.corrupt = w->corrupt;
    s.impair.reorder = w->lose;
    s.impair.reorder_by = 5000000;
    s.host[0].cfg.tcp_without = w->without;
    s.host[0].cfg.ecn = TOEC_ECN_ON;
    s.router = on_link;
    s.takes = by_fields ? takes : 0;
    sim_start(&s);
    sim_listen(&s, 1, 80, 2, 0);
    for (i = 0; i < 2; i++)
        c[i] = sim_connect(&s, 0, 80);
    sim_run(&s, 10 * SEC);
    for (i = 0; i < 2; i++) {
        assert_true(c[i]->established);
        sim_transfer(&s, c[i], BYTES, 600 * SEC);
        sim_transfer(&s, conn_peer(c[i]), BYTES, 600 * SEC);
    }
    conn_close(c[0]);
    conn_close(conn_peer(c[0]));
    conn_abort(c[1]);
    sim_run(&s, 300 * SEC);
    for (i = 0; i < 2; i++) {
        unsigned n;

        for (n = 0; n < TOEC_C_MAX; n++)
            seen.counts[i][n] = sim_count(&s, i, (enum toec_counter)n);
    }
    seen.end = s.now;
    sim_assert_clean(&s);
    sim_stop(&s);
    sim_ip6 = 0;
}

static void test_as_by_headers(void **state)
{
    static const struct way ways[] = {
        {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0, TOEC_I_TIMESTAMPS}, {0, 20, 20, 0}, {1, 20, 20, 0}};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct seen by_headers;

        run(&ways[i], 0);
        by_headers = seen;
        assert_int_equal(seen.taken, 0);
        run(&ways[i], 1);
        assert_true(seen.taken > 2 * BYTES / 1460);
        assert_true(seen.refused > 0);
        assert_int_equal(seen.frames, by_headers.frames);
        assert_true(seen.digest == by_headers.digest);
        assert_memory_equal(seen.counts, by_headers.counts, sizeof(seen.counts));
        assert_true(seen.end == by_headers.end);
    }
}

/* ---- what is refused ---- */

/* The latest segment for host 1, which is kept from it. */
static struct kept {
    uint8_t frame[2048];
    uint32_t len;
} kept;

static int keep(struct sim *s, struct host *h, const struct toec_packet *p)
{
    (void)s;
    if (h->index == 0 || p->len > sizeof(kept.frame))
        return 0;
    memcpy(kept.frame, p->data, p->len);
    kept.len = p->len;
    return 1;
}

static uint64_t all_counts(struct sim *s, unsigned host)
{
    uint64_t sum = 0;
    unsigned n;

    for (n = 0; n < TOEC_C_MAX; n++)
        sum += sim_count(s, host, (enum toec_counter)n);
    return sum;
}

static void refused(struct sim *s, struct conn *c, const struct toec_rx_segment *g)
{
    uint64_t before = all_counts(s, 1), received = c->received;

    assert_int_equal(toec_input_flow(s->host[1].stack, c->flow, g, s->now), -1);
    assert_true(all_counts(s, 1) == before);
    assert_int_equal(c->received, received);
}

static void wrong_segments(int ip6)
{
    struct toec_rx_segment g, bad;
    struct toec_packet p = {0};
    uint8_t other[16];
    struct conn *c, *peer;
    struct sim s;

    sim_ip6 = ip6;
    sim_init(&s, 2);
    sim_start(&s);
    sim_listen(&s, 1, 80, 2, 0);
    c = sim_connect(&s, 0, 80);
    sim_run(&s, SEC);
    peer = conn_peer(c);
    s.takes = keep;
    kept.len = 0;
    conn_write(c, 100, 1);
    sim_run(&s, SEC / 100);
    s.takes = 0;
    p.data = kept.frame;
    p.head_len = p.len = kept.len;
    assert_true(read_headers(&p, &g) && g.len == 100);

    bad = g, bad.remote_port++;
    refused(&s, peer, &bad);
    bad = g, bad.local_port++;
    refused(&s, peer, &bad);
    bad = g, bad.v6 = !bad.v6;
    refused(&s, peer, &bad);
    memcpy(other, g.remote, ip6 ? 16 : 4);
    other[3]++;
    bad = g, bad.remote = other;
    refused(&s, peer, &bad);
    memcpy(other, g.local, ip6 ? 16 : 4);
    other[3]++;
    bad = g, bad.local = other;
    refused(&s, peer, &bad);

    assert_int_equal(toec_input_flow(s.host[1].stack, peer->flow, &g, s.now), 0);
    assert_int_equal(peer->received, 100);
    conn_abort(c);
    sim_run(&s, 130 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
    sim_ip6 = 0;
}

static void test_wrong_segments(void **state)
{
    (void)state;
    wrong_segments(0);
    wrong_segments(1);
}

/* The flow is being opened: its owner's handle is known, and the segment has its 4-tuple. */
static void test_half_open(void **state)
{
    struct toec_rx_segment g = {0};
    struct toec_packet p = {0};
    struct toec_info info;
    struct conn *c;
    struct sim s;

    (void)state;
    sim_init(&s, 2);
    sim_start(&s);
    s.takes = keep; /* host 1 does not answer */
    c = sim_connect(&s, 0, 80);
    sim_run(&s, SEC / 100);
    toec_flow_info(s.host[0].stack, c->flow, &info);
    assert_int_equal(info.state, TOEC_SYN_SENT);
    g.pkt = &p;
    g.remote = info.remote.b + 12;
    g.local = info.local.b + 12;
    g.remote_port = info.remote_port;
    g.local_port = info.local_port;
    g.flags = ACK;
    assert_int_equal(toec_input_flow(s.host[0].stack, c->flow, &g, s.now), -1);
    conn_abort(c);
    sim_run(&s, 130 * SEC);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_by_headers),
        cmocka_unit_test(test_wrong_segments),
        cmocka_unit_test(test_half_open),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
