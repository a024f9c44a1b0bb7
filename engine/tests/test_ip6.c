/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ip6.c - flows of IPv6 seen through the device contract: the address table, LISTEN and
 * CONNECT with flag V6, flow records, the status page (docs/device-contract.md).
 */
#include <string.h>

#include "bench.h"

static const uint8_t addr_a[16] = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
static const uint8_t addr_b[16] = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
static const uint8_t unused[16] = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
static const uint8_t far_away[16] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
static const uint8_t any[16];

static int setup(void **state)
{
    bench_ip6 = 1;
    return hosts_setup(state);
}

/* Writes an entry of the address table; local may be NULL. */
static void put_address(struct host *h, uint32_t index, const uint8_t *addr, const uint8_t *local)
{
    struct toedev_address *a = (struct toedev_address *)(h->area + h->layout.addresses) + index;

    memset(a, 0, sizeof(*a));
    memcpy(a->addr, addr, 16);
    if (local)
        memcpy(a->local, local, 16);
}

static void listen6(struct hosts *w, const uint8_t *at, uint8_t flags)
{
    put_address(&w->x, 1, at, NULL);
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_V6 | flags, PORT, 7, 1, 16);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
}

static void connect6(struct hosts *w, uint32_t cookie, uint32_t index, const uint8_t *to,
                     const uint8_t *local)
{
    put_address(&w->y, index, to, local);
    host_put(&w->y, TOE_CMD_CONNECT, TOE_F_CONNECT_V6, PORT, cookie, index, 0);
    bench_run(&w->t, NS_PER_S);
}

/* Established both ways, with these addresses in the records; transfers bytes. */
static void want_open(struct hosts *w, uint32_t cookie, const uint8_t *a, const uint8_t *b)
{
    const struct toedev_flow_record *r;
    struct toe_cmd cx = host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    struct toe_cmd cy = host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED), c;
    uint32_t fx = toe_cmd_flow(&cx), fy = toe_cmd_flow(&cy);

    assert_int_equal(toe_cmd_arg1(&cx), 7);
    assert_int_equal(toe_cmd_arg0(&cx), 0); /* the record has the address */
    assert_int_equal(toe_cmd_arg0(&cy), cookie);
    r = host_record(&w->x, fx);
    assert_int_equal(r->seq & 1, 0);
    assert_memory_equal(r->local, a, 16);
    assert_memory_equal(r->remote, b, 16);
    assert_int_equal(r->local_port, PORT);
    assert_int_equal(r->mss_recv, 1428); /* 1500 less 40, 20 and timestamps */
    r = host_record(&w->y, fy);
    assert_memory_equal(r->local, b, 16);
    assert_memory_equal(r->remote, a, 16);
    assert_int_equal(r->remote_port, PORT);
    host_send(&w->y, fy, 0, 5000);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->x, TOE_CMD_DATA_RECEIVED);
    assert_int_equal(toe_cmd_flow(&c), fx);
    assert_true(host_holds(&w->x, fx, 0, toe_cmd_arg0(&c)));
    while (host_get(&w->x, &c) || host_get(&w->y, &c))
        assert_int_not_equal(toe_cmd_type(&c), TOE_CMD_ERROR);
}

static void test_a_flow_to_an_address(void **state)
{
    listen6(*state, addr_a, 0);
    connect6(*state, 4711, 3, addr_a, NULL);
    want_open(*state, 4711, addr_a, addr_b);
}

/* All zero: any address of both families. */
static void test_any_of_both_families(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;

    listen6(w, any, 0);
    connect6(w, 1, 0, addr_a, addr_b); /* from the address named */
    want_open(w, 1, addr_a, addr_b);
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 2, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    assert_int_equal(toe_cmd_arg0(&c), IP_B);
    host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
}

static void want_failed(struct hosts *w, uint32_t cookie, uint16_t reason)
{
    struct toe_cmd c = host_want(&w->y, TOE_CMD_CONNECT_FAILED);

    assert_int_equal(toe_cmd_arg0(&c), cookie);
    assert_int_equal(toe_cmd_aux(&c), reason);
}

static void test_any_of_ip6_alone(void **state)
{
    struct hosts *w = *state;

    listen6(w, any, TOE_F_LISTEN_V6ONLY);
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 2, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    want_failed(w, 2, TOE_R_REFUSED);
    connect6(w, 3, 0, addr_a, NULL);
    want_open(w, 3, addr_a, addr_b);
}

static void test_any_of_ip4_is_not_any_of_ip6(void **state)
{
    struct hosts *w = *state;

    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 7, 0, 16);
    bench_run(&w->t, NS_PER_MS);
    connect6(w, 1, 0, addr_a, NULL);
    want_failed(w, 1, TOE_R_REFUSED);
    host_want_nothing(&w->x);
}

static void test_failures_are_told_with_the_cookie(void **state)
{
    struct hosts *w = *state;

    connect6(w, 11, 0, addr_a, NULL); /* no listener */
    want_failed(w, 11, TOE_R_REFUSED);
    connect6(w, 12, 1, far_away, NULL); /* no router */
    want_failed(w, 12, TOE_R_NETUNREACH);
    connect6(w, 13, 2, unused, NULL); /* RFC 4861 7.2.2: three solicitations, a second each */
    bench_run(&w->t, 5 * NS_PER_S);
    want_failed(w, 13, TOE_R_HOSTUNREACH);
    connect6(w, 14, 3, addr_a, unused); /* from an address that is not the TOE's */
    want_failed(w, 14, TOE_R_ADDRNOTAVAIL);
    assert_int_equal(w->y.qp->free_count, 16);
}

static void test_an_index_outside_the_table_is_an_error(void **state)
{
    static const uint32_t wrong[] = {4, 5, 0x80000000u, 0xffffffffu}; /* the table has 4 */
    struct hosts *w = *state;
    uint32_t i;

    for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_V6, PORT, 7, wrong[i], 16);
        bench_run(&w->t, NS_PER_MS);
        host_want_error(&w->x, TOE_R_INVAL, 7, TOE_CMD_LISTEN);
        host_put(&w->y, TOE_CMD_CONNECT, TOE_F_CONNECT_V6, PORT, 8, wrong[i], 0);
        bench_run(&w->t, NS_PER_MS);
        host_want_error(&w->y, TOE_R_INVAL, 8, TOE_CMD_CONNECT);
    }
    assert_int_equal(w->y.qp->free_count, 16);
    /* V6ONLY has no meaning without V6 */
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_V6ONLY, PORT, 7, 0, 16);
    bench_run(&w->t, NS_PER_MS);
    host_want_error(&w->x, TOE_R_INVAL, 7, TOE_CMD_LISTEN);
}

/* The entry may be written again when its command has been handled. */
static void test_an_entry_is_read_once(void **state)
{
    struct hosts *w = *state;

    listen6(w, addr_a, 0);
    put_address(&w->x, 1, unused, NULL);
    connect6(w, 5, 0, addr_a, NULL);
    put_address(&w->y, 0, unused, NULL);
    bench_run(&w->t, NS_PER_S);
    want_open(w, 5, addr_a, addr_b);
}

static void test_the_status_page_tells_what_there_is(void **state)
{
    struct hosts *w = *state;
    const struct toedev_ip6 *p = &w->x.status->ip6;
    uint32_t i, own = 0, local = 0;

    assert_int_equal(p->seq & 1, 0);
    assert_int_equal(p->flags, TOEDEV_IP6_ON); /* and no router */
    assert_int_equal(p->scope, 41);
    assert_int_equal(w->y.status->ip6.scope, 42);
    assert_int_equal(p->count, 2);
    for (i = 0; i < p->count; i++) {
        if (memcmp(p->addr[i], addr_a, 16) == 0) {
            assert_int_equal(p->prefix_len[i], 64);
            own++;
        }
        local += p->addr[i][0] == 0xfe && p->addr[i][1] == 0x80;
    }
    assert_int_equal(own, 1);
    assert_int_equal(local, 1);
}

/* RFC 4007: between link-local addresses; the TOE picks its own of that scope (RFC 6724 5). */
static void test_link_local(void **state)
{
    struct hosts *w = *state;
    uint8_t a[16] = {0}, b[16] = {0};
    uint32_t i;

    for (i = 0; i < 2; i++) {
        if (w->x.status->ip6.addr[i][0] == 0xfe)
            memcpy(a, w->x.status->ip6.addr[i], 16);
        if (w->y.status->ip6.addr[i][0] == 0xfe)
            memcpy(b, w->y.status->ip6.addr[i], 16);
    }
    listen6(w, a, 0);
    connect6(w, 1, 0, a, NULL);
    want_open(w, 1, a, b);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hosts_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_flow_to_an_address),
        TEST(test_any_of_both_families),
        TEST(test_any_of_ip6_alone),
        TEST(test_any_of_ip4_is_not_any_of_ip6),
        TEST(test_failures_are_told_with_the_cookie),
        TEST(test_an_index_outside_the_table_is_an_error),
        TEST(test_an_entry_is_read_once),
        TEST(test_the_status_page_tells_what_there_is),
        TEST(test_link_local),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
