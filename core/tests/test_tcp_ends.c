/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_ends.c - short connections over a link that loses, doubles and reorders, each ended by
 * both sides at random moments in random ways. A side that sees the peer's FIN has received every
 * byte; acknowledged bytes have arrived; if both close gracefully nothing is lost. Each connection
 * has its own seed, which TOE_TEST_SEED repeats; 5,000 of them, 100,000 with TOE_TEST_LONG=1.
 */
#include "tcpsim.h"

/* A sanitized or emulated program is many times slower. */
#if defined(__SANITIZE_ADDRESS__) || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FEW 1000u
#else
#define FEW 5000u
#endif
#define MANY 100000u

enum way {
    SHUT,   /* stops writing, and reads all arriving data */
    CLOSE,  /* reads all available bytes and closes: later data is answered by a reset */
    UNREAD, /* closes without reading: a reset if bytes are unread (RFC 2525 2.17) */
    ABORT,  /* reads all available bytes and resets */
    WAYS
};

struct side {
    struct conn *c;
    enum way way;
    int ended, unread, gave_up;
    toec_time at;    /* when it ends */
    uint64_t goal;   /* the most that it writes until then */
    uint64_t at_end; /* the bytes received by then */
};

static uint64_t seed;

/* ARP is never lost, unlike other packets. Every packet takes 1 to 4 ms. */
static int64_t bad_link(struct sim *s, unsigned from, uint8_t *frame, uint32_t len)
{
    unsigned proto = frame[12] == 8 ? frame[23] : frame[20];

    (void)s, (void)from, (void)len;
    if (frame[13] == 6 || proto != 6)
        return 0;
    if (random_below(100) < 7)
        return -1;
    return (int64_t)(MSEC + random64() % (random_below(4) ? MSEC / 10 : 3 * MSEC));
}

static void begin(struct sim *s)
{
    unsigned i;

    sim_init(s, 2);
    s->impair.delay = 10 * USEC;
    s->impair.duplicate = 30;
    s->router = bad_link;
    for (i = 0; i < 2; i++) {
        struct toec_config *cfg = &s->host[i].cfg;

        s->host[i].tx_buf = 2048u << random_below(4);
        s->host[i].rx_buf = 2048u << random_below(4);
        cfg->max_flows = cfg->max_time_wait = 4;
        cfg->max_neighbours = 8;
        cfg->max_datagrams = 1;
        cfg->max_gso = random_below(2) ? 61440 : 0;
        cfg->cc = random_below(2) ? TOEC_CC_CUBIC : TOEC_CC_NEWRENO;
    }
    sim_start(s);
    sim_listen(s, 1, 80, 0, 0);
}

static void decide(struct side *x, struct conn *c)
{
    memset(x, 0, sizeof(*x));
    x->c = c;
    x->way = random_below(2) ? SHUT : (enum way)random_below(WAYS);
    x->at = c->host->sim->now + random64() % ((random_below(4) ? 40 : 1) * MSEC);
    x->goal = random_below(4) ? random_below(20000) : random_below(2);
}

static void end(struct side *x)
{
    struct conn *c = x->c;

    if (!c->flow || (x->way == SHUT && !c->established))
        return;
    x->ended = 1;
    if (x->way == CLOSE || x->way == ABORT)
        conn_read(c, c->rx_size);
    x->at_end = c->received;
    x->unread = c->received != c->read;
    if (x->way == SHUT)
        conn_shutdown(c);
    else if (x->way == ABORT)
        conn_abort(c);
    else
        conn_close(c);
}

/* The application's actions between two events. */
static void live(struct side *x)
{
    struct conn *c = x->c;

    if (!c || c->gone)
        return;
    if (!x->ended && c->sent < x->goal && random_below(4)) {
        uint64_t left = x->goal - c->sent, n = 1 + random_below(4000);

        conn_write(c, (uint32_t)(n < left ? n : left), random_below(2) != 0);
    }
    if (random_below(4) && !c->closed)
        conn_read(c, 1 + random_below(8000));
    if (!x->ended && c->host->sim->now >= x->at)
        end(x);
    if (x->ended && !c->closed && c->host->sim->now >= x->at + 300 * SEC) {
        x->gave_up = 1; /* the other's reset was lost */
        conn_close(c);
    }
}

/* Whether this side accepted all that the other sent, at any time. */
static int patient(const struct side *x, const struct side *other)
{
    if (x->way == SHUT)
        return 1;
    return x->way != ABORT && !x->unread && x->ended && x->at_end == other->c->sent;
}

static void check(struct side *to, const struct side *from)
{
    conn_read(to->c, to->c->rx_size); /* by pieces: the pattern is looked at */
    assert_true(to->c->received >= from->c->acked);
    if (to->c->peer_closed) {
        assert_int_equal(to->c->received, from->c->sent);
        assert_int_not_equal(from->way, ABORT);
    }
    if (patient(from, to)) /* else its reset may have been lost */
        assert_int_not_equal(to->c->gone_reason, TOEC_R_TIMEDOUT);
    assert_int_not_equal(to->c->gone_reason, TOEC_R_HOSTUNREACH);
}

/* Runs one connection. Returns 1: both ends were patient, and nothing may be lost; 0: one was not;
 * -1: the connection had nothing but its SYN. */
static int one_connection(void)
{
    struct side a, b = {0};
    struct sim s;
    toec_time until;
    int careful = -1;

    random_state = seed;
    begin(&s);
    until = s.now + 1000 * SEC;
    decide(&a, sim_connect(&s, 0, 80));
    while (!a.c->gone || (s.host[1].conns && !s.host[1].conns->gone)) {
        if (!b.c && s.host[1].conns)
            decide(&b, s.host[1].conns);
        live(&a);
        live(&b);
        s.host[0].deadline = s.host[1].deadline = s.now;
        sim_step(&s, until);
        sim_step(&s, s.now + MSEC);
        assert_true(s.now < until);
    }
    sim_run(&s, 200 * SEC); /* TIME-WAIT, and half-open flows */
    if (b.c && a.c->established && b.c->established) {
        check(&a, &b);
        check(&b, &a);
        careful = patient(&a, &b) && patient(&b, &a);
    }
    if (careful == 1) {
        assert_false(a.gave_up || b.gave_up);
        assert_int_equal(a.c->gone_reason, TOEC_R_OK);
        assert_int_equal(b.c->gone_reason, TOEC_R_OK);
        assert_int_equal(a.c->received, b.c->sent);
        assert_int_equal(b.c->received, a.c->sent);
    }
    sim_assert_clean(&s);
    sim_stop(&s);
    return careful;
}

static void test_no_byte_is_lost_at_the_end(void **state)
{
    unsigned i, n = getenv("TOE_TEST_LONG") ? MANY : FEW, careful = 0, others = 0;

    (void)state;
    random_begin(793);
    if (getenv("TOE_TEST_SEED"))
        n = 1;
    for (i = 0, seed = random_state; i < n; i++, seed++) {
        int r = one_connection();

        careful += r == 1;
        others += r == 0;
    }
    print_message("%u connections: %u ended with care, %u otherwise\n", n, careful, others);
    if (n > 1)
        assert_true(careful > n / 4 && others > n / 4);
}

/* Of the one that failed, if one did. */
static int tell_seed(void **state)
{
    (void)state;
    print_message("the last had TOE_TEST_SEED=%llu\n", (unsigned long long)seed);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_no_byte_is_lost_at_the_end, tell_seed),
    };
    int failed = cmocka_run_group_tests_name("tcp_ends", tests, 0, 0);

    sim_ip6 = 1;
    return failed + cmocka_run_group_tests_name("tcp_ends over IPv6", tests, 0, 0);
}
