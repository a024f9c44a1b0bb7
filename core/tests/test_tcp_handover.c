/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_handover.c - a stack is saved and restored as another one (toec_save(), toec_restore())
 * in every state of TCP, and what a restorer rejects. TOEHOLD_HANDOVER (tcphand.c) does the same in
 * all other tests of TCP, core/tests/prop with random states.
 */
#include <stdlib.h>

#include <toe/image.h>

#include "tcptalk.h"

static uint8_t state_of(struct talk *t)
{
    return talk_info(t).state;
}

static void hand(struct talk *t, uint8_t state)
{
    assert_int_equal(state_of(t), state);
    sim_hand_over(&t->s.host[0]);
    assert_int_equal(state_of(t), state);
}

static void test_active_states(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_connect(&t);
    craft_poll(&t.s);
    hand(&t, TOEC_SYN_SENT);
    conn_abort(t.c);
    talk_end(&t);
    talk_init(&t);
    talk_active(&t);
    hand(&t, TOEC_ESTABLISHED);
    conn_shutdown(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_FIN | F_ACK, 0, 0, 0);
    hand(&t, TOEC_FIN_WAIT_1);
    talk_say(&t, F_ACK, 0, 1, 0);
    hand(&t, TOEC_FIN_WAIT_2);
    talk_say(&t, F_FIN | F_ACK, 0, 1, 0);
    talk_hear(&t, F_ACK, 1, 1, 0);
    assert_int_equal(t.c->gone, 1);
    /* TIME-WAIT: a retransmitted FIN of the peer is acknowledged again. */
    sim_hand_over(&t.s.host[0]);
    talk_say(&t, F_FIN | F_ACK, 0, 1, 0);
    talk_hear(&t, F_ACK, 1, 1, 0);
    talk_end(&t);
}

static void test_passive_states(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    talk_say(&t, F_FIN | F_ACK, 0, 0, 0);
    talk_hear(&t, F_ACK, 0, 1, 0);
    hand(&t, TOEC_CLOSE_WAIT);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_FIN | F_ACK, 0, 1, 0);
    hand(&t, TOEC_LAST_ACK);
    talk_say(&t, F_ACK, 1, 1, 0);
    assert_int_equal(t.c->gone, 1);
    talk_end(&t);
    talk_init(&t);
    talk_passive(&t);
    conn_shutdown(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_FIN | F_ACK, 0, 0, 0);
    talk_say(&t, F_FIN | F_ACK, 0, 0, 0);
    talk_hear(&t, F_ACK, 1, 1, 0);
    hand(&t, TOEC_CLOSING);
    talk_say(&t, F_ACK, 1, 1, 0);
    assert_int_equal(t.c->gone, 1);
    talk_end(&t);
}

/* The model of a path that BBR has made goes along: rate and window are the same. */
static void test_models(void **state)
{
    static const enum toec_cc algorithms[] = {TOEC_CC_BBR1, TOEC_CC_BBR3};
    struct toec_info before, after;
    uint32_t at = 0, n;
    unsigned a, i;

    (void)state;
    for (a = 0; a < 2; a++) {
        struct talk t;

        talk_init(&t);
        t.sack = t.ts = 1;
        t.wscale = 7;
        t.rtt = 40 * MSEC;
        talk_passive(&t);
        talk_set(&t, TOEC_OPT_CC, algorithms[a]);
        for (i = 0, at = 0; i < 40; i++) {
            struct tseg g;

            talk_send(&t, 20000);
            craft_pass(&t.s, 40 * MSEC);
            for (n = at; craft_next(&t.s, &g);)
                n = g.seq + g.len - t.iss - 1;
            craft_forget(&t.s);
            before = talk_info(&t);
            sim_hand_over(&t.s.host[0]);
            after = talk_info(&t);
            assert_int_equal(after.cwnd, before.cwnd);
            assert_true(after.pacing_rate == before.pacing_rate);
            if (n != at)
                talk_say(&t, F_ACK, 0, n, 0);
            at = n;
        }
        assert_true(at > 100000);
        talk_end(&t);
    }
}

/* The listener counts a half-open flow, before and after the hand-over. */
static void test_half_open(void **state)
{
    struct toec_usage u;
    struct tseg g, syn;
    struct sim s;
    uint32_t id;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    sim_listen(&s, 0, 80, 0, &id);
    syn = seg_make(5000, 80, F_SYN, 1000, 0);
    craft_say(&s, &syn);
    g = craft_expect(&s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    sim_hand_over(&s.host[0]);
    toec_usage(s.host[0].stack, &u);
    assert_int_equal(u.half_open, 1);
    syn = seg_make(5000, 80, F_ACK, 1001, g.seq + 1);
    craft_say(&s, &syn);
    assert_int_equal(s.host[0].conns->established, 1);
    toec_usage(s.host[0].stack, &u);
    assert_int_equal(u.half_open, 0);
    /* ... and closing the listener ends a flow that is still half-open. */
    syn = seg_make(5001, 80, F_SYN, 1000, 0);
    craft_say(&s, &syn);
    sim_hand_over(&s.host[0]);
    assert_int_equal(toec_unlisten(s.host[0].stack, id), 0);
    toec_usage(s.host[0].stack, &u);
    assert_int_equal(u.half_open, 0);
    assert_int_equal(u.flows, 1);
    sim_stop(&s);
}

/* SYN cookies of the old stack are valid in the new one: the secrets are handed over and replace
 * those of the configuration. */
static void test_secrets(void **state)
{
    struct tseg g, syn;
    struct sim s;
    uint32_t id;
    unsigned i;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    sim_listen(&s, 0, 80, 1, &id);
    for (i = 0; i < 2; i++) {
        craft_forget(&s);
        syn = seg_make((uint16_t)(5000 + i), 80, F_SYN, 1000, 0);
        craft_say(&s, &syn);
        g = craft_expect(&s);
    }
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_sent), 1);
    memset(s.host[0].cfg.secret, 0x77, sizeof(s.host[0].cfg.secret));
    sim_hand_over(&s.host[0]);
    syn = seg_make(5001, 80, F_ACK, 1001, g.seq + 1);
    craft_say(&s, &syn);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_taken), 1);
    sim_stop(&s);
}

/* A flow that its owner has not used can be given to another owner, with its received data. */
static void test_given_to_another(void **state)
{
    struct toec_stack *stack;
    struct conn *other;
    struct talk t;
    uint32_t extent;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    talk_passive(&t);
    stack = t.s.host[0].stack;
    talk_say(&t, F_ACK, 0, 0, 100);
    talk_say(&t, F_ACK, 150, 0, 50); /* beyond a gap: may be in the buffer already */
    talk_skip(&t);
    other = must(calloc(1, sizeof(*other)));
    *other = *t.c;
    assert_int_equal(toec_flow_give(stack, t.c->flow, other, &extent), 0);
    assert_true(extent >= 200);
    assert_int_equal(toec_flow_give(stack, t.c->flow, t.c, &extent), 0);
    talk_say(&t, F_ACK, 100, 0, 50);
    assert_int_equal(t.c->received, 200);
    assert_int_equal(toec_flow_give(stack, t.c->flow, other, &extent), 0);
    assert_int_equal(extent, 200);
    assert_int_equal(toec_flow_give(stack, t.c->flow, t.c, &extent), 0);
    talk_read(&t, 1);
    assert_int_equal(toec_flow_give(stack, t.c->flow, other, &extent), TOEC_E_INVAL);
    talk_read(&t, 199);
    talk_end(&t);
    talk_open(&t);
    talk_send(&t, 10);
    assert_int_equal(toec_flow_give(t.s.host[0].stack, t.c->flow, other, &extent), TOEC_E_INVAL);
    talk_skip(&t);
    conn_shutdown(t.c);
    assert_int_equal(toec_flow_give(t.s.host[0].stack, t.c->flow, other, &extent), TOEC_E_INVAL);
    talk_end(&t);
    free(other);
}

/* Which addresses of the network are broadcast addresses depends on the prefix. */
static void test_prefix(void **state)
{
    struct toec_addr to = {{[10] = 255, 255, 10, 0, 0, 255}};
    struct toec_buffers b;
    struct toec_tcb *flow;
    struct conn *c;
    struct sim s;
    int result;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    c = sim_connect_from(&s, 0, 4000, 80, &result);
    b = (struct toec_buffers){.owner = c, .tx_size = c->tx_size, .rx_size = c->rx_size};
    assert_true(toec_connect(s.host[0].stack, &to, 80, 0, &b, s.now, &flow) < 0);
    toec_set_prefix(s.host[0].stack, 16);
    assert_int_equal(toec_connect(s.host[0].stack, &to, 80, 0, &b, s.now, &flow), 0);
    toec_set_prefix(s.host[0].stack, 24);
    assert_true(toec_connect(s.host[0].stack, &to, 80, 0, &b, s.now, &flow) < 0);
    sim_stop(&s);
}

/* ---- what is rejected ---- */

static void filled(struct talk *t)
{
    talk_init(t);
    t->sack = t->ts = 1;
    talk_passive(t);
    talk_send(t, 5000);
    talk_say(t, F_ACK, 100, 0, 100); /* beyond a gap */
    talk_skip(t);
}

static void refused(struct talk *t, const struct image *m, const char *want)
{
    const char *wrong = image_restore(m, &t->s.host[0]);

    assert_non_null(wrong);
    assert_non_null(strstr(wrong, want));
}

/* An image cut at any byte. */
static void test_truncated(void **state)
{
    struct image m = {0};
    unsigned long whole;
    struct talk t;

    (void)state;
    filled(&t);
    image_save(&m, &t.s.host[0]);
    whole = m.n;
    for (m.n = 0; m.n < whole; m.n++)
        assert_non_null(image_restore(&m, &t.s.host[0]));
    assert_null(image_restore(&m, &t.s.host[0]));
    image_free(&m);
    talk_end(&t);
}

/* Returns the field `tag` of the first record of this type. */
static uint8_t *field_of(struct image *m, unsigned type, unsigned tag, unsigned *n)
{
    struct toec_image_in in;

    toec_image_open(&in, m->bytes, m->n);
    while (toec_image_next(&in) == 1)
        if (in.type == type && toec_image_find(&in, tag, n))
            return (uint8_t *)toec_image_find(&in, tag, n);
    fail_msg("no record 0x%x has field %u", type, tag);
    return NULL;
}

#define REC_STACK 0x5430u
#define REC_FLOW  0x543bu

/* Returns a number of the first flow. */
static uint64_t flow_number(const struct talk *t, unsigned tag)
{
    struct image m = {0};
    struct toec_image_in in;
    uint64_t n;

    image_save(&m, &t->s.host[0]);
    toec_image_open(&in, m.bytes, m.n);
    while (toec_image_next(&in) == 1 && in.type != REC_FLOW)
        ;
    assert_int_equal(in.type, REC_FLOW);
    n = toec_image_number(&in, tag);
    image_free(&m);
    return n;
}

#define TAG_REASON 45
#define TAG_RARE   47

/* The last soft error becomes the reason when a flow ends. Images of all releases store only that
 * reason, no other flag; 0 means no error since the last progress. */
static void test_soft_errors(void **state)
{
    struct tseg q;
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_send(&t, 100);
    q = talk_hear(&t, F_ACK, 0, 0, 100);
    craft_icmp(&t.s, 3, 1, 0, &q);
    assert_int_equal(flow_number(&t, TAG_REASON), TOEC_R_HOSTUNREACH);
    assert_int_equal(flow_number(&t, TAG_RARE), 0);
    talk_say(&t, F_ACK, 0, 100, 0);
    assert_int_equal(flow_number(&t, TAG_REASON), 0);

    talk_set(&t, TOEC_OPT_USER_TIMEOUT, 3000);
    talk_send(&t, 100);
    q = talk_hear(&t, F_ACK, 100, 0, 100);
    craft_icmp(&t.s, 3, 1, 0, &q);
    sim_hand_over(&t.s.host[0]);
    craft_pass(&t.s, 5 * SEC);
    assert_int_equal(t.c->gone_reason, TOEC_R_HOSTUNREACH);
    talk_end(&t);
}

/* An ACK is pending, and toec_poll() is not called before the hand-over. */
static void test_ack_that_is_late(void **state)
{
    static const toec_time late[] = {MSEC, 30 * SEC, 40 * SEC, 60 * SEC};
    struct talk t;
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(late) / sizeof(*late); i++) {
        talk_open(&t);
        talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
        craft_pass(&t.s, 5 * SEC);          /* no timer is set */
        talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
        talk_silence(&t);
        t.s.now += late[i];
        sim_hand_over(&t.s.host[0]);
        craft_pass(&t.s, 45 * MSEC);
        talk_hear(&t, F_ACK, 0, 100, 0);
        talk_silence(&t);
        talk_end(&t);
    }
}

static void test_versions_and_addresses(void **state)
{
    struct image m = {0};
    struct talk t;
    unsigned n;

    (void)state;
    filled(&t);
    image_save(&m, &t.s.host[0]);
    ++*field_of(&m, REC_STACK, 1, &n);
    refused(&t, &m, "another version");
    --*field_of(&m, REC_STACK, 1, &n);
    ++field_of(&m, REC_STACK, 2, &n)[n - 1];
    refused(&t, &m, "one clock");
    --field_of(&m, REC_STACK, 2, &n)[n - 1];
    ++t.s.host[0].cfg.mac[5];
    refused(&t, &m, "another address");
    --t.s.host[0].cfg.mac[5];
    ++t.s.host[0].cfg.ip[3];
    refused(&t, &m, "another address");
    --t.s.host[0].cfg.ip[3];
    ++*field_of(&m, REC_STACK, 3, &n);
    refused(&t, &m, "fewer flows");
    --*field_of(&m, REC_STACK, 3, &n);
    assert_null(image_restore(&m, &t.s.host[0]));
    image_free(&m);
    talk_end(&t);
}

static void test_no_room(void **state)
{
    struct image m = {0};
    struct sim s;
    uint32_t id;
    int result;

    (void)state;
    sim_init(&s, 2);
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, &id);
    sim_connect_from(&s, 0, 4000, 80, &result);
    sim_connect_from(&s, 0, 4001, 80, &result);
    sim_run(&s, SEC);
    image_save(&m, &s.host[0]);
    s.host[0].cfg.max_flows = 1;
    assert_string_equal(image_restore(&m, &s.host[0]),
                        "the image has more flows than there is room for");
    s.host[0].cfg.max_flows = 2;
    assert_null(image_restore(&m, &s.host[0]));
    image_free(&m);
    sim_stop(&s);
}

/* Records and fields of a later release are skipped. */
static void test_unknown_is_passed_over(void **state)
{
    static const uint8_t later[] = {0x99, 0x99, 5, 0, 1, 3, 'a', 'b', 'c'};
    struct image m = {0};
    struct talk t;

    (void)state;
    filled(&t);
    image_save(&m, &t.s.host[0]);
    m.bytes = must(realloc(m.bytes, m.n + sizeof(later)));
    memmove(m.bytes + m.n - 4 + sizeof(later), m.bytes + m.n - 4, 4); /* before the end record */
    memcpy(m.bytes + m.n - 4, later, sizeof(later));
    m.n += sizeof(later);
    assert_null(image_restore(&m, &t.s.host[0]));
    image_free(&m);
    talk_end(&t);
}

/* Each number of the flow replaced by many others: rejected with a message, or accepted, and then
 * nothing is written outside of buffers (AddressSanitizer) while time passes. */
static void test_damaged_flows(void **state)
{
    struct image m = {0};
    struct talk t;
    unsigned tag, n, bit, taken = 0, not = 0;

    (void)state;
    filled(&t);
    image_save(&m, &t.s.host[0]);
    for (tag = 5; tag < 130; tag++) {
        struct toec_image_in in;
        uint8_t *p = NULL;

        toec_image_open(&in, m.bytes, m.n);
        while (!p && toec_image_next(&in) == 1)
            if (in.type == REC_FLOW)
                p = (uint8_t *)toec_image_find(&in, tag, &n);
        for (bit = 0; p && bit < n * 8; bit++) {
            p[bit / 8] ^= (uint8_t)(1u << (bit & 7));
            if (image_restore(&m, &t.s.host[0])) {
                not ++;
            } else {
                toec_poll(t.s.host[0].stack, t.s.now);
                taken++;
            }
            p[bit / 8] ^= (uint8_t)(1u << (bit & 7));
            craft_forget(&t.s);
        }
    }
    assert_true(taken > 100 && not > 100);
    assert_null(image_restore(&m, &t.s.host[0]));
    image_free(&m);
    sim_stop(&t.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_active_states),
        cmocka_unit_test(test_passive_states),
        cmocka_unit_test(test_given_to_another),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_half_open),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_versions_and_addresses),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_unknown_is_passed_over),
        cmocka_unit_test(test_damaged_flows),
        cmocka_unit_test(test_soft_errors),
        cmocka_unit_test(test_ack_that_is_late),
    };

    return cmocka_run_group_tests_name("tcp_handover", tests, 0, 0);
}
