/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_lines.c - the fields after `recover` in a TCB are for losses, options and statistics
 * (tcp.h). In-order traffic must not access them: with many flows each cache line is a miss.
 *
 * With AddressSanitizer reads are detected too; without it, only writes.
 */
#include "tcpsim.h"

#include "tcp/tcp.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define FORBID(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define ALLOW(p, n)  ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define FORBID(p, n) ((void)(p), (void)(n))
#define ALLOW(p, n)  ((void)(p), (void)(n))
#endif

#define COLD (sizeof(struct toec_tcb) - TOEC_TCB_HOT)

struct pair {
    struct sim s;
    struct conn *c[2]; /* the client's end, the server's end */
    uint8_t was[2][COLD];
};

static uint8_t *cold(const struct pair *p, unsigned end)
{
    return (uint8_t *)p->c[end]->flow + TOEC_TCB_HOT;
}

static void say(struct pair *p, unsigned end, uint32_t n)
{
    const struct conn *to = p->c[!end];
    uint64_t before = to->received;

    assert_int_equal(conn_write(p->c[end], n, 1), n);
    sim_run(&p->s, MSEC);
    assert_int_equal(to->received - before, n);
    assert_int_equal(conn_read(p->c[!end], n), n);
}

/* Establishes a pair, past the quick ACKs at the start of a connection. */
static void pair_open(struct pair *p)
{
    unsigned i;

    sim_init(&p->s, 2);
    sim_start(&p->s);
    sim_listen(&p->s, 1, 80, 4, 0);
    p->c[0] = sim_connect(&p->s, 0, 80);
    sim_run(&p->s, 10 * MSEC);
    p->c[1] = p->s.host[1].conns;
    assert_true(p->c[0]->established && p->c[1]->established);
    for (i = 0; i < 100; i++)
        say(p, i & 1, 64);
    sim_run(&p->s, SEC);
}

static void forbid(struct pair *p)
{
    unsigned i;

    for (i = 0; i < 2; i++) {
        memcpy(p->was[i], cold(p, i), COLD);
        FORBID(cold(p, i), COLD);
    }
}

static void allow(struct pair *p)
{
    unsigned i;

    for (i = 0; i < 2; i++) {
        ALLOW(cold(p, i), COLD);
        assert_memory_equal(p->was[i], cold(p, i), COLD);
    }
}

static void pair_close(struct pair *p)
{
    conn_abort(p->c[0]);
    sim_run(&p->s, 130 * SEC);
    sim_assert_clean(&p->s);
    sim_stop(&p->s);
}

static void test_requests_and_answers(void **state)
{
    struct pair p;
    unsigned i;

    (void)state;
    pair_open(&p);
    forbid(&p);
    for (i = 0; i < 20; i++)
        say(&p, i & 1, 64);
    allow(&p);
    pair_close(&p);
}

/* The delayed-ACK timer is set and expires. */
static void test_acks_that_are_late(void **state)
{
    uint64_t before;
    struct pair p;
    unsigned i;

    (void)state;
    pair_open(&p);
    before = sim_count(&p.s, 0, TOEC_C_tcp_delayed_acks);
    forbid(&p);
    for (i = 0; i < 5; i++) {
        /* the last ACK was late: without this, the next one would not wait */
        assert_int_equal(
            toec_set_option(p.s.host[0].stack, p.c[0]->flow, TOEC_OPT_QUICKACK, 0, p.s.now), 0);
        say(&p, 0, 64);
        say(&p, 1, 64);
        sim_run(&p.s, 100 * MSEC);
    }
    allow(&p);
    assert_int_equal(sim_count(&p.s, 0, TOEC_C_tcp_delayed_acks) - before, 5);
    pair_close(&p);
}

/* Many segments in flight at once. */
static void test_a_stream(void **state)
{
    struct pair p;
    unsigned i;

    (void)state;
    pair_open(&p);
    forbid(&p);
    for (i = 0; i < 50; i++)
        say(&p, 0, 10000);
    allow(&p);
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_and_answers),
        cmocka_unit_test(test_acks_that_are_late),
        cmocka_unit_test(test_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
