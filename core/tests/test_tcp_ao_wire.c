/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_ao_wire.c - TCP-AO as seen by an observer on the path that has the key and counts
 * sequence numbers in 64 bits: the MAC of each segment follows RFC 5925 5.1, also when numbers wrap
 * (6.2). R5925-08.
 */
#include "tcpsim.h"
#include "tcpsim_parts.h"

#include "tcp/tcp.h"
#include "tcp/tcp_ao_seg.h"

#define PORT   179
#define BEFORE 100000u /* the numbers of one side end so far behind its ISN */

struct path {
    struct sim s;
    struct conn *c, *peer;
    struct toec_ao_key key;
    uint32_t isn[2];
    uint64_t seq[2];          /* the latest of each, counted on */
    unsigned checked, beyond; /* segments; of them with an extension that is not 0 */
};

/* The number in 64 bits that is nearest to the latest. */
static uint64_t counted(struct path *p, unsigned from, uint32_t seq)
{
    uint64_t is = p->seq[from] + (uint64_t)(int64_t)(int32_t)(seq - (uint32_t)p->seq[from]);

    if (is > p->seq[from])
        p->seq[from] = is;
    return is;
}

static int64_t judge(struct sim *s, unsigned from, uint8_t *f, uint32_t len)
{
    struct path *p = s->router_state;
    uint8_t *tcp = f + 34, traffic[TOEC_MAC_MOST], mac[TOEC_MAC_MOST];
    uint32_t hlen, at = 20, seq;
    struct toec_addr src, dst;
    struct toec_tuple id;
    struct toec_mac m;
    uint64_t full;

    if (f[12] != 8 || f[13] != 0 || f[23] != 6)
        return 0;
    hlen = (tcp[12] >> 4) * 4u;
    while (tcp[at] != 29) {
        at += tcp[at] == 1 ? 1 : tcp[at + 1];
        assert_true(at < hlen);
    }
    seq = get32(tcp + 4);
    if (tcp[13] & F_SYN) {
        p->isn[from] = seq;
        p->seq[from] = seq;
    }
    toec_addr_set4(&src, get32(f + 26));
    toec_addr_set4(&dst, get32(f + 30));
    id.local = &src;
    id.remote = &dst;
    id.local_port = (toec_u16)get16(tcp);
    id.remote_port = (toec_u16)get16(tcp + 2);
    full = counted(p, from, seq);
    toec_ao_traffic_key(&p->key, &id, p->isn[from],
                        (tcp[13] & (F_SYN | F_ACK)) == F_SYN ? 0 : p->isn[1 - from], traffic);
    toec_ao_cover(&m, &p->key, traffic, &src, &dst, tcp, at, len - 34, (uint32_t)(full >> 32));
    toec_ao_feed(&m, tcp + hlen, len - 34 - hlen);
    toec_mac_end(&m, mac);
    assert_memory_equal(mac, tcp + at + 4, TOEC_AO_MAC);
    p->checked++;
    p->beyond += full >> 32 != 0;
    return 0;
}

static struct toec_ao_mkt mkt(uint32_t remote, uint8_t send_id, uint8_t recv_id)
{
    struct toec_ao_mkt k;

    memset(&k, 0, sizeof(k));
    toec_addr_set4(&k.remote, remote);
    k.prefix = 32;
    k.alg = TOEC_AO_AES_CMAC;
    k.send_id = send_id;
    k.recv_id = recv_id;
    k.secret = (const uint8_t *)"on the wire";
    k.secret_len = 11;
    return k;
}

static void open_from(struct path *p, uint16_t port)
{
    struct toec_ao_mkt k = mkt(IP_B, 1, 2);

    p->c = sim_connect_from(&p->s, 0, port, PORT, NULL);
    assert_int_equal(toec_ao_add(p->s.host[0].stack, p->c->flow, &k), 0);
    sim_run(&p->s, SEC);
    assert_true(p->c->established);
    p->peer = conn_peer(p->c);
}

static void start(struct path *p)
{
    struct toec_ao_mkt k = mkt(IP_A, 2, 1);
    uint32_t id;
    unsigned i;

    memset(p, 0, sizeof(*p));
    sim_init(&p->s, 2);
    for (i = 0; i < 2; i++) {
        p->s.host[i].cfg.max_ao_keys = 8;
        p->s.host[i].cfg.ao = &sim_ao;
    }
    p->key.alg = TOEC_AO_AES_CMAC;
    p->key.len = 11;
    memcpy(p->key.secret, "on the wire", 11);
    p->s.router = judge;
    p->s.router_state = p;
    sim_start(&p->s);
    sim_listen(&p->s, 1, PORT, 0, &id);
    assert_int_equal(toec_listen_ao_add(p->s.host[1].stack, id, &k), 0);
    open_from(p, 4000);
}

/*
 * The ISNs of one pair follow the clock (RFC 6528): a second connection begins when that of one
 * side is just before the end of the numbers. Then both send, over a link that loses: what is sent
 * again from before the wrap has the extension that it had.
 */
static void wrap(unsigned whose)
{
    struct path p;
    struct conn *wraps, *other;
    toec_time at;

    start(&p);
    at = p.s.now;
    conn_close(p.c);
    conn_close(p.peer);
    sim_run(&p.s, 130 * SEC);
    p.isn[whose] += (uint32_t)((p.s.now - at + SEC) >> 12);
    sim_run(&p.s, (toec_time)(uint32_t)(0u - BEFORE - p.isn[whose]) << 12);
    open_from(&p, 4000);
    assert_true(0u - p.isn[whose] <= BEFORE && 0u - p.isn[whose] > BEFORE / 2);
    p.s.impair.lose = 30;
    p.s.impair.reorder = 50;
    p.s.impair.reorder_by = 300 * USEC;
    wraps = whose == 0 ? p.c : p.peer;
    other = whose == 0 ? p.peer : p.c;
    sim_transfer(&p.s, wraps, 1000000, 6000 * SEC);
    sim_transfer(&p.s, other, 100000, 600 * SEC);
    assert_int_equal(wraps->acked, 1000000);
    assert_int_equal(other->acked, 100000);
    assert_int_equal(sim_count(&p.s, 0, TOEC_C_tcp_ao_bad_mac), 0);
    assert_int_equal(sim_count(&p.s, 1, TOEC_C_tcp_ao_bad_mac), 0);
    assert_true(p.checked > p.beyond + 70 && p.beyond > 600);
    conn_close(p.c);
    conn_close(p.peer);
    sim_run(&p.s, 700 * SEC);
    sim_assert_clean(&p.s);
    sim_stop(&p.s);
}

static void test_wrap(void **state)
{
    (void)state;
    wrap(0);
    wrap(1);
}

/* ... and in an image that is made in between. */
static void test_wrap_handed_over(void **state)
{
    struct path p;
    toec_time at;
    unsigned i;

    (void)state;
    start(&p);
    at = p.s.now;
    conn_close(p.c);
    conn_close(p.peer);
    sim_run(&p.s, 130 * SEC);
    p.isn[0] += (uint32_t)((p.s.now - at + SEC) >> 12);
    sim_run(&p.s, (toec_time)(uint32_t)(0u - BEFORE - p.isn[0]) << 12);
    open_from(&p, 4000);
    for (i = 1; i <= 10; i++) {
        sim_transfer(&p.s, p.c, 30000 * i, 60 * SEC);
        sim_hand_over(&p.s.host[0]);
        sim_hand_over(&p.s.host[1]);
    }
    assert_int_equal(p.c->acked, 300000);
    assert_true(p.beyond > 100);
    sim_stop(&p.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrap),
                                       cmocka_unit_test(test_wrap_handed_over)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
