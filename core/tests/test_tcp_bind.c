/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_bind.c - may a socket be bound to a port with connections, or with ones in TIME-WAIT? As
 * in inet_csk_bind_conflict() of Linux.
 */
#include "tcptalk.h"

static const uint8_t other4[4] = {10, 0, 0, 77};

static struct toec_addr mapped(const uint8_t ip[4])
{
    struct toec_addr a = {.b = {[10] = 0xff, [11] = 0xff}};

    memcpy(a.b + 12, ip, 4);
    return a;
}

static struct toec_addr own(const struct talk *t)
{
    return mapped(t->s.host[0].cfg.ip);
}

static int bind_at(const struct talk *t, struct toec_addr a, unsigned how)
{
    return toec_bind_ok(t->s.host[0].stack, &a, t->own_port, how);
}

/* For each set of options of the binder: the verdict of the existing connections. */
static void want(const struct talk *t, int none, int addr, int port, int both)
{
    const int said[4] = {none, addr, port, both};
    unsigned how;

    for (how = 0; how < 4; how++)
        assert_int_equal(bind_at(t, own(t), how), said[how] ? TOEC_E_INUSE : 0);
}

static void to_time_wait(struct talk *t)
{
    conn_close(t->c);
    craft_poll(&t->s);
    talk_hear(t, F_ACK | F_FIN, 0, 0, 0);
    talk_say(t, F_ACK | F_FIN, 0, 1, 0);
    talk_hear(t, F_ACK, 1, 1, 0);
    assert_true(t->c->gone);
}

/* One connection with each setting: while it lives, in TIME-WAIT, and afterwards. */
static void test_each_way(void **state)
{
    unsigned reuse;

    (void)state;
    for (reuse = 0; reuse < 4; reuse++) {
        int addr = !(reuse & TOEC_REUSE_ADDR), port = !(reuse & TOEC_REUSE_PORT);
        struct talk t;

        talk_open(&t);
        talk_set(&t, TOEC_OPT_REUSE, reuse);
        want(&t, 1, addr, port, addr && port);
        to_time_wait(&t);
        assert_int_equal(t.c->waits, reuse);
        want(&t, 1, addr, port, addr && port);
        craft_pass(&t.s, 61 * SEC);
        want(&t, 0, 0, 0, 0);
        talk_end(&t);
    }
}

/* A connection inherits the options of its listener when its SYN arrives. */
static void test_of_a_listener(void **state)
{
    struct conn *before, *after;
    struct toec_stack *stack;
    struct toec_addr self;
    struct sim s;
    uint32_t id;

    (void)state;
    sim_init(&s, 2);
    sim_start(&s);
    stack = s.host[0].stack;
    self = mapped(s.host[0].cfg.ip);
    sim_listen(&s, 0, OWN_PORT, 0, &id);
    before = sim_connect(&s, 1, OWN_PORT);
    sim_run(&s, SEC);
    assert_int_equal(toec_listen_option(stack, id, TOEC_OPT_REUSE, 4), TOEC_E_INVAL);
    assert_int_equal(toec_listen_option(stack, id, TOEC_OPT_REUSE, TOEC_REUSE_ADDR), 0);
    after = sim_connect(&s, 1, OWN_PORT);
    sim_run(&s, SEC);
    assert_true(before->established && after->established);
    assert_int_equal(toec_bind_ok(stack, &self, OWN_PORT, TOEC_REUSE_ADDR), TOEC_E_INUSE);
    conn_abort(before);
    sim_run(&s, SEC);
    assert_int_equal(toec_bind_ok(stack, &self, OWN_PORT, TOEC_REUSE_ADDR), 0);
    assert_int_equal(toec_bind_ok(stack, &self, OWN_PORT, 0), TOEC_E_INUSE);
    conn_abort(after);
    sim_run(&s, SEC);
    assert_int_equal(toec_bind_ok(stack, &self, OWN_PORT, 0), 0);
    toec_unlisten(stack, id);
    sim_stop(&s);
}

/* An address conflicts with itself and with the wildcards that include it. */
static void test_addresses(void **state)
{
    const struct toec_addr any6 = {{0}};
    struct toec_addr elsewhere6 = {{0xfd, [15] = 9}};
    static const uint8_t any4[4];
    struct talk t;

    (void)state;
    talk_open(&t);
    assert_int_equal(bind_at(&t, own(&t), 0), TOEC_E_INUSE);
    assert_int_equal(bind_at(&t, mapped(any4), 0), TOEC_E_INUSE);
    assert_int_equal(bind_at(&t, any6, 0), TOEC_E_INUSE);
    assert_int_equal(bind_at(&t, any6, TOEC_BIND_V6ONLY), 0);
    assert_int_equal(bind_at(&t, mapped(other4), 0), 0);
    assert_int_equal(bind_at(&t, elsewhere6, 0), 0);
    t.own_port++;
    assert_int_equal(bind_at(&t, any6, 0), 0);
    t.own_port--;
    talk_end(&t);
}

static void test_addresses_of_ip6(void **state)
{
    const struct toec_addr any6 = {{0}};
    static const uint8_t any4[4];
    struct toec_addr self = {{0xfd, [15] = 1}}, other = {{0xfd, [15] = 9}};
    struct talk t;

    (void)state;
    sim_ip6 = 1;
    talk_open(&t);
    assert_int_equal(bind_at(&t, self, 0), TOEC_E_INUSE);
    assert_int_equal(bind_at(&t, any6, 0), TOEC_E_INUSE);
    assert_int_equal(bind_at(&t, any6, TOEC_BIND_V6ONLY), TOEC_E_INUSE);
    assert_int_equal(bind_at(&t, mapped(any4), 0), 0);
    assert_int_equal(bind_at(&t, other, 0), 0);
    talk_end(&t);
    sim_ip6 = 0;
}

/* A connection of our own making, and one that was reset. */
static void test_active_and_reset(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_active(&t);
    want(&t, 1, 1, 1, 1);
    talk_set(&t, TOEC_OPT_REUSE, TOEC_REUSE_ADDR);
    want(&t, 1, 0, 1, 0);
    assert_int_equal(talk_option(&t, TOEC_OPT_REUSE, 4), TOEC_E_INVAL);
    conn_abort(t.c);
    assert_int_equal(t.c->waits, -1);
    want(&t, 0, 0, 0, 0);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_way),         cmocka_unit_test(test_of_a_listener),
        cmocka_unit_test(test_addresses),        cmocka_unit_test(test_addresses_of_ip6),
        cmocka_unit_test(test_active_and_reset),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
