/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_fuzz.c - one stack against random segments around the edges of its flows: it never
 * crashes, never accesses bytes outside the buffer, and all pools are full again in the end.
 */
#include "tcptalk.h"

static uint32_t near(uint32_t x)
{
    static const int32_t step[] = {0, 1, -1, 2, 100, -100, 1460, -1460, 65535, -65535, 0x7fffffff};

    switch (random_below(4)) {
    case 0:
        return (uint32_t)random64();
    case 1:
        return x + (uint32_t)step[random_below(11)] + random_below(3) - 1;
    default:
        return x + (random_below(3) ? 0 : random_below(3000));
    }
}

static void random_segment(struct sim *s, const struct conn *c)
{
    struct tseg g;
    struct toec_info i;
    uint32_t iss = 0;
    unsigned n;

    memset(&i, 0, sizeof(i));
    g = seg_make(c ? c->remote_port : (uint16_t)(5000 + random_below(50)),
                 c ? c->local_port : (uint16_t)(80 + random_below(2)),
                 random_below(3) ? F_ACK : random_below(64), 0, 0);
    g.seq = near(PEER_ISN + 1 + (c ? (uint32_t)c->received : 0));
    /* take the stack's ISN from what it sends; see below */
    for (n = s->sent_n; n > 0; n--) {
        const uint8_t *f = s->sent[n - 1]->data;

        if (f[23] == 6 && f[12] == 8 && f[13] == 0 && (f[36] << 8 | f[37]) == g.sport) {
            iss = (uint32_t)f[38] << 24 | (uint32_t)f[39] << 16 | (uint32_t)f[40] << 8 | f[41];
            if (random_below(2))
                g.seq = near((uint32_t)f[42] << 24 | (uint32_t)f[43] << 16 | (uint32_t)f[44] << 8 |
                             f[45]);
            break;
        }
    }
    g.ack = near(iss + random_below(2));
    g.wnd = random_below(3) ? random_below(65536) : 0;
    g.len = random_below(3) ? 0 : random_below(1400);
    if (random_below(8) == 0)
        g.mss = (int)random_below(65536);
    if (random_below(8) == 0)
        g.wscale = (int)random_below(256);
    g.sack_ok = random_below(4) == 0;
    if (random_below(2)) {
        g.has_ts = 1;
        g.tsval = 1000 + random_below(3);
        g.tsecr = (uint32_t)random64();
    }
    if (random_below(4) == 0 && g.mss < 0 && g.wscale < 0 && !g.sack_ok) {
        g.n_sack = 1 + random_below(3);
        for (n = 0; n < g.n_sack; n++) {
            g.sack[n][0] = near(iss);
            g.sack[n][1] = near(g.sack[n][0] + 1000);
        }
    }
    craft_send(s, &g);
}

static struct conn *some_conn(struct host *h)
{
    struct conn *c;
    unsigned skip = random_below(8);

    for (c = h->conns; c; c = c->next) {
        if (c->flow && skip-- == 0)
            return c;
    }
    return 0;
}

static void user_op(struct host *h)
{
    struct conn *c = some_conn(h);
    int r;

    switch (random_below(10)) {
    case 0:
        sim_connect_from(h->sim, 0, 0, 80, &r);
        return;
    case 1:
    case 2:
        if (c)
            conn_write(c, random_below(4000), 1);
        return;
    case 3:
        if (c && c->flow) { /* payload is not checked here: any peer may have sent it */
            uint32_t n = (uint32_t)(c->received - c->read);

            c->read += n;
            if (!c->closed)
                assert_int_equal(toec_recv(h->stack, c->flow, n, h->sim->now), 0);
        }
        return;
    case 4:
        if (c && random_below(4) == 0)
            conn_shutdown(c);
        return;
    case 5:
        if (c && random_below(8) == 0)
            conn_close(c);
        return;
    default:
        return;
    }
}

static void fuzz(uint64_t seed, unsigned steps)
{
    struct sim s;
    struct toec_usage u;
    struct conn *c;
    unsigned n, i;

    random_begin(seed);
    craft_init(&s);
    s.host[0].cfg.max_flows = 30;
    s.host[0].cfg.max_time_wait = 6;
    s.host[0].tx_buf = s.host[0].rx_buf = 4096;
    s.host[0].tx_fail_1024 = random_below(50);
    craft_start(&s);
    sim_listen(&s, 0, 80, 4, 0);
    for (n = 0; n < steps; n++) {
        random_segment(&s, random_below(3) ? some_conn(&s.host[0]) : 0);
        user_op(&s.host[0]);
        if (random_below(4) == 0)
            craft_poll(&s);
        if (random_below(50) == 0)
            craft_pass(&s, random64() % (2 * SEC));
        toec_usage(s.host[0].stack, &u);
        assert_int_equal(u.flows, s.host[0].open_now);
        assert_int_equal(s.place_violations, 0);
        if (s.sent_n > 2000) {
            for (i = 0; i < 1900; i++)
                free(s.sent[i]);
            memmove(s.sent, s.sent + 1900, (s.sent_n - 1900) * sizeof(*s.sent));
            s.sent_n -= 1900;
        }
    }
    for (c = s.host[0].conns; c; c = c->next)
        conn_abort(c);
    while (s.sent_n)
        free(s.sent[--s.sent_n]);
    craft_pass(&s, 200 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
}

static void test_fuzz(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < 30; i++)
        fuzz(5000 + i, 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fuzz),
    };

    return cmocka_run_group_tests_name("tcp_fuzz", tests, 0, 0);
}
