/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_unreach.c - more unreachable neighbours than may be resolved at once: each evicts
 * another, so that no resolution ever fails. The flows must end all the same, or SYNs from unused
 * addresses would hold half-open flows for ever.
 */
#include <stdlib.h>

#include "tcpsim.h"

static void put(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

/* Sends a SYN from 10.0.0.last; its checksums count as verified. */
static void syn_from(struct sim *s, uint8_t last)
{
    uint8_t f[54] = {0};
    struct toec_packet p;

    memcpy(f, s->host[0].cfg.mac, 6);
    f[6] = 2;
    f[12] = 8;
    f[14] = 0x45;
    f[17] = 40;
    f[22] = 64;
    f[23] = 6;
    put(f + 26, 0x0a000000u + last);
    put(f + 30, IP_A);
    f[34] = 0x13;
    f[37] = 80;
    put(f + 38, 1000);
    f[46] = 0x50;
    f[47] = F_SYN;
    f[48] = 0xff;
    memset(&p, 0, sizeof(p));
    p.data = f;
    p.head_len = p.len = sizeof(f);
    p.flags = TOEC_RX_L4_CSUM_OK | TOEC_RX_IP_CSUM_OK;
    toec_input(s->host[0].stack, &p, s->now);
}

static void start(struct sim *s)
{
    craft_init(s);
    s->host[0].cfg.max_neighbours = 4; /* one may be resolved at a time */
    craft_start(s);
}

static void test_half_open_flows_of_silent_neighbours_end(void **state)
{
    static struct sim s;
    struct toec_usage u;

    (void)state;
    start(&s);
    sim_listen(&s, 0, 80, 0, 0);
    syn_from(&s, 77);
    syn_from(&s, 78);
    craft_poll(&s);
    toec_usage(s.host[0].stack, &u);
    assert_int_equal(u.half_open, 2);
    craft_pass(&s, 200 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
}

static void test_connects_to_silent_neighbours_end(void **state)
{
    static struct sim s;
    struct host *h = &s.host[0];
    struct conn *c[2];
    unsigned i;

    (void)state;
    start(&s);
    for (i = 0; i < 2; i++) {
        struct toec_buffers b = {0};
        struct toec_addr to = {{0}};

        c[i] = calloc(1, sizeof(*c[i]));
        assert_non_null(c[i]);
        c[i]->host = h;
        c[i]->next = h->conns;
        h->conns = c[i];
        h->open_now++;
        to.b[10] = to.b[11] = 0xff;
        put(to.b + 12, 0x0a00004du + i);
        b.owner = c[i];
        b.tx_size = b.rx_size = 4096;
        assert_int_equal(toec_connect(h->stack, &to, 80, 0, &b, s.now, &c[i]->flow), 0);
    }
    craft_pass(&s, 400 * SEC);
    assert_true(c[0]->gone && c[1]->gone);
    sim_assert_clean(&s);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_open_flows_of_silent_neighbours_end),
        cmocka_unit_test(test_connects_to_silent_neighbours_end),
    };

    return cmocka_run_group_tests_name("tcp_unreach", tests, 0, 0);
}
