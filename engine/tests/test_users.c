/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_users.c - limits of a user: accounts, listeners on an engine, commands a second.
 */
#include <string.h>

#include "base/pace.h"
#include "bench.h"

#define SOMEBODY 1000u

static void test_limits_are_read(void **state)
{
    static const char *const bad[] = {
        "",       "qps",      "qps=",          "qps=0",     "qps=x",
        "qps=-1", "qps=4,",   "qps=4,flows=1", "=4",        "slots=99999999999",
        "qps=4x", "commands", "qps=4;slots=1", "qps =4",    ",qps=4",
        "QPS=4",  "qp=4",     "slots=1 ",      "memory=+1", "listeners=1,listeners=",
    };
    struct user_limits l = {0};
    char err[160];
    unsigned i;

    (void)state;
    assert_int_equal(limits_parse(&l, "slots=1000,qps=4,memory=64,commands=5,listeners=4294967295",
                                  err, sizeof(err)),
                     0);
    assert_int_equal(l.qps, 4);
    assert_int_equal(l.slots, 1000);
    assert_int_equal(l.memory_mib, 64);
    assert_int_equal(l.commands, 5);
    assert_int_equal(l.listeners, UINT32_MAX);
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        err[0] = 0;
        if (limits_parse(&l, bad[i], err, sizeof(err)) == 0)
            fail_msg("'%s' was taken", bad[i]);
        assert_true(err[0] != 0);
    }
}

static void test_accounts(void **state)
{
    const struct user_limits none = {0}, l = {.qps = 2, .slots = 100, .memory_mib = 10};
    struct user *users = NULL, *root, *u, *v;
    char err[160] = "";

    (void)state;
    u = user_get(&users, SOMEBODY);
    assert_ptr_equal(user_get(&users, SOMEBODY), u);
    assert_int_equal(user_may(u, &l, 100, 10 << 20, err, sizeof(err)), 0);
    assert_int_equal(user_may(u, &l, 101, 0, err, sizeof(err)), -1);
    assert_non_null(strstr(err, "user 1000 has 0 and asks for 101 more"));
    assert_non_null(strstr(err, "slots=100"));
    assert_int_equal(user_may(u, &l, 0, 11 << 20, err, sizeof(err)), -1);
    assert_non_null(strstr(err, "memory=10"));
    u->qps = 2;
    u->slots = 60;
    u->bytes = 6 << 20;
    assert_int_equal(user_may(u, &l, 1, 0, err, sizeof(err)), -1);
    assert_non_null(strstr(err, "qps=2"));
    assert_int_equal(user_may(u, &none, UINT32_MAX, UINT64_MAX, err, sizeof(err)), 0);
    u->qps = 1;
    assert_int_equal(user_may(u, &l, 41, 0, err, sizeof(err)), -1);
    assert_int_equal(user_may(u, &l, 40, 4 << 20, err, sizeof(err)), 0);
    /* another user has its own limit, and root none */
    v = user_get(&users, SOMEBODY + 1);
    assert_ptr_not_equal(u, v);
    assert_int_equal(user_may(v, &l, 100, 0, err, sizeof(err)), 0);
    root = user_get(&users, 0);
    assert_int_equal(user_may(root, &l, UINT32_MAX, UINT64_MAX, err, sizeof(err)), 0);
    user_put(&users, root);
    user_put(&users, u); /* has something left */
    assert_ptr_equal(user_get(&users, SOMEBODY), u);
    user_put(&users, v);
    u->qps = 0;
    user_put(&users, u);
    assert_null(users);
}

/* Any demand in any number of polls: over any time at most the rate plus a burst of a tenth of a
 * second. */
static void test_pace(void **state)
{
    static const uint32_t rates[] = {1, 7, 1000, 12345678, UINT32_MAX};
    const uint64_t begin = 5 * NS_PER_S;
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        uint64_t now, taken = 0;
        struct pace p;

        pace_init(&p, rates[i]);
        for (now = begin; now < begin + 2 * NS_PER_S; now += 1237 * (uint64_t)1000) {
            unsigned n = pace_room(&p, 1000000, now);

            if (n == 0)
                assert_true(pace_at(&p) > now);
            pace_took(&p, n, now);
            taken += n;
        }
        if (rates[i] < 100000000)
            assert_true(taken <= (uint64_t)rates[i] * 21 / 10 + 2);
        assert_true(taken >=
                    (rates[i] < 100000000 ? (uint64_t)rates[i] * 2 * 99 / 100 : 1000000000));
    }
    {
        struct pace p;

        pace_init(&p, 0);
        assert_int_equal(pace_room(&p, 77, begin), 77);
    }
}

static void as_user(struct host *h, uint32_t listeners, uint32_t commands)
{
    h->qp->uid = SOMEBODY;
    h->qp->max_listeners = listeners;
    pace_init(&h->qp->pace, commands);
}

static uint16_t listen_reason(struct hosts *w, struct host *h, uint16_t port, uint8_t flags)
{
    struct toe_cmd c;

    host_put(h, TOE_CMD_LISTEN, flags, port, port, 0, 16);
    bench_run(&w->t, NS_PER_MS);
    if (!host_get(h, &c))
        return 0;
    assert_int_equal(toe_cmd_type(&c), TOE_CMD_ERROR);
    return toe_cmd_aux(&c);
}

static void test_listeners_of_a_user(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(4);
    struct host second, other;

    host_attach(&w->t, w->t.a, &second, &cfg);
    host_attach(&w->t, w->t.a, &other, &cfg);
    as_user(&w->x, 3, 0);
    as_user(&second, 3, 0);
    assert_int_equal(listen_reason(w, &w->x, 1, 0), 0);
    assert_int_equal(listen_reason(w, &w->x, 2, 0), 0);
    assert_int_equal(listen_reason(w, &second, 1, 0), 0);
    assert_int_equal(listen_reason(w, &second, 3, 0), TOE_R_NOBUFS);
    assert_int_equal(listen_reason(w, &w->x, 3, 0), TOE_R_NOBUFS);
    assert_int_equal(listen_reason(w, &w->x, 2, 0), 0); /* again: it holds that one */
    assert_int_equal(listen_reason(w, &other, 3, 0), 0);
    /* a new one makes one weak, and then the old one is restored */
    assert_int_equal(listen_reason(w, &w->x, 4, TOE_F_LISTEN_WEAK), 0);
    host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 4, 0, 0);
    host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 2, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    assert_int_equal(listen_reason(w, &second, 3, 0), TOE_R_ADDRINUSE); /* the other's by now */
    assert_int_equal(listen_reason(w, &second, 5, 0), 0);
    host_detach(&w->t, &second);
    host_detach(&w->t, &other);
}

static void test_commands_wait_for_the_rate(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    unsigned i, n = 0;

    as_user(&w->x, 0, 100);
    for (i = 0; i < 30; i++)
        host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 99, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    while (host_get(&w->x, &c))
        n++;
    assert_int_equal(n, 11);
    assert_int_equal(w->t.a->counters[EC_commands_paced], 1);
    /* another user's flow is served at once, and these at their rate, without a doorbell */
    bench_run(&w->t, 100 * NS_PER_MS);
    while (host_get(&w->x, &c))
        n++;
    assert_int_equal(n, 21);
    bench_run(&w->t, NS_PER_S);
    while (host_get(&w->x, &c))
        n++;
    assert_int_equal(n, 30);
}

#define T(name) cmocka_unit_test_setup_teardown(name, hosts_setup, hosts_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_are_read),
        cmocka_unit_test(test_accounts),
        cmocka_unit_test(test_pace),
        T(test_listeners_of_a_user),
        T(test_commands_wait_for_the_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
