/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_image_stack.c - hand-over of a stack's state other than its flows (toec_save(),
 * toec_restore()): address probing in progress, conflicting claims, neighbours; and invalid values
 * in an image.
 */
#include <stdlib.h>

#include "image/save.h"

#include "tcpsim.h"

static const uint8_t other[6] = {2, 0, 0, 0, 0, 9}, no_mac[6];

static void begin(struct sim *s, int probe)
{
    sim_init(s, 2);
    s->host[0].cfg.arp_probe = (uint8_t)probe;
    sim_start(s);
}

static int state_of(struct host *h, const uint8_t *mac)
{
    uint8_t got[6];
    int state = toec_ip4_state(h->stack, got);

    assert_memory_equal(got, mac, 6);
    return state;
}

/* Sends an ARP reply of another host that claims our address. */
static void claim(struct host *h)
{
    uint8_t f[60] = {[12] = 8, 6, 0, 1, 8, 0, 6, 4, 0, 2};
    struct toec_packet p;

    memset(f, 0xff, 6);
    memcpy(f + 6, other, 6);
    memcpy(f + 22, other, 6);
    memcpy(f + 28, h->cfg.ip, 4);
    memset(&p, 0, sizeof(p));
    p.data = f;
    p.len = p.head_len = sizeof(f);
    toec_input(h->stack, &p, h->sim->now);
}

/* RFC 5227 2.1: three probes and two announcements in total, however often the stack is handed
 * over. */
static void test_address_under_test(void **state)
{
    struct host *h;
    struct sim s;
    unsigned i;

    (void)state;
    begin(&s, 1);
    h = &s.host[0];
    for (i = 0; i < 200 && state_of(h, no_mac) == TOEC_IP4_TESTED; i++) {
        sim_run(&s, 50 * MSEC);
        sim_hand_over(h);
    }
    assert_in_range(i, 3000 / 50, 8000 / 50);
    assert_int_equal(state_of(h, no_mac), TOEC_IP4_OWN);
    for (i = 0; i < 100; i++) {
        sim_run(&s, 50 * MSEC);
        sim_hand_over(h);
    }
    assert_int_equal(sim_count(&s, 0, TOEC_C_arp_requests_sent), 3 + 2);
    sim_stop(&s);
}

/* Keys of sequence numbers are the old stack's, whatever isn_secret the new one was given. */
static void test_secret_of_sequence_numbers(void **state)
{
    struct toec_keys before;
    struct host *h;
    struct sim s;

    (void)state;
    sim_init(&s, 2);
    h = &s.host[0];
    memset(h->cfg.isn_secret, 7, sizeof(h->cfg.isn_secret));
    sim_start(&s);
    before = h->stack->keys;
    memset(h->cfg.isn_secret, 9, sizeof(h->cfg.isn_secret));
    sim_hand_over(h);
    assert_memory_equal(&h->stack->keys, &before, sizeof(before));
    sim_stop(&s);
}

/* The restored stack knows that the address is taken, and sends nothing from it. */
static void test_address_taken(void **state)
{
    struct host *h;
    struct sim s;
    uint64_t sent;

    (void)state;
    begin(&s, 1);
    h = &s.host[0];
    sim_run(&s, 1500 * MSEC);
    claim(h);
    sent = sim_count(&s, 0, TOEC_C_arp_requests_sent);
    assert_int_equal(state_of(h, other), TOEC_IP4_TAKEN);
    sim_hand_over(h);
    sim_run(&s, 20 * SEC);
    assert_int_equal(state_of(h, other), TOEC_IP4_TAKEN);
    assert_int_equal(sim_count(&s, 0, TOEC_C_arp_requests_sent), sent);
    sim_stop(&s);
}

/* RFC 5227 2.4 (b): one defence in ten seconds, even if the stack before the hand-over sent it. */
static void test_address_defended(void **state)
{
    struct host *h;
    struct sim s;
    uint64_t sent;

    (void)state;
    begin(&s, 0);
    h = &s.host[0];
    sim_run(&s, 5 * SEC);
    sent = sim_count(&s, 0, TOEC_C_arp_requests_sent);
    claim(h);
    assert_int_equal(sim_count(&s, 0, TOEC_C_arp_requests_sent), sent + 1);
    sim_hand_over(h);
    sim_run(&s, 5 * SEC);
    claim(h);
    assert_int_equal(sim_count(&s, 0, TOEC_C_arp_requests_sent), sent + 1);
    assert_int_equal(state_of(h, other), TOEC_IP4_OWN);
    sim_run(&s, 6 * SEC);
    claim(h);
    assert_int_equal(sim_count(&s, 0, TOEC_C_arp_requests_sent), sent + 2);
    sim_stop(&s);
}

/* No solicitation for a neighbour that was just resolved. */
static void test_neighbours(void **state)
{
    struct sim s;
    uint64_t sent;
    uint32_t id;

    (void)state;
    begin(&s, 0);
    sim_run(&s, 5 * SEC);
    sim_listen(&s, 1, 80, 0, &id);
    sim_connect(&s, 0, 80);
    sim_run(&s, SEC);
    sent = sim_count(&s, 0, TOEC_C_arp_requests_sent);
    sim_hand_over(&s.host[0]);
    assert_int_equal(sim_connect(&s, 0, 80)->established, 0);
    sim_run(&s, SEC);
    assert_int_equal(s.host[0].conns->established, 1);
    assert_int_equal(sim_count(&s, 0, TOEC_C_arp_requests_sent), sent);
    sim_stop(&s);
}

/* ---- values that no stack has written ---- */

/* Saves the current stack, whose image must be rejected for this reason. */
static void refused(struct host *h, const struct image *good, const char *why)
{
    struct image m = {0};
    const char *wrong;

    image_save(&m, h);
    wrong = image_restore(&m, h);
    assert_non_null(wrong);
    if (!strstr(wrong, why))
        fail_msg("\"%s\" is not \"%s\"", wrong, why);
    image_free(&m);
    assert_null(image_restore(good, h)); /* the restored stack works */
    toec_poll(h->stack, h->sim->now);
}

static void test_addresses_in_no_state(void **state)
{
    static const char none[] = "in no state that there is", another[] = "another IPv4 address";
    struct image tested = {0}, owned = {0};
    struct host *h;
    struct sim s;

    (void)state;
    begin(&s, 1);
    h = &s.host[0];
    sim_run(&s, 1500 * MSEC);
    image_save(&tested, h);

    h->stack->arp.probes = 4;
    refused(h, &tested, none);
    h->stack->arp.announcements = 3;
    refused(h, &tested, none);
    h->stack->arp.announcements = 0; /* but its timer is set */
    refused(h, &tested, none);
    toec_timer_cancel(h->stack, &h->stack->arp.announce); /* the probing would never end */
    refused(h, &tested, none);
    h->stack->ip4 = IP_A;
    refused(h, &tested, none);
    h->stack->arp.taken = 1;
    refused(h, &tested, another);
    h->stack->arp.tested++;
    refused(h, &tested, another);

    sim_run(&s, 10 * SEC);
    image_save(&owned, h);
    h->stack->arp.taken = 1;
    refused(h, &owned, another);
    h->stack->ip4 = 0;
    refused(h, &owned, another);
    sim_run(&s, SEC);
    assert_int_equal(state_of(h, no_mac), TOEC_IP4_OWN);
    image_free(&tested);
    image_free(&owned);
    sim_stop(&s);
}

static void test_no_parameters_of_ip6(void **state)
{
    static const char none[] = "parameters of IPv6";
    struct image good = {0};
    struct host *h;
    struct sim s;
    unsigned i;

    (void)state;
    sim_ip6 = 1;
    sim_init(&s, 2);
    s.host[0].cfg.ip6 = TOEC_IP6_AUTO;
    sim_start(&s);
    sim_ip6 = 0;
    h = &s.host[0];
    sim_run(&s, 2 * SEC);
    image_save(&good, h);
    h->stack->ip6.base_reachable = 0;
    refused(h, &good, none);
    h->stack->ip6.retrans = 0;
    refused(h, &good, none);
    h->stack->ip6.mtu = 1279;
    refused(h, &good, none);
    h->stack->ip6.router_hand = TOEC_IP6_ROUTERS;
    refused(h, &good, none);
    h->stack->ip6.rs_sent = 17;
    refused(h, &good, none);
    assert_true(toec_timer_pending(&h->stack->ip6.rs));
    for (i = 0; i < TOEC_IP6_ADDRS; i++)
        h->stack->ip6.own[i].state = TOEC_OWN_FREE;
    refused(h, &good, "routers are asked for from no address");
    image_free(&good);
    sim_stop(&s);
}

static int put_image(void *arg, const void *data, toec_u32 n)
{
    struct image *m = arg;

    m->bytes = realloc(m->bytes, m->n + n);
    assert_non_null(m->bytes);
    memcpy(m->bytes + m->n, data, n);
    m->room = m->n += n;
    return 0;
}

/* A value that does not fit into its member, in records of each kind. */
static void test_values_too_large(void **state)
{
    static const struct {
        unsigned type, tag;
    } field[] = {
        {TOEC_REC_OWN6, 5},  {TOEC_REC_PREFIX6, 3}, {TOEC_REC_ROUTER6, 2},  {TOEC_REC_REDIRECT6, 3},
        {TOEC_REC_NEIGH, 4}, {TOEC_REC_PMTU, 2},    {TOEC_REC_PEER, 3},     {TOEC_REC_WAITING, 2},
        {TOEC_REC_TW, 12},   {TOEC_REC_FLOW, 6},    {TOEC_REC_LISTENER, 2},
    };
    static const uint8_t huge[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct image good = {0}, m = {0};
    struct toec_image_out o;
    struct host *h;
    struct sim s;
    unsigned i;

    (void)state;
    sim_ip6 = 1;
    begin(&s, 0);
    sim_ip6 = 0;
    h = &s.host[0];
    image_save(&good, h);
    for (i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
        const char *wrong;

        toec_image_start(&o, put_image, &m);
        (void)put_image(&m, good.bytes, (toec_u32)good.n - 4);
        toec_image_begin(&o, field[i].type);
        toec_image_int(&o, TOEC_TAG_INDEX, TOEC_IP6_ADDRS - 1);
        toec_image_bytes(&o, field[i].tag, huge, sizeof(huge));
        toec_image_end(&o);
        toec_image_begin(&o, TOEC_REC_END);
        toec_image_end(&o);
        wrong = image_restore(&m, h);
        if (!wrong || !strstr(wrong, "a value is too large"))
            fail_msg("record 0x%x: %s", field[i].type, wrong ? wrong : "taken");
        image_free(&m);
    }
    assert_null(image_restore(&good, h));
    image_free(&good);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secret_of_sequence_numbers),
        cmocka_unit_test(test_address_under_test),
        cmocka_unit_test(test_address_taken),
        cmocka_unit_test(test_address_defended),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_addresses_in_no_state),
        cmocka_unit_test(test_no_parameters_of_ip6),
        cmocka_unit_test(test_values_too_large),
    };

    return cmocka_run_group_tests_name("tcp_image_stack", tests, NULL, NULL);
}
